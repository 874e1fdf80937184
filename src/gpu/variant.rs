//! Forms of a kernel: how many lanes work on a run, how they talk, and how many columns each holds.

use super::adapters::Capabilities;
use super::layout::{EAGER_TILE, RELAXED_BOUNDARY, RELAXED_HEADER};

/// How the lanes of a run exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// Subgroup operations; a run is a subgroup.
    Subgroup,
    /// Workgroup memory and barriers; a run is a workgroup.
    Workgroup,
}

/// A form of the row kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How lanes exchange values.
    pub exchange: Exchange,
    /// Lanes per run, a power of two.
    pub lanes: u32,
    /// Columns per lane of the row sweep, a multiple of 8.
    pub columns: u32,
    /// Rows per lane of the stripe sweep.
    pub stripe_rows: u32,
    /// Whether accepted blocks confine the runs of the row sweep (lastz-semantics 5.6, 5.7).
    pub is_bounded: bool,
    /// Whether rows that need none of the rare branches have a loop of their own, for drivers that go through both sides of
    /// every branch.
    pub sweeps_plain_rows: bool,
    /// Whether the relaxed inspector keeps the links of the first cells, so that runs that end there come back with their
    /// script (paper: eager traceback). Off to measure what it is worth.
    pub has_eager_tile: bool,
    /// Whether the cells of a relaxed stripe stay in registers (paper: cyclic buffers). Off to measure the same.
    pub has_cyclic_buffers: bool,
    /// Bindings that hold the target's bases in the kernels of seeding.
    pub target_pages: u32,
}

/// Rows per lane of the stripe sweep where subgroups are wide.
const STRIPE_ROWS: u32 = 16;
/// The same for narrow ones: SwiftShader's compiler does not finish on 16.
const NARROW_STRIPE_ROWS: u32 = 8;
/// Steps of the stripe sweep between looks at its values. More make the bounds a little higher.
const STRIPE_STEPS: u32 = 4;

/// Rows per lane of the relaxed sweep in subgroups of 32 lanes and more: more rows need more registers and sweep more
/// columns in vain, but take fewer steps, one after the other, for a long run. On an H200, 4 rows were faster than 8 and 1
/// with short runs (`cargo bench --bench relaxed`), 8 faster than 4 with the long ones that a screen leaves.
const RELAXED_ROWS: u32 = 8;

/// Steps after which cells that go through memory take the place of earlier ones.
const MEMORY_STEPS: u32 = 64;

/// Rows of a stripe of the relaxed contract.
const CONTRACT_ROWS: u32 = crate::extend::relaxed::STRIPE_ROWS as u32;

/// Columns that a lane of 32 and more can hold in registers.
const COLUMN_CHOICES: [u32; 4] = [8, 16, 24, 32];
/// Smallest ring: the leftmost block is given up only when all its columns are dead, which needs some slack.
const MIN_RING: u32 = 256;
/// Most columns of a lane of a narrow subgroup; compilers take too long for more.
const MAX_NARROW_COLUMNS: u32 = 128;

impl Variant {
    /// A form with subgroup operations.
    pub fn subgroup(lanes: u32, columns: u32) -> Variant {
        let stripe_rows = if lanes < 32 { NARROW_STRIPE_ROWS } else { STRIPE_ROWS };
        Variant::of_exchange(Exchange::Subgroup, lanes, columns, stripe_rows)
    }

    /// A form with workgroup memory.
    pub fn workgroup(lanes: u32, columns: u32) -> Variant {
        Variant::of_exchange(Exchange::Workgroup, lanes, columns, NARROW_STRIPE_ROWS)
    }

    fn of_exchange(exchange: Exchange, lanes: u32, columns: u32, stripe_rows: u32) -> Variant {
        Variant {
            exchange,
            lanes,
            columns,
            stripe_rows,
            is_bounded: false,
            sweeps_plain_rows: false,
            has_eager_tile: true,
            has_cyclic_buffers: true,
            target_pages: 1,
        }
    }

    /// Steps of the stripe sweep between looks at its values.
    pub fn stripe_steps(&self) -> u32 {
        STRIPE_STEPS.min(self.lanes)
    }

    /// Words of eight letters or links per lane.
    pub fn words(&self) -> u32 {
        self.columns / 8
    }

    /// Words of one bit per column.
    pub fn kept_words(&self) -> u32 {
        self.columns.div_ceil(32)
    }

    /// Columns of the ring: no row's window may be wider.
    pub fn ring(&self) -> u32 {
        self.lanes * self.columns
    }

    /// Words that one workgroup needs to keep a run for the next dispatch.
    pub fn saved_words(&self) -> u32 {
        16 + (2 * self.columns + 8) * self.lanes
    }

    /// Entries of two words that one workgroup of the relaxed kernels needs.
    pub fn relaxed_memory(&self) -> u32 {
        let cells = MEMORY_STEPS * (self.stripe_rows + 1) * self.lanes;
        RELAXED_HEADER + RELAXED_BOUNDARY + if self.has_cyclic_buffers { 0 } else { cells }
    }

    /// The form for an adapter and windows of about `window` columns: the smallest ring that holds them.
    pub fn choose(capabilities: &Capabilities, window: u32) -> Variant {
        let window = window.max(MIN_RING);
        match capabilities.fixed_subgroup {
            Some(lanes @ 32..) => {
                let fits = COLUMN_CHOICES.into_iter().find(|columns| lanes * columns >= window);
                match fits {
                    Some(columns) => Variant::subgroup(lanes, columns),
                    None => Variant::for_workgroup(capabilities, window),
                }
            }
            // With subgroups of 4, a lane would hold more columns than compilers can cope with.
            Some(lanes @ 8..) if lanes * MAX_NARROW_COLUMNS >= window => {
                // A ring a third wider than the next smaller one, as with the wider subgroups.
                let columns = window.div_ceil(lanes).next_multiple_of(32);
                Variant { sweeps_plain_rows: capabilities.is_software, ..Variant::subgroup(lanes, columns) }
            }
            _ => Variant::for_workgroup(capabilities, window),
        }
    }

    /// Whether the relaxed kernels have this form: its stripes divide those of the contract and hold the eager tile, and a
    /// word holds the links of a lane's rows.
    pub fn is_relaxed(&self) -> bool {
        let rows = self.lanes * self.stripe_rows;
        self.stripe_rows <= 8 && rows >= EAGER_TILE && CONTRACT_ROWS.is_multiple_of(rows)
    }

    /// The form of the relaxed kernels for an adapter.
    pub fn for_stripes(capabilities: &Capabilities) -> Variant {
        let of_lanes =
            |variant: Variant, rows: u32| Variant { stripe_rows: rows.min(CONTRACT_ROWS / variant.lanes), ..variant };
        match capabilities.fixed_subgroup {
            Some(lanes @ 32..=256) => of_lanes(Variant::subgroup(lanes, COLUMN_CHOICES[0]), RELAXED_ROWS),
            Some(lanes @ 4..) if lanes < 32 => {
                of_lanes(Variant::subgroup(lanes, COLUMN_CHOICES[0]), NARROW_STRIPE_ROWS)
            }
            _ => of_lanes(Variant::workgroup(32, COLUMN_CHOICES[0]), NARROW_STRIPE_ROWS),
        }
    }

    fn for_workgroup(capabilities: &Capabilities, window: u32) -> Variant {
        let most = capabilities.max_workgroup_lanes.clamp(32, 256);
        if capabilities.is_software {
            // SwiftShader's compiler takes minutes and all memory for more than a few columns a lane.
            let lanes = window.div_ceil(COLUMN_CHOICES[0]).next_power_of_two().clamp(32, most);
            return Variant::workgroup(lanes, COLUMN_CHOICES[0]);
        }
        let lanes = [32, 64, 128, 256].into_iter().find(|lanes| *lanes == most || lanes * 32 >= window).unwrap_or(most);
        let columns = COLUMN_CHOICES.into_iter().find(|columns| lanes * columns >= window).unwrap_or(32);
        Variant::workgroup(lanes, columns)
    }

    /// Its constants as WGSL text.
    pub fn constants(&self) -> String {
        format!(
            "const LANES: u32 = {}u;\nconst COLUMNS: u32 = {}u;\nconst WORDS: u32 = {}u;\nconst KEPT_WORDS: u32 = {}u;\n\
             const STRIPE_ROWS: u32 = {}u;\nconst STRIPE_STEPS: u32 = {}u;\nconst ROWS_PER_STRIPE: u32 = {}u;\n\
             const HAS_EAGER_TILE: bool = {};\nconst RELAXED_MEMORY: u32 = {}u;\nconst MEMORY_STEPS: u32 = {}u;\n",
            self.lanes,
            self.columns,
            self.words(),
            self.kept_words(),
            self.stripe_rows,
            self.stripe_steps(),
            self.lanes * self.stripe_rows,
            self.has_eager_tile,
            self.relaxed_memory(),
            MEMORY_STEPS
        )
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let exchange = match self.exchange {
            Exchange::Subgroup => "subgroup",
            Exchange::Workgroup => "workgroup",
        };
        let bounded = if self.is_bounded { ", bounded" } else { "" };
        write!(f, "{exchange} of {} lanes x {} columns{bounded}", self.lanes, self.columns)
    }
}
