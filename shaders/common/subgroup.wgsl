// subgroup: lanes of a run talk to each other through subgroup operations; one run per subgroup of LANES lanes.
// twin: workgroup.wgsl offers the same functions through workgroup memory.

const LANE_MASK: u32 = LANES - 1u;

var<private> lane: u32;          // place in the subgroup

@compute @workgroup_size(LANES)
fn sweep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_invocation_id) lane_ix: u32,
    @builtin(subgroup_size) width: u32,
) {
    if same_in_all(width != LANES) {
        atomicStore(&counters[COUNTER_WRONG_WIDTH], width);
        return;
    }
    lane = lane_ix;
    run_tasks(group.x);
}

fn from_lane(value: i32, other: u32) -> i32 {
    return subgroupShuffle(value, other & LANE_MASK);
}

// The values of the lane before; lane 0 gets something.
fn from_lane_before(values: vec3<i32>) -> vec3<i32> {
    let before = lane - 1u;
    return vec3(from_lane(values.x, before), from_lane(values.y, before), from_lane(values.z, before));
}

fn max_of_lanes(value: i32) -> i32 {
    return subgroupMax(value);
}

fn max_of_lanes_u(value: u32) -> u32 {
    return subgroupMax(value);
}

fn min_of_lanes_u(value: u32) -> u32 {
    return subgroupMin(value);
}

fn sum_of_lanes(value: u32) -> u32 {
    return subgroupAdd(value);
}

fn any_lane(condition: bool) -> bool {
    return subgroupAny(condition);
}

// A condition that is the same in all lanes. Drivers see that it is only in a vote, and NVIDIA's puts a guard of a dozen
// instructions before every shuffle that lies below a branch, or in a loop, of which it does not see that.
fn same_in_all(condition: bool) -> bool {
    return subgroupAny(condition);
}

// The same value in all lanes, taken from lane 0. On an H200 the relaxed inspector was 2 to 5 % faster with a reduction than
// with a broadcast.
fn from_first_lane(value: u32) -> u32 {
    return subgroupMax(select(0u, value, lane == 0u));
}

// The first and last of the lanes for which the condition holds, counted from lane `base`; LANES, 0 if for none.
fn first_and_last(condition: bool, base: u32) -> vec2<u32> {
    let votes = subgroupBallot(condition);
    var low = votes.x;
    var high = votes.y;
    if LANES <= 32u {
        let all = 0xffffffffu >> (32u - min(LANES, 32u));
        low = ((low >> base) | (low << ((LANES - base) & 31u))) & all;
        high = 0u;
    } else {
        if base >= 32u {
            low = votes.y;
            high = votes.x;
        }
        let shift = base & 31u;
        if shift > 0u {
            let rotated = (low >> shift) | (high << (32u - shift));
            high = (high >> shift) | (low << (32u - shift));
            low = rotated;
        }
    }
    if (low | high) == 0u {
        return vec2(LANES, 0u);
    }
    let first = select(32u + firstTrailingBit(high), firstTrailingBit(low), low != 0u);
    let last = select(firstLeadingBit(low), 32u + firstLeadingBit(high), high != 0u);
    return vec2(first, last);
}
