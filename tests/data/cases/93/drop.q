x_drop = 900
gap_open_penalty = 479
fill_score = -145
    A    C    G    T
T -107  -38 -107   92
A  101 -107  -38 -107
G  -38 -107  103 -107
C -107  100 -107  -38
