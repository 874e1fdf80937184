//! What a run means. Defaults are LASTZ's; the command line fills this in, and library users set fields.

use crate::scoring::Scoring;
use crate::seed::SeedPattern;

/// Which strands of each query are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strands {
    /// The query as given, then its reverse complement.
    #[default]
    Both,
    /// Only the query as given (`--strand=plus`).
    Plus,
    /// Only the reverse complement (`--strand=minus`).
    Minus,
}

/// Whether the target is compared with itself (`--self`), and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SelfComparison {
    /// Target and query are different sequences.
    #[default]
    No,
    /// One side of the diagonal is searched, mirror images are added to the output.
    Mirrored,
    /// One side only (`--nomirror`).
    OneSided,
}

/// Limit on how often a word may occur in the target (`--maxwordcount`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordCountLimit {
    /// Words with more positions are removed.
    Count(u32),
    /// As `Count`, but evenly spaced survivors leave no run longer than the second number of bases.
    CountWithSpacing(u32, u32),
    /// The smallest count such that words within it cover this percentage of the stored positions.
    Percent(f64),
    /// The count of `Percent`, with survivors as in `CountWithSpacing`.
    PercentWithSpacing(f64, u32),
}

/// Seed hits must have enough matches (`--filter=[T,]M`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedHitFilter {
    /// Least matches in the window.
    pub min_matches: u32,
    /// Most transversions, if limited.
    pub max_transversions: Option<u32>,
    /// Only the care positions of the pattern count (`--filter=cares:`).
    pub cares_only: bool,
}

/// Two hits on a diagonal are needed (`--twins=min..max`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twins {
    /// Least bases between the two seed windows (negative: overlap).
    pub min_gap: i32,
    /// Most bases between them.
    pub max_gap: i32,
}

/// Seeding (lastz-semantics 2).
#[derive(Clone, Debug, PartialEq)]
pub struct SeedOptions {
    /// The spaced word.
    pub pattern: SeedPattern,
    /// Transitions allowed in a hit: 0, 1 or 2.
    pub transitions: u8,
    /// Target words are stored at array end positions divisible by this.
    pub step: u32,
    /// Most index bits of a word (`--word`).
    pub word_bits: u32,
    /// Removal of frequent words.
    pub word_count_limit: Option<WordCountLimit>,
    /// Filter on the matches of a hit.
    pub hit_filter: Option<SeedHitFilter>,
    /// Require two hits on a diagonal.
    pub twins: Option<Twins>,
    /// Entries of the ring that remembers hits for `twins` (`--seedqueue`).
    pub seed_queue: usize,
    /// Keep the real diagonal beside the hashed one, so that no hit is lost (`--recoverseeds`).
    pub recover_hits: bool,
}

/// How a seed hit becomes an HSP (lastz-semantics 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapFreeExtension {
    /// X-drop extension with this threshold (`--xdrop`), with or without the entropy factor.
    XDrop {
        /// X: the most a run may fall below its best score.
        x_drop: i32,
        /// Whether the entropy factor is applied (3.3).
        entropy: bool,
    },
    /// Longest exact match, at least this long (`--exact`).
    Exact(u32),
    /// Longest run with at most `mismatches`, at least `min_len` long (`--mismatch`).
    Mismatch {
        /// Most mismatches, 1 to 50.
        mismatches: u32,
        /// Least length.
        min_len: u32,
    },
    /// The seed window itself (`--nogfextend`).
    None,
}

/// Score threshold of HSPs (`--hspthresh`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HspThreshold {
    /// At least this score.
    Score(i32),
    /// The best HSPs that cover this many bases (`top<n>`; 0 = all).
    TopBases(u64),
    /// The best HSPs that cover this percentage of the target array (`top<p>%`).
    TopPercent(f64),
}

impl HspThreshold {
    /// Whether the least score is not known before the search.
    pub fn is_adaptive(&self) -> bool {
        matches!(self, HspThreshold::TopBases(_) | HspThreshold::TopPercent(_))
    }
}

/// Score threshold of gapped blocks (`--gappedthresh`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GappedThreshold {
    /// At least this score.
    Score(i32),
    /// Not given: the HSP threshold in x-drop mode, else 3000, or the lowest kept HSP of adaptive mode (3.6, 5.8).
    FromHsps,
}

/// Penalties of `--chain=diag,anti`; scores are taken 100-fold, penalties are not (6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ChainPenalties {
    /// Per diagonal of distance.
    pub diagonal: i32,
    /// Per base of distance.
    pub anti_diagonal: i32,
}

/// What gapped extension promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contract {
    /// LASTZ's alignments: pruned cell by cell, confined by the blocks accepted before.
    #[default]
    Exact,
    /// FastZ's: every anchor alone, pruned stripe by stripe (`--relaxed`; [`crate::extend::relaxed`] defines it).
    Relaxed,
}

/// Gapped extension (lastz-semantics 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GappedOptions {
    /// Exact or relaxed.
    pub contract: Contract,
    /// Y: the most a path may fall below the best score.
    pub y_drop: i32,
    /// Least score of a block.
    pub threshold: GappedThreshold,
    /// Whether an extension that meets a sequence end is trimmed to the best cell (off: `--noytrim`).
    pub trim_to_peak: bool,
    /// Rejected blocks bound and cover too (`--allgappedbounds`).
    pub all_bounds: bool,
    /// Bytes of LASTZ's traceback memory, one cell each; a longer extension is cut (5.10). `None`: never cut.
    pub traceback_bytes: Option<usize>,
    /// The second search between blocks (`--inner`), if any (6.4).
    pub inner: Option<InnerSearch>,
}

/// `--inner`. Its HSPs are always found by x-drop extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerSearch {
    /// Least score of HSPs and alignments.
    pub threshold: i32,
    /// X.
    pub x_drop: i32,
}

/// A closed interval of a ratio, in LASTZ's single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioRange {
    /// Least ratio, 0 to 1.
    pub min: f32,
    /// Most, 0 to 1.
    pub max: f32,
}

/// Least number of matches (`--matchcount`, `--filter=nmatch`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MatchCount {
    /// This many.
    Count(u64),
    /// This share of the full query length, rounded up; 0 to 1.
    OfQuery(f64),
}

/// Filters on finished blocks (lastz-semantics 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockFilters {
    /// Matches / ACGT pairs.
    pub identity: Option<RatioRange>,
    /// Share of the shorter sequence.
    pub coverage: Option<RatioRange>,
    /// Pairs / columns.
    pub continuity: Option<RatioRange>,
    /// Least matches.
    pub min_matches: Option<MatchCount>,
    /// Most mismatches.
    pub max_mismatches: Option<u64>,
    /// Most gap runs (`ngap`).
    pub max_gaps: Option<u64>,
    /// Most gap columns (`cgap`).
    pub max_gap_columns: Option<u64>,
}

/// What happens to a query that exceeds a limit, and whether stderr says so (6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// Keep what was found instead of dropping it (`keep`).
    pub keep: bool,
    /// Warn on stderr (off: `nowarn`).
    pub warn: bool,
}

/// Per-query limits (lastz-semantics 6.8).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryLimits {
    /// Most HSPs (`--queryhsplimit`).
    pub hsp_limit: Option<(u32, OverLimit)>,
    /// Only the n best HSPs (`--queryhspbest`).
    pub hsp_best: Option<u32>,
    /// Most paired bases as a multiple of the query length (`--querydepth`).
    pub depth: Option<(f64, OverLimit)>,
    /// Stop a query strand after this many blocks (`--anyornone`: 1, `--limitperquery`).
    pub blocks: Option<u32>,
    /// LASTZ counts what it prints: `blocks`, and the `hsp_limit` of a query whose HSPs are kept, count runs of pairs where
    /// the format prints these one by one (rdotplot, mafsegments, genseg).
    pub counts_runs: bool,
}

/// Everything that decides which alignments are found. Formats and files are elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Strands searched.
    pub strands: Strands,
    /// `--self`.
    pub self_comparison: SelfComparison,
    /// Drop the alignment of a sequence with itself (`--notrivial`; implied by `--self`).
    pub no_trivial: bool,
    /// Scores and gap costs.
    pub scoring: Scoring,
    /// Seeding.
    pub seed: SeedOptions,
    /// Gap-free extension.
    pub gap_free: GapFreeExtension,
    /// HSP threshold.
    pub hsp_threshold: HspThreshold,
    /// Keep one best chain of HSPs (`--chain`).
    pub chain: Option<ChainPenalties>,
    /// Gapped extension; `None` reports HSPs (`--nogapped`).
    pub gapped: Option<GappedOptions>,
    /// Filters on finished blocks.
    pub filters: BlockFilters,
    /// Mask target bases once this many blocks cover them (`--masking`); 0 = off.
    pub masking: u32,
    /// Per-query limits.
    pub limits: QueryLimits,
    /// Worker threads; 0 = all cores.
    pub threads: usize,
}

/// Most worker threads for a core: more bring nothing, and thousands take long to start.
const MOST_THREADS_PER_CORE: usize = 16;

impl Options {
    /// Worker threads: as asked, within reason, or one per core.
    pub fn n_threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match self.threads {
            0 => cores,
            threads => threads.min(cores.saturating_mul(MOST_THREADS_PER_CORE)),
        }
    }
}

impl Default for GappedOptions {
    fn default() -> Self {
        GappedOptions {
            contract: Contract::default(),
            y_drop: 9400,
            threshold: GappedThreshold::FromHsps,
            trim_to_peak: true,
            all_bounds: false,
            traceback_bytes: Some(80 << 20),
            inner: None,
        }
    }
}

impl Default for SeedOptions {
    fn default() -> Self {
        SeedOptions {
            pattern: SeedPattern::default(),
            transitions: 1,
            step: 1,
            word_bits: 28,
            word_count_limit: None,
            hit_filter: None,
            twins: None,
            seed_queue: 262_144,
            recover_hits: false,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strands: Strands::default(),
            self_comparison: SelfComparison::default(),
            no_trivial: false,
            scoring: Scoring::default(),
            seed: SeedOptions::default(),
            gap_free: GapFreeExtension::XDrop { x_drop: 910, entropy: true },
            hsp_threshold: HspThreshold::Score(3000),
            chain: None,
            gapped: Some(GappedOptions::default()),
            filters: BlockFilters::default(),
            masking: 0,
            limits: QueryLimits::default(),
            threads: 0,
        }
    }
}
