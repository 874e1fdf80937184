lastz target.fa query.fa --hspthresh=1500 --nogapped --format=rdotplot+score
