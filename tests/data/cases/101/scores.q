# random scores
hsp_threshold = 1254
bad_score = -808
fill_score = -88
    A    C    G    T
A  100  -88   -2  -88
C  -88  102  -88   -2
G   -2  -88   98  -88
T  -88   -2  -88   91
