//! [`Invocation`]: what one command line asks for.

use std::path::PathBuf;
use std::str::FromStr;

use fastz::Options;
use fastz::gpu::AdapterChoice;
use fastz::options::HspThreshold;

/// Where the heavy stages run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The best GPU, or the CPU if there is none.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// These GPUs.
    Gpus(Vec<AdapterChoice>),
}

impl FromStr for Device {
    type Err = String;
    fn from_str(text: &str) -> Result<Device, String> {
        match text {
            "auto" => return Ok(Device::Auto),
            "cpu" => return Ok(Device::Cpu),
            _ => {}
        }
        let choice = |name: &str| match (name, name.strip_prefix("gpu:")) {
            ("", _) => Err("a device has no name: give auto, cpu, gpu, gpu:<n>, all or part of a name".to_string()),
            ("auto" | "cpu", _) => Err(format!("{name} stands alone: it cannot be one of several devices")),
            (_, Some(number)) if number.parse::<usize>().is_err() => {
                Err(format!("\"{number}\" is not a number of a GPU; `fastz devices` lists them"))
            }
            _ => Ok(AdapterChoice::from_option(name).expect("a GPU")),
        };
        text.split(',').map(choice).collect::<Result<_, _>>().map(Device::Gpus)
    }
}

/// A masking file (`--outputmasking`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskingOutput {
    /// The file.
    pub path: PathBuf,
    /// Lines start with the sequence name (`+`).
    pub names: bool,
    /// Lower-case bases count as masked too (`:soft`).
    pub soft: bool,
}

/// `--census`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// The file; none: part of lav.
    pub path: Option<PathBuf>,
    /// Width of a counter, 8, 16 or 32; it saturates.
    pub bits: u8,
}

/// What headers show of the settings, even of stages that do not run.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderSettings {
    /// K; the length of `--exact` and `--mismatch`; 0 with `--nogfextend`.
    pub hsp_threshold: HspThreshold,
    /// L; adaptive if K is, unless a score is given.
    pub gapped_threshold: HspThreshold,
    /// X.
    pub x_drop: i32,
    /// Y.
    pub y_drop: i32,
    /// Whether entropy counts.
    pub entropy: bool,
    /// LASTZ's traceback memory; `None`: unlimited.
    pub traceback_bytes: Option<usize>,
    /// The seed pattern, with what surplus bits leave to be resolved: `11T/R`.
    pub seed_pattern: String,
}

/// A command line understood and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// Target file with actions, as typed.
    pub target: String,
    /// Query file with actions; `None`: standard input, or the target with `--self`.
    pub query: Option<String>,
    /// `--action:target`, in order.
    pub target_actions: Vec<String>,
    /// `--action:query`, in order.
    pub query_actions: Vec<String>,
    /// What decides the alignments.
    pub options: Options,
    /// Settings for headers.
    pub header: HeaderSettings,
    /// The option words for headers, in order.
    pub header_arguments: Vec<String>,
    /// IUPAC codes are admitted in the sequences (`--ambiguous=iupac`).
    pub iupac: bool,
    /// `--ambiguous` was given, in any form.
    pub ambiguous: bool,
    /// The file of scores, which has been read.
    pub scores: Option<PathBuf>,
    /// Anchors come from this file.
    pub segments: Option<PathBuf>,
    /// Output format as typed.
    pub format: String,
    /// Gap-free runs of blocks are printed as segments, whatever the format.
    pub prints_runs: bool,
    /// Output file; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Last line `# lastz end-of-file`.
    pub mark_end: bool,
    /// Additional dot plot, and whether it has scores.
    pub rdotplot: Option<(PathBuf, bool)>,
    /// Additional axt file.
    pub axt: Option<PathBuf>,
    /// Additional maf file.
    pub maf: Option<PathBuf>,
    /// Tags of `@RG`, tab-separated.
    pub read_group: Option<String>,
    /// CIGAR with = and X.
    pub eqx: bool,
    /// Context of format text in bases.
    pub expand: u32,
    /// `--laj`.
    pub laj: bool,
    /// `--nolaj`.
    pub nolaj: bool,
    /// Masking files: of `--masking`, and with soft-masked bases.
    pub masking_outputs: Vec<MaskingOutput>,
    /// Counts of alignments per target base.
    pub census: Option<Census>,
    /// Write the scoring before the alignments.
    pub show_defaults: bool,
    /// Name of the program in headers.
    pub program_token: String,
    /// Where to compute.
    pub device: Device,
    /// Bytes of a GPU's memory to use at most; `None`: a safe share.
    pub gpu_memory: Option<u64>,
    /// Send a software adapter what the CPU does faster, too.
    pub all_on_device: bool,
    /// JSON file for counts and times.
    pub report: Option<PathBuf>,
    /// No warnings, no progress.
    pub quiet: bool,
    /// Say when every n-th query begins.
    pub progress: Option<u32>,
    /// Say with it how much of the target is masked.
    pub progress_masking: bool,
    /// `--verbosity`.
    pub verbosity: i32,
    /// Write the seconds taken.
    pub runtime: bool,
    /// Say on stderr that an extension was cut.
    pub truncation_report: bool,
    /// What the user should hear, each a whole text for stderr.
    pub warnings: Vec<String>,
}

impl Invocation {
    /// Actions of the target: those of its word and of `--action:target`.
    pub fn target_is_partitioned(&self) -> bool {
        is_partitioned(&self.target, &self.target_actions)
    }

    /// The same for the query.
    pub fn query_is_partitioned(&self) -> bool {
        self.query.as_deref().is_some_and(|query| is_partitioned(query, &self.query_actions))
    }
}

/// Whether `[multiple]` or `[separator=]` is among the actions of a file word or of `--action`.
fn is_partitioned(word: &str, actions: &[String]) -> bool {
    let bracketed = word.split_once('[').map(|(_, actions)| actions).unwrap_or_default();
    std::iter::once(bracketed)
        .chain(actions.iter().map(String::as_str))
        .flat_map(|actions| actions.split([',', '[', ']']))
        .any(|action| {
            ["multiple", "multi"].contains(&action) || ["separator=", "sep="].iter().any(|s| action.starts_with(s))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_numbers_names_or_kinds() {
        let name = |name: &str| AdapterChoice::Name(name.to_string());
        assert_eq!("gpu".parse(), Ok(Device::Gpus(vec![AdapterChoice::Auto])));
        assert_eq!("gpu:1".parse(), Ok(Device::Gpus(vec![AdapterChoice::Index(1)])));
        assert_eq!("H200".parse(), Ok(Device::Gpus(vec![name("H200")])));
        assert_eq!("all".parse(), Ok(Device::Gpus(vec![AdapterChoice::All])));
        assert_eq!("gpu:0,T4".parse(), Ok(Device::Gpus(vec![AdapterChoice::Index(0), name("T4")])));
        for (wrong, word) in [("gpu:x", "fastz devices"), ("gpu:0,", "no name"), ("gpu:0,cpu", "stands alone")] {
            assert!(wrong.parse::<Device>().unwrap_err().contains(word), "{wrong}");
        }
    }

    #[test]
    fn partitioning_actions_are_found_wherever_they_stand() {
        for word in ["t.fa[multiple]", "t.fa[unmask][multi]-", "t.2bit/chr1[a,sep=N]"] {
            assert!(is_partitioned(word, &[]), "{word}");
        }
        assert!(is_partitioned("t.fa", &["multiple".to_string()]));
        assert!(!is_partitioned("multiple", &["unmask".to_string()]));
    }
}
