//! Options of what follows the search: post-processing, output, limits, performance and messages.

use std::path::PathBuf;

use clap::Args;
use fastz::options::{MatchCount, OverLimit, RatioRange};
use fastz::scoring::number::parse_integer;

use super::invocation::Device;
use super::limits::{
    Filter, Progress, best_count, block_limit, depth_limit, hsp_limit, last_limit, match_count, progress, ratio_range,
};
use super::values::{census, count, expansion, format_name, gpu_memory};

#[derive(Args, Debug)]
#[command(next_help_heading = "Post-processing")]
pub struct PostArguments {
    /// Keep alignments with this share of matches, in percent
    #[arg(long, require_equals = true, value_name = "min[..max]", value_parser = ratio_range)]
    pub identity: Option<RatioRange>,
    /// Keep alignments that cover this share of the shorter sequence
    #[arg(long, require_equals = true, value_name = "min[..max]", value_parser = ratio_range)]
    pub coverage: Option<RatioRange>,
    /// Keep alignments with this share of columns without a gap
    #[arg(long, require_equals = true, value_name = "min[..max]", value_parser = ratio_range)]
    pub continuity: Option<RatioRange>,
    /// Keep alignments with so many matches, or percent of the query
    #[arg(long, require_equals = true, value_name = "n|n%", value_parser = match_count)]
    pub matchcount: Option<MatchCount>,
    /// [T,]M, cares:[T,]M, nmismatch:..n, ngap:..n, cgap:..n, ...
    #[arg(long, require_equals = true, value_name = "filter")]
    pub filter: Vec<Filter>,
    /// Leave out the alignment of a sequence with itself
    #[arg(long)]
    pub notrivial: bool,
    /// With --self: leave out the mirror images
    #[arg(long, overrides_with = "mirror")]
    pub nomirror: bool,
    /// With --self: add the mirror images [default]
    #[arg(long, overrides_with = "nomirror")]
    pub mirror: bool,
    /// Mask target bases that so many alignments cover
    #[arg(long, require_equals = true, value_name = "n", value_parser = count)]
    pub masking: Option<u32>,
    /// Write the intervals that --masking masked
    #[arg(long, require_equals = true, value_name = "file")]
    pub outputmasking: Vec<PathBuf>,
    /// The same with sequence names
    #[arg(long = "outputmasking+", require_equals = true, value_name = "file")]
    pub outputmasking_names: Vec<PathBuf>,
    /// Write all masked intervals, lower case included
    #[arg(long = "outputmasking:soft", require_equals = true, value_name = "file")]
    pub outputmasking_soft: Vec<PathBuf>,
    /// The same with sequence names
    #[arg(long = "outputmasking+:soft", require_equals = true, value_name = "file")]
    pub outputmasking_soft_names: Vec<PathBuf>,
    /// Count alignments over each base, up to 255; --nocensus: do not
    #[arg(long, require_equals = true, value_name = "file", num_args = 0..=1, default_missing_value = "on")]
    #[arg(value_parser = census)]
    pub census: Vec<String>,
    /// The same up to 65535
    #[arg(long, require_equals = true, value_name = "file")]
    pub census16: Vec<PathBuf>,
    /// The same up to 4294967295
    #[arg(long, require_equals = true, value_name = "file")]
    pub census32: Vec<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Format (--help=formats) [default: lav]
    #[arg(long, require_equals = true, value_name = "format")]
    #[arg(value_parser = format_name)]
    pub format: Vec<String>,
    /// Write to a file instead of standard output
    #[arg(long, require_equals = true, value_name = "file")]
    pub output: Option<PathBuf>,
    /// End the output with the line "# lastz end-of-file"
    #[arg(long)]
    pub markend: bool,
    /// Write a dot plot for R as well
    #[arg(long, require_equals = true, value_name = "file")]
    pub rdotplot: Vec<PathBuf>,
    /// The same with scores
    #[arg(long = "rdotplot+score", require_equals = true, value_name = "file")]
    pub rdotplot_score: Vec<PathBuf>,
    /// Write axt as well
    #[arg(long, require_equals = true, value_name = "file")]
    pub axt: Option<PathBuf>,
    /// Write maf as well
    #[arg(long, require_equals = true, value_name = "file")]
    pub maf: Option<PathBuf>,
    /// Write the HSPs for --segments; implies --nogapped
    #[arg(long, require_equals = true, value_name = "file")]
    pub writesegments: Option<PathBuf>,
    /// Tags of the @RG line of sam; several are joined
    #[arg(long, require_equals = true, value_name = "tags")]
    pub readgroup: Vec<String>,
    /// = and X instead of M in the CIGAR of sam and paf
    #[arg(long)]
    pub eqx: bool,
    /// Bases around an alignment in format text, 0 to 999
    #[arg(long, require_equals = true, value_name = "bases", value_parser = expansion)]
    pub expand: Option<u32>,
    /// Full names keep their > [default]
    #[arg(long, overrides_with = "nolaj")]
    pub laj: bool,
    /// Full names without the >
    #[arg(long, overrides_with = "laj")]
    pub nolaj: bool,
    /// Program in headers, such as lastz.v1.04.22 [default: fastz.v...]
    #[arg(long, require_equals = true, value_name = "text")]
    pub program_token: Option<String>,
    /// Write the scores and defaults before the alignments
    #[arg(long, require_equals = true, value_name = "defaults", value_parser = ["defaults"], hide_possible_values = true)]
    pub show: Option<String>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitArguments {
    /// Drop queries with more HSPs: [nowarn:|keep,nowarn:]n
    #[arg(long, require_equals = true, value_name = "limit", value_parser = hsp_limit)]
    pub queryhsplimit: Option<(u32, OverLimit)>,
    /// Keep the n best HSPs of each query
    #[arg(long, require_equals = true, value_name = "n", value_parser = best_count)]
    pub queryhspbest: Option<u32>,
    /// Drop strands with more paired bases per base: [keep,][nowarn:]d
    #[arg(long, require_equals = true, value_name = "depth", value_parser = depth_limit)]
    pub querydepth: Option<DepthChoice>,
    /// Stop a query strand at its first alignment
    #[arg(long)]
    pub anyornone: bool,
    /// Stop a query strand after n alignments
    #[arg(long, require_equals = true, value_name = "n", value_parser = block_limit)]
    pub limitperquery: Option<u32>,
    /// The number of the last of the three options that limit what a query finds
    #[arg(long, hide = true, require_equals = true, value_parser = last_limit)]
    pub query_limit: Option<u32>,
}

/// A name for clap, which would take `Option<Option<T>>` as "value optional".
pub type DepthChoice = Option<(f64, OverLimit)>;

#[derive(Args, Debug)]
#[command(next_help_heading = "Performance and messages")]
pub struct PerformanceArguments {
    /// Worker threads [default: all cores]
    #[arg(long, require_equals = true, value_name = "n", value_parser = threads)]
    pub threads: Option<usize>,
    /// auto, cpu, gpu, gpu:<n>, a name or all (fastz devices) [auto]
    #[arg(long, require_equals = true, value_name = "device[,device]")]
    pub device: Option<Device>,
    /// Memory of each GPU to use at most [default: a safe share]
    #[arg(long, require_equals = true, value_name = "bytes", value_parser = gpu_memory)]
    pub gpu_memory: Option<u64>,
    /// Send a software adapter what the CPU does faster, too
    #[arg(long)]
    pub all_on_device: bool,
    /// Write counts and times as JSON
    #[arg(long, require_equals = true, value_name = "file")]
    pub report: Option<PathBuf>,
    /// No warnings and no progress
    #[arg(long)]
    pub quiet: bool,
    /// Say when every n-th query begins (+masking: masked bases too)
    #[arg(long, require_equals = true, value_name = "n", num_args = 0..=1, default_missing_value = "1")]
    #[arg(value_parser = progress)]
    pub progress: Vec<Progress>,
    /// Amount of messages on stderr, 0 to 10 [default: 0]
    #[arg(long, require_equals = true, value_name = "n", value_parser = parse_integer)]
    pub verbosity: Option<i32>,
    /// Write the seconds taken, in formats that LASTZ gives them
    #[arg(long)]
    pub runtime: bool,
    /// Do not say that an extension was cut
    #[arg(long)]
    pub notruncationreport: bool,
    /// This help, or about files, formats, shortcuts, yasra, defaults
    #[arg(long, require_equals = true, value_name = "topic", num_args = 0..=1, default_missing_value = "options")]
    pub help: Option<String>,
    /// Version
    #[arg(long)]
    pub version: bool,
}

fn threads(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number of threads: give 1 or more, or 0 for all cores"))
}
