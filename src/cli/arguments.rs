//! The canonical options as clap reads them, in the groups of `--help`.
//!
//! Only canonical spellings arrive here ([`super::normalise`]), so clap sees each meaning under one name; the last use
//! of an option wins. Lists are folded in order by [`super::build`].

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use fastz::options::{HspThreshold, Twins, WordCountLimit};
use fastz::scoring::number::parse_score;
use fastz::scoring::setup::PairScore;

use super::output_arguments::{LimitArguments, OutputArguments, PerformanceArguments, PostArguments};
use super::values::{
    AmbiguousLetters, Chain, GapCost, MatchScores, Seed, ambiguous_letters, count, exact_length, ignored_bytes,
    mismatch, pair_score, step, threshold, traceback_bytes, transitions, twins, word_bits, word_count_limit,
};

/// Whole-genome pairwise alignment with LASTZ's command line and LASTZ's output.
#[derive(Debug, Parser)]
#[command(
    name = "fastz",
    version,
    args_override_self = true,
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "fastz <target> [<query>] [options]\n       fastz devices",
    after_help = super::help::AFTER_OPTIONS,
    help_expected = true
)]
pub struct Arguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub scoring: ScoringArguments,
    #[command(flatten)]
    pub seeding: SeedingArguments,
    #[command(flatten)]
    pub hsps: HspArguments,
    #[command(flatten)]
    pub gapped: GappedArguments,
    #[command(flatten)]
    pub post: PostArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub performance: PerformanceArguments,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Sequence file, actions in brackets: chr.fa[multiple] (--help=files)
    #[arg(help_heading = None::<&str>)]
    pub target: Option<String>,
    /// Sequence file of the query; none: standard input
    #[arg(help_heading = None::<&str>)]
    pub query: Option<String>,
    /// Compare the target with itself
    #[arg(long = "self")]
    pub self_comparison: bool,
    /// Strand of the query to search [default: both]
    #[arg(long, require_equals = true, value_name = "both|plus|minus", hide_possible_values = true)]
    pub strand: Option<StrandChoice>,
    /// Action on the target file, like one in brackets after its name
    #[arg(long = "action:target", require_equals = true, value_name = "action")]
    pub target_action: Vec<String>,
    /// Action on the query file
    #[arg(long = "action:query", require_equals = true, value_name = "action")]
    pub query_action: Vec<String>,
    /// Read options and file names from a text file
    #[arg(long, require_equals = true, value_name = "file")]
    pub include: Option<String>,
}

/// `--strand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StrandChoice {
    /// Both.
    Both,
    /// As given.
    #[value(aliases = ["+", "forward"])]
    Plus,
    /// Reverse complement.
    #[value(aliases = ["-", "reverse"])]
    Minus,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Scoring")]
pub struct ScoringArguments {
    /// Score file: matrix, gap costs, thresholds [default: HOXD70]
    #[arg(long, require_equals = true, value_name = "file")]
    pub scores: Vec<PathBuf>,
    /// +R for a match, -P for a mismatch [P: R]; gap costs follow
    #[arg(long = "match", require_equals = true, value_name = "R[,P]")]
    pub match_scores: Option<MatchScores>,
    /// Costs of opening a gap and of each of its bases [default: 400,30]
    #[arg(long, require_equals = true, value_name = "[O,]E")]
    pub gap: Vec<GapCost>,
    /// N, or IUPAC codes, score 0; n,<reward>,<penalty>: score so
    #[arg(long, require_equals = true, value_name = "n|iupac", value_parser = ambiguous_letters)]
    pub ambiguous: Vec<AmbiguousLetters>,
    /// Score of one pair of bases; typed as XY:<score>
    #[arg(long, hide = true, require_equals = true, value_parser = pair_score)]
    pub pair_score: Vec<PairScore>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Seeding")]
pub struct SeedingArguments {
    /// 12of19, 14of22, match<k>, half<k>, 1s Ts 0s [default: 12of19]
    #[arg(long, require_equals = true, value_name = "pattern")]
    pub seed: Vec<Seed>,
    /// Transitions in a seed hit, 0 to 2 [default: 1]; --notransition: 0
    #[arg(long, require_equals = true, value_name = "n", num_args = 0..=1, default_missing_value = "1")]
    #[arg(value_parser = transitions)]
    pub transition: Option<u8>,
    /// Bases from one target word to the next [default: 1]
    #[arg(long, require_equals = true, value_name = "bases", value_parser = step)]
    pub step: Option<u32>,
    /// Leave out target words that occur more often
    #[arg(long, require_equals = true, value_name = "n[,c]|p%", value_parser = word_count_limit)]
    pub maxwordcount: Option<WordCountLimitChoice>,
    /// Two hits on a diagonal, so many bases apart; --notwins: one
    #[arg(long, require_equals = true, value_name = "[min..]max", value_parser = twins)]
    pub twins: Option<TwinsChoice>,
    /// Seed hits remembered for --twins [default: 262144]
    #[arg(long, require_equals = true, value_name = "n", value_parser = count)]
    pub seedqueue: Option<u32>,
    /// Lose no seed hit to hash collisions
    #[arg(long, overrides_with = "norecoverseeds")]
    pub recoverseeds: bool,
    /// Lose seed hits as LASTZ does [default]
    #[arg(long, overrides_with = "recoverseeds")]
    pub norecoverseeds: bool,
    /// Bits of a word in the target table [default: 28]
    #[arg(long, require_equals = true, value_name = "bits", value_parser = word_bits)]
    pub word: Option<u32>,
    /// Report every seed hit; with --nogfextend --nogapped
    #[arg(long)]
    pub rawhits: bool,
}

/// Names for clap, which would take `Option<Option<T>>` as "value optional".
pub type WordCountLimitChoice = Option<WordCountLimit>;
/// See [`WordCountLimitChoice`].
pub type TwinsChoice = Option<Twins>;

/// How seed hits are extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GapFreeMode {
    /// `--xdrop`.
    XDrop,
    /// `--exact`.
    Exact,
    /// `--mismatch`.
    Mismatch,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "HSPs")]
pub struct HspArguments {
    /// Extend seed hits to HSPs, without gaps [default]
    #[arg(long, require_equals = true, num_args = 0..=1, default_missing_value = "x-drop", value_name = "mode")]
    #[arg(hide_possible_values = true, overrides_with = "nogfextend")]
    pub gfextend: Option<GapFreeMode>,
    /// Take the seed hits themselves
    #[arg(long, overrides_with = "gfextend")]
    pub nogfextend: bool,
    /// End this far below the best score [default: 10 * score of AA]
    #[arg(long, require_equals = true, value_name = "score", value_parser = parse_score)]
    pub xdrop: Option<i32>,
    /// Least score; top<n>, top<p>%: the best HSPs [default: 3000]
    #[arg(long, require_equals = true, value_name = "score", value_parser = threshold)]
    pub hspthresh: Option<HspThreshold>,
    /// Lower the score of HSPs of few different bases [default]
    #[arg(long, require_equals = true, value_name = "report", num_args = 0..=1, default_missing_value = "on")]
    #[arg(value_parser = ["on", "report"], hide_possible_values = true, overrides_with = "noentropy")]
    pub entropy: Option<String>,
    /// Leave HSP scores alone
    #[arg(long, overrides_with = "entropy")]
    pub noentropy: bool,
    /// HSPs are exact matches of at least this length
    #[arg(long, require_equals = true, value_name = "length", value_parser = exact_length)]
    pub exact: Option<u32>,
    /// HSPs have at most so many mismatches
    #[arg(long, require_equals = true, value_name = "n,length", value_parser = mismatch)]
    pub mismatch: Option<(u32, u32)>,
    /// Keep the best chain of HSPs; --nochain: keep all
    #[arg(long, require_equals = true, value_name = "diag,anti", num_args = 0..=1, default_missing_value = "on")]
    pub chain: Vec<Chain>,
    /// Take the HSPs from a file, no seeding
    #[arg(long, require_equals = true, value_name = "file")]
    pub segments: Vec<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Gapped extension")]
pub struct GappedArguments {
    /// Extend HSPs with gaps [default]
    #[arg(long, overrides_with = "nogapped")]
    pub gapped: bool,
    /// Report the HSPs
    #[arg(long, overrides_with = "gapped")]
    pub nogapped: bool,
    /// End this far below the best score [default: O + 300 * E]
    #[arg(long, require_equals = true, value_name = "score", value_parser = parse_score)]
    pub ydrop: Option<i32>,
    /// Least score of an alignment [default: that of --hspthresh]
    #[arg(long, require_equals = true, value_name = "score", value_parser = threshold)]
    pub gappedthresh: Option<HspThreshold>,
    /// Do not trim an extension that meets the end of a sequence
    #[arg(long)]
    pub noytrim: bool,
    /// Rejected alignments bound later ones too
    #[arg(long)]
    pub allgappedbounds: bool,
    /// Search again between alignments, with this threshold
    #[arg(long, require_equals = true, value_name = "score", value_parser = parse_score)]
    pub inner: Option<i32>,
    /// LASTZ's traceback memory cuts long extensions [default: 80.0M]
    #[arg(long = "allocate:traceback", require_equals = true, value_name = "bytes", value_parser = traceback_bytes)]
    pub traceback: Option<usize>,
    /// Cut no extension (not LASTZ's output)
    #[arg(long)]
    pub untruncated: bool,
    /// FastZ's contract: each anchor alone (not LASTZ's output)
    #[arg(long)]
    pub relaxed: bool,
    /// Accepted and ignored, like --allocate:query
    #[arg(long = "allocate:target", require_equals = true, value_name = "bytes", value_parser = ignored_bytes)]
    pub target_memory: Option<i64>,
    /// Accepted and ignored
    #[arg(long = "allocate:query", hide = true, require_equals = true, value_parser = ignored_bytes)]
    pub query_memory: Option<i64>,
}
