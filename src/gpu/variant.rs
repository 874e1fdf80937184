//! Forms of a kernel: how many lanes work on a run, how they talk, and how many columns each holds.

use super::context::Capabilities;

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
    /// Columns per lane, a multiple of 8.
    pub columns: u32,
}

/// Columns that a lane of 32 and more can hold in registers.
const COLUMN_CHOICES: [u32; 4] = [8, 16, 24, 32];
/// Most columns of a lane of a narrow subgroup; compilers take too long for more.
const MAX_NARROW_COLUMNS: u32 = 96;

impl Variant {
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

    /// The form for an adapter and windows of about `window` columns: the smallest ring that holds them.
    pub fn choose(capabilities: &Capabilities, window: u32) -> Variant {
        match capabilities.fixed_subgroup {
            Some(lanes @ 32..) => {
                let fits = COLUMN_CHOICES.into_iter().find(|columns| lanes * columns >= window);
                match fits {
                    Some(columns) => Variant { exchange: Exchange::Subgroup, lanes, columns },
                    None => Variant::for_workgroup(capabilities, window),
                }
            }
            Some(lanes) if lanes * MAX_NARROW_COLUMNS >= window => {
                let columns = window.div_ceil(lanes).next_multiple_of(8).max(8);
                Variant { exchange: Exchange::Subgroup, lanes, columns }
            }
            _ => Variant::for_workgroup(capabilities, window),
        }
    }

    fn for_workgroup(capabilities: &Capabilities, window: u32) -> Variant {
        let most = capabilities.max_workgroup_lanes.clamp(32, 256);
        let lanes = [32, 64, 128, 256].into_iter().find(|lanes| *lanes == most || lanes * 32 >= window).unwrap_or(most);
        let columns = COLUMN_CHOICES.into_iter().find(|columns| lanes * columns >= window).unwrap_or(32);
        Variant { exchange: Exchange::Workgroup, lanes, columns }
    }

    /// Its constants as WGSL text.
    pub fn constants(&self) -> String {
        format!(
            "const LANES: u32 = {}u;\nconst COLUMNS: u32 = {}u;\nconst WORDS: u32 = {}u;\nconst KEPT_WORDS: u32 = {}u;\n",
            self.lanes,
            self.columns,
            self.words(),
            self.kept_words()
        )
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let exchange = match self.exchange {
            Exchange::Subgroup => "subgroup",
            Exchange::Workgroup => "workgroup",
        };
        write!(f, "{exchange} of {} lanes x {} columns", self.lanes, self.columns)
    }
}
