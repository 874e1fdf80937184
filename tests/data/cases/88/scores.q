# random scores
gap_open_penalty = 264
gap_extend_penalty = 55
hsp_threshold = 1566
y_drop = 3176
    G    A    T    C
A  -13   93  -85  -85
C  -85  -85  -13  101
G   90  -13  -85  -85
T  -85  -85   94  -13
