// workgroup: lanes of a run talk to each other through workgroup memory; one run per workgroup of LANES lanes.
// twin: subgroup.wgsl offers the same functions through subgroup operations.
//
// Every function must be called by all lanes, and its result steers branches that hold further calls.

const LANE_MASK: u32 = LANES - 1u;

var<private> lane: u32;          // place in the workgroup
var<workgroup> sh_values: array<i32, LANES>;
var<workgroup> sh_triples: array<vec3<i32>, LANES>;
var<workgroup> sh_max: atomic<i32>;
var<workgroup> sh_max_u: atomic<u32>;
var<workgroup> sh_min_u: atomic<u32>;
var<workgroup> sh_result: vec2<u32>;

@compute @workgroup_size(LANES)
fn sweep(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane_ix: u32) {
    lane = lane_ix;
    run_tasks(group.x);
}

fn from_lane(value: i32, other: u32) -> i32 {
    sh_values[lane] = value;
    workgroupBarrier();
    let result = sh_values[other & LANE_MASK];
    workgroupBarrier();
    return result;
}

// The values of the lane before; lane 0 gets something.
fn from_lane_before(values: vec3<i32>) -> vec3<i32> {
    sh_triples[lane] = values;
    workgroupBarrier();
    let result = sh_triples[(lane - 1u) & LANE_MASK];
    workgroupBarrier();
    return result;
}

fn max_of_lanes(value: i32) -> i32 {
    if lane == 0u {
        atomicStore(&sh_max, value);
    }
    workgroupBarrier();
    atomicMax(&sh_max, value);
    workgroupBarrier();
    return bitcast<i32>(publish(bitcast<u32>(atomicLoad(&sh_max)), 0u).x);
}

fn max_of_lanes_u(value: u32) -> u32 {
    return reduce(value, value).y;
}

fn min_of_lanes_u(value: u32) -> u32 {
    return reduce(value, value).x;
}

fn sum_of_lanes(value: u32) -> u32 {
    if lane == 0u {
        atomicStore(&sh_max_u, 0u);
    }
    workgroupBarrier();
    atomicAdd(&sh_max_u, value);
    workgroupBarrier();
    return publish(atomicLoad(&sh_max_u), 0u).x;
}

fn any_lane(condition: bool) -> bool {
    let vote = select(0u, 1u, condition);
    return reduce(vote, vote).y > 0u;
}

// A condition that is the same in all lanes.
fn same_in_all(condition: bool) -> bool {
    return condition;
}

// The same value in all lanes, taken from lane 0.
fn from_first_lane(value: u32) -> u32 {
    return publish(value, 0u).x;
}

// The first and last of the lanes for which the condition holds, counted from lane `base`; LANES, 0 if for none.
fn first_and_last(condition: bool, base: u32) -> vec2<u32> {
    let place = (lane - base) & LANE_MASK;
    return reduce(select(LANES, place, condition), select(0u, place, condition));
}

// Least of `low` and greatest of `high`.
fn reduce(low: u32, high: u32) -> vec2<u32> {
    if lane == 0u {
        atomicStore(&sh_min_u, 0xffffffffu);
        atomicStore(&sh_max_u, 0u);
    }
    workgroupBarrier();
    atomicMin(&sh_min_u, low);
    atomicMax(&sh_max_u, high);
    workgroupBarrier();
    return publish(atomicLoad(&sh_min_u), atomicLoad(&sh_max_u));
}

// Hands the values of lane 0 to all lanes; the load is uniform, so that branches on it may hold barriers.
fn publish(x: u32, y: u32) -> vec2<u32> {
    if lane == 0u {
        sh_result = vec2(x, y);
    }
    return workgroupUniformLoad(&sh_result);
}
