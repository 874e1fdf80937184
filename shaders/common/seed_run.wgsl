// seed_run: gap-free runs with an x-drop, away from the end of a hit, pair by pair (lastz-semantics 3.1):
//
//   left run  <----------- e | e ----------->  right run      (e: end of the hit; the left run scores the seed)
//
// run_of_lane: one lane, one run. run_of_group: the whole workgroup, one long run, WALK_LANES * 32 pairs at a time:
// every lane sums up 32 pairs, then lane 0 takes them as blocks, and goes pair by pair only where the run may end.

struct Run {
    best: i32,          // greatest score of a prefix, at least 0
    best_len: u32,      // pairs of the shortest prefix that has it
    len: u32,           // pairs looked at
    sum: i32,           // score of all of them
    state: u32,         // RUN_GOES_ON or RUN_DROPPED
}

// Whole triples of the 32 pairs of a window.
const TRIPLES_OF_WINDOW: u32 = 10u;
const RUN_GOES_ON: u32 = 0u;
const RUN_DROPPED: u32 = 1u;

// Where a run starts, its direction, and the pairs that it may look at.
struct Course {
    target_end: u32,
    query_end: u32,
    is_left: bool,
    limit: u32,
}

// 32 pairs; the next pair of the run is bit 0.
struct Pairs {
    target_part: vec4<u32>,
    query_part: vec4<u32>,
}

// Scores of 32 pairs as they add to a run.
struct Block {
    sum: i32,
    least: i32,         // least sum of the first 1, 2, ... pairs
    most: i32,          // greatest such sum
    most_len: u32,      // fewest pairs that have it
    fall: i32,          // greatest fall from an earlier sum to a later one
}

var<workgroup> sh_scores: array<i32, 256>;      // of (target kind, query kind) at 16 * target + query
// Of three pairs of plain bases; bits of the pairs next to each other, the next pair lowest: transition bits differ, class
// bits differ, target base is G or C. From the lowest bit on: least of the three sums, greatest, sum of all three (10 bits
// each, signed), and the fewest pairs that have the greatest.
var<workgroup> sh_triples: array<i32, 512>;
var<workgroup> sh_blocks: array<Block, WALK_LANES>;
var<workgroup> sh_run: Run;
var<workgroup> sh_state: u32;

fn load_scores(lane: u32) {
    for (var i = lane; i < 256u; i += WALK_LANES) {
        sh_scores[i] = scores.table[i >> 2u][i & 3u];
    }
    for (var i = lane; i < 512u; i += WALK_LANES) {
        sh_triples[i] = bitcast<i32>(scores.triples[i >> 2u][i & 3u]);
    }
}

fn pairs_at(course: Course, len: u32) -> Pairs {
    if course.is_left {
        // The window that ends before the next pair; BASES_PADDING is its length.
        let target_part = reverseBits(target_window(course.target_end - len));
        return Pairs(target_part, reverseBits(query_window(course.query_end - len)));
    }
    let target_part = target_window(course.target_end + len + BASES_PADDING);
    return Pairs(target_part, query_window(course.query_end + len + BASES_PADDING));
}

fn kind_at(part: vec4<u32>, place: u32) -> u32 {
    let bits = (part >> vec4(place)) & vec4(1u);
    return bits.x | (bits.y << 1u) | (bits.z << 2u) | (bits.w << 3u);
}

fn score_at(pairs: Pairs, place: u32) -> i32 {
    return sh_scores[(kind_at(pairs.target_part, place) << 4u) | kind_at(pairs.query_part, place)];
}

// One more pair.
fn step_run(run: ptr<function, Run>, score: i32) {
    // LASTZ's scores are 32 bits wide, and wrap.
    (*run).sum += score;
    (*run).len += 1u;
    if (*run).sum > (*run).best {
        (*run).best = (*run).sum;
        (*run).best_len = (*run).len;
    }
    if (*run).sum < (*run).best - params.x_drop {
        (*run).state = RUN_DROPPED;
    }
}

// The next whole triples of plain bases, up to `most` of them, as long as none can end the run; gives the pairs taken.
fn take_triples(run: ptr<function, Run>, pairs: Pairs, most: u32) -> u32 {
    var sum = (*run).sum;
    var best = (*run).best;
    var best_len = (*run).best_len;
    var transition = pairs.target_part.x ^ pairs.query_part.x;
    var class_differs = pairs.target_part.y ^ pairs.query_part.y;
    var is_strong = pairs.target_part.x ^ pairs.target_part.y;
    var taken = 0u;
    for (var i = 0u; i < most; i += 1u) {
        let place = (transition & 7u) | ((class_differs & 7u) << 3u) | ((is_strong & 7u) << 6u);
        let triple = sh_triples[place];
        if sum + extractBits(triple, 0u, 10u) < best - params.x_drop {
            break;
        }
        let high = sum + extractBits(triple, 10u, 10u);
        if high > best {
            best = high;
            best_len = (*run).len + taken + (bitcast<u32>(triple) >> 30u);
        }
        sum += extractBits(triple, 20u, 10u);
        taken += 3u;
        transition >>= 3u;
        class_differs >>= 3u;
        is_strong >>= 3u;
    }
    (*run).sum = sum;
    (*run).best = best;
    (*run).best_len = best_len;
    (*run).len += taken;
    return taken;
}

// A run until it drops, or has looked at all that `course` allows.
fn run_of_lane(course: Course) -> Run {
    var run = Run(0, 0u, 0u, 0, RUN_GOES_ON);
    while run.len < course.limit && run.state == RUN_GOES_ON {
        let pairs = pairs_at(course, run.len);
        let n_plain = min(countTrailingZeros(pairs.target_part.z | pairs.query_part.z), course.limit - run.len);
        let uses_triples = params.has_triples == 1u && run.best <= params.best_limit;
        let n_triples = select(0u, min(n_plain / 3u, TRIPLES_OF_WINDOW), uses_triples);
        let taken = take_triples(&run, pairs, n_triples);
        if taken < 3u * TRIPLES_OF_WINDOW {
            // Where the run may end, and around special bases and the limit.
            let end = min(32u, taken + (course.limit - run.len));
            let n_steps = select(end, min(end, taken + 3u), taken < 3u * n_triples);
            for (var i = taken; i < n_steps && run.state == RUN_GOES_ON; i += 1u) {
                step_run(&run, score_at(pairs, i));
            }
        }
    }
    return run;
}

fn block_of(course: Course, len: u32) -> Block {
    var block = Block(0, 0x7fffffff, -0x7fffffff, 0u, 0);
    if len >= course.limit {
        return block;
    }
    let pairs = pairs_at(course, len);
    var top = 0;
    for (var i = 0u; i < min(32u, course.limit - len); i += 1u) {
        block.sum += score_at(pairs, i);
        block.least = min(block.least, block.sum);
        if block.sum > block.most {
            block.most = block.sum;
            block.most_len = i + 1u;
        }
        top = max(top, block.sum);
        block.fall = max(block.fall, top - block.sum);
    }
    return block;
}

// Takes the blocks of all lanes, in order.
fn take_blocks(course: Course) {
    var run = sh_run;
    for (var i = 0u; i < WALK_LANES && run.len < course.limit && run.state == RUN_GOES_ON; i += 1u) {
        let block = sh_blocks[i];
        let n = min(32u, course.limit - run.len);
        let may_drop = run.sum + block.least < run.best - params.x_drop || block.fall > params.x_drop;
        if may_drop || run.best > params.best_limit {
            let pairs = pairs_at(course, run.len);
            for (var k = 0u; k < n && run.state == RUN_GOES_ON; k += 1u) {
                step_run(&run, score_at(pairs, k));
            }
        } else {
            if run.sum + block.most > run.best {
                run.best = run.sum + block.most;
                run.best_len = run.len + block.most_len;
            }
            run.sum += block.sum;
            run.len += n;
        }
    }
    sh_run = run;
    sh_state = select(RUN_GOES_ON, RUN_DROPPED, run.state == RUN_DROPPED || run.len >= course.limit);
}

// As run_of_lane, by all lanes together; `course` must be the same in all. The result is in sh_run.
fn run_of_group(course: Course, lane: u32) {
    var len = 0u;
    if lane == 0u {
        sh_run = Run(0, 0u, 0u, 0, RUN_GOES_ON);
        sh_state = select(RUN_GOES_ON, RUN_DROPPED, course.limit == 0u);
    }
    while workgroupUniformLoad(&sh_state) == RUN_GOES_ON {
        sh_blocks[lane] = block_of(course, len + lane * 32u);
        workgroupBarrier();
        if lane == 0u {
            take_blocks(course);
        }
        len += WALK_LANES * 32u;
    }
}
