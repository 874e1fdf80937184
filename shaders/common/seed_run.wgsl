// seed_run: gap-free runs with an x-drop, one lane each, away from the end of a hit (lastz-semantics 3.1):
//
//   left run  <----------- e | e ----------->  right run      (e: end of the hit; the left run scores the seed)
//
// Ten triples of plain pairs at a time are scored by looks at a table; special bases go pair by pair. Best scores and
// lengths come out, not where the best is: few hits are worth that, and seed_walk runs them again (seed_blocks).

struct Run {
    best: i32,          // greatest score of a prefix, at least 0
    sum: i32,           // score of all pairs looked at
    len: u32,           // pairs looked at
    state: u32,         // RUN_*
}

// Whole triples of the 32 pairs of a window.
const TRIPLES_OF_WINDOW: u32 = 10u;
// Stopped at the cap: it may go on.
const RUN_GOES_ON: u32 = 0u;
const RUN_ENDED: u32 = 1u;

// Of three pairs of plain bases; bits of the pairs next to each other, the next pair lowest: transition bits differ, class
// bits differ, target base is G or C. From the lowest bit on: least of the three sums, greatest, sum of all three (10 bits
// each, signed).
var<workgroup> sh_triples: array<i32, 512>;

fn load_triples(lane: u32, n_lanes: u32) {
    for (var i = lane; i < 512u; i += n_lanes) {
        sh_triples[i] = bitcast<i32>(scores.triples[i >> 2u][i & 3u]);
    }
}

// 32 pairs after `len` pairs of a run, the next one lowest: transition bits differ, class bits differ, target base is G
// or C, a base is special.
fn pairs_after(len: u32, target_end: u32, query_end: u32, is_left: bool) -> vec4<u32> {
    // The left window ends before the next pair; BASES_PADDING is its length.
    let offset = select(len + BASES_PADDING, 0u - len, is_left);
    let target_part = target_window(target_end + offset);
    let query_part = query_window(query_end + offset);
    let pairs = vec4(
        target_part.x ^ query_part.x,
        target_part.y ^ query_part.y,
        target_part.x ^ target_part.y,
        target_part.z | query_part.z
    );
    return select(pairs, reverseBits(pairs), is_left);
}

fn plain_score(transition: u32, class_differs: u32, is_strong: u32) -> i32 {
    // Complements score alike: A or G stands for the target's base.
    let strong = is_strong & 1u;
    return sh_scores[(strong << 4u) | (strong ^ (transition & 1u) ^ ((class_differs & 1u) << 1u))];
}

// The next `most` triples of plain bases, until one ends the run; gives the pairs taken.
fn take_triples(run: ptr<function, Run>, pairs: vec4<u32>, most: u32) -> u32 {
    var sum = (*run).sum;
    var best = (*run).best;
    var transition = pairs.x;
    var class_differs = pairs.y;
    var is_strong = pairs.z;
    var taken = 0u;
    for (var i = 0u; i < most; i += 1u) {
        let place = (transition & 7u) | ((class_differs & 7u) << 3u) | ((is_strong & 7u) << 6u);
        let triple = sh_triples[place];
        if sum + extractBits(triple, 0u, 10u) < best - params.x_drop {
            // A triple that ends a run does not raise its best (Kinds::has_triples).
            let room = best - params.x_drop - sum;
            let first = plain_score(transition, class_differs, is_strong);
            let second = first + plain_score(transition >> 1u, class_differs >> 1u, is_strong >> 1u);
            taken += select(1u, select(2u, 3u, second >= room), first >= room);
            (*run).state = RUN_ENDED;
            break;
        }
        best = max(best, sum + extractBits(triple, 10u, 10u));
        sum += triple >> 20u;
        taken += 3u;
        transition >>= 3u;
        class_differs >>= 3u;
        is_strong >>= 3u;
    }
    (*run).sum = sum;
    (*run).best = best;
    (*run).len += taken;
    return taken;
}

// One more pair, whatever its bases.
fn step_run(run: ptr<function, Run>, target_end: u32, query_end: u32, is_left: bool) {
    let offset = select((*run).len, 0u - 1u - (*run).len, is_left) + BASES_PADDING;
    let target_place = target_end + offset;
    let query_place = query_end + offset;
    let target_kind = kind_at(target_chunk(target_place >> 5u), target_place & 31u);
    let query_kind = kind_at(query_bases[query_place >> 5u], query_place & 31u);
    if target_kind == GAP_KIND || query_kind == GAP_KIND {
        (*run).state = RUN_ENDED;
        return;
    }
    // LASTZ's scores are 32 bits wide, and wrap.
    (*run).sum += sh_scores[(target_kind << 4u) | query_kind];
    (*run).len += 1u;
    (*run).best = max((*run).best, (*run).sum);
    if (*run).sum < (*run).best - params.x_drop {
        (*run).state = RUN_ENDED;
    }
}

// A run until it ends, or has looked at run_cap pairs or somewhat more.
fn run_of_lane(target_end: u32, query_end: u32, is_left: bool) -> Run {
    var run = Run(0, 0, 0u, RUN_GOES_ON);
    while run.len < params.run_cap && run.state == RUN_GOES_ON {
        let pairs = pairs_after(run.len, target_end, query_end, is_left);
        let uses_triples = params.has_triples == 1u && run.best <= params.best_limit;
        let n_triples = select(0u, min(countTrailingZeros(pairs.w) / 3u, TRIPLES_OF_WINDOW), uses_triples);
        let taken = take_triples(&run, pairs, n_triples);
        if taken < 3u * TRIPLES_OF_WINDOW {
            for (var i = 0u; i < 3u && run.state == RUN_GOES_ON; i += 1u) {
                step_run(&run, target_end, query_end, is_left);
            }
        }
    }
    return run;
}
