// seed_blocks: both gap-free runs of a hit by a whole workgroup, of any length, with the places of their bests. One half of
// the lanes takes the right run, the other the left one. Every lane sums up 32 pairs, then the first lane of each half takes
// these blocks in order, and goes pair by pair only where the run may end.

struct LongRun {
    best: i32,          // greatest score of a prefix, at least 0
    best_len: u32,      // pairs of the shortest prefix that has it
    len: u32,           // pairs looked at
    sum: i32,           // score of all of them
}

// Where a run starts, its direction, and the pairs that it may look at.
struct Course {
    target_end: u32,
    query_end: u32,
    is_left: bool,
    limit: u32,
}

// Up to 32 pairs; the next pair of the run is bit 0.
struct Pairs {
    target_part: vec4<u32>,
    query_part: vec4<u32>,
}

// Scores of up to 32 pairs as they add to a run.
struct Block {
    n: u32,             // pairs; fewer than 32 at the limit or before a gap
    sum: i32,
    least: i32,         // least sum of the first 1, 2, ... pairs
    most: i32,          // greatest such sum
    most_len: u32,      // fewest pairs that have it
    fall: i32,          // greatest fall from an earlier sum to a later one
}

const SIDE_LANES: u32 = WALK_LANES / 2u;

var<workgroup> sh_blocks: array<Block, WALK_LANES>;
var<workgroup> sh_runs: array<LongRun, 2>;          // right, left
var<workgroup> sh_goes_on: array<u32, 2>;
var<workgroup> sh_any_goes_on: u32;

fn pairs_at(course: Course, len: u32) -> Pairs {
    if course.is_left {
        // The window that ends before the next pair; BASES_PADDING is its length.
        let target_part = reverseBits(target_window(course.target_end - len));
        return Pairs(target_part, reverseBits(query_window(course.query_end - len)));
    }
    let target_part = target_window(course.target_end + len + BASES_PADDING);
    return Pairs(target_part, query_window(course.query_end + len + BASES_PADDING));
}

fn score_at(pairs: Pairs, place: u32) -> i32 {
    return sh_scores[(kind_at(pairs.target_part, place) << 4u) | kind_at(pairs.query_part, place)];
}

// A bit for each place where either base is a gap.
fn gaps_of(pairs: Pairs) -> u32 {
    let target_part = pairs.target_part;
    let query_part = pairs.query_part;
    return (target_part.x & target_part.y & target_part.z & target_part.w)
        | (query_part.x & query_part.y & query_part.z & query_part.w);
}

fn block_of(course: Course, len: u32) -> Block {
    var block = Block(0u, 0, 0x7fffffff, -0x7fffffff, 0u, 0);
    if len >= course.limit {
        return block;
    }
    let pairs = pairs_at(course, len);
    block.n = min(min(32u, course.limit - len), countTrailingZeros(gaps_of(pairs)));
    var top = 0;
    for (var i = 0u; i < block.n; i += 1u) {
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

// Takes a block pair by pair; gives whether the run ends in it.
fn step_through(run: ptr<function, LongRun>, course: Course, n: u32) -> bool {
    let pairs = pairs_at(course, (*run).len);
    for (var i = 0u; i < n; i += 1u) {
        // LASTZ's scores are 32 bits wide, and wrap.
        (*run).sum += score_at(pairs, i);
        (*run).len += 1u;
        if (*run).sum > (*run).best {
            (*run).best = (*run).sum;
            (*run).best_len = (*run).len;
        }
        if (*run).sum < (*run).best - params.x_drop {
            return true;
        }
    }
    return false;
}

// Takes the blocks of a side, in order; by one lane.
fn take_blocks(side: u32, course: Course) {
    var run = sh_runs[side];
    var goes_on = true;
    for (var i = 0u; i < SIDE_LANES && goes_on; i += 1u) {
        let block = sh_blocks[side * SIDE_LANES + i];
        goes_on = block.n == 32u;
        let may_drop = run.sum + block.least < run.best - params.x_drop || block.fall > params.x_drop;
        if block.n > 0u && (may_drop || run.best > params.best_limit) {
            goes_on = !step_through(&run, course, block.n) && goes_on;
        } else if block.n > 0u {
            if run.sum + block.most > run.best {
                run.best = run.sum + block.most;
                run.best_len = run.len + block.most_len;
            }
            run.sum += block.sum;
            run.len += block.n;
        }
    }
    sh_runs[side] = run;
    sh_goes_on[side] = select(0u, 1u, goes_on);
}

// Both runs until they end, by all lanes together; the courses must be the same in all. The results are in sh_runs.
fn run_both(right: Course, left: Course, lane: u32) {
    let side = lane / SIDE_LANES;
    var course = right;
    if side == 1u {
        course = left;
    }
    if lane < 2u {
        sh_runs[lane] = LongRun(0, 0u, 0u, 0);
        sh_goes_on[lane] = 1u;
    }
    if lane == 0u {
        sh_any_goes_on = 1u;
    }
    var len = 0u;
    while workgroupUniformLoad(&sh_any_goes_on) == 1u {
        let goes_on = sh_goes_on[side] == 1u;
        if goes_on {
            sh_blocks[lane] = block_of(course, len + lane % SIDE_LANES * 32u);
        }
        workgroupBarrier();
        if goes_on && lane % SIDE_LANES == 0u {
            take_blocks(side, course);
        }
        len += SIDE_LANES * 32u;
        workgroupBarrier();
        if lane == 0u {
            sh_any_goes_on = sh_goes_on[0] | sh_goes_on[1];
        }
    }
}
