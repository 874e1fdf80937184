//! The command lines of the big pipelines (lastz-semantics 12) on a small simulated pair: fastz's bytes against stored
//! output of LASTZ 1.04.22, and the stored output against the installed LASTZ.
//!
//! `FASTZ_REFRESH=1` writes the stored outputs anew with the installed LASTZ.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::evolve::fasta;
use support::twobit::twobit;
use support::{compare, program};

struct Pipeline {
    /// Names the stored output.
    name: &'static str,
    /// Words for LASTZ; the inputs are those of [`lay_out`].
    words: &'static str,
    /// A file that the run writes beside stdout.
    writes: Option<&'static str>,
}

const fn pipeline(name: &'static str, words: &'static str) -> Pipeline {
    Pipeline { name, words, writes: None }
}

const PIPELINES: &[Pipeline] = &[
    // UCSC kent, doBlastzChainNet.pl with the DEF files of primates, mammals and distant species.
    pipeline("ucsc_near", "target.fa query.fa T=2 O=600 E=150 M=254 K=4500 L=4500 Y=15000 Q=human_chimp.v2.q"),
    pipeline("ucsc_mammal", "target.2bit/target query.2bit K=3000 L=3000 H=2000 O=400 E=30 Y=9400"),
    pipeline("ucsc_far", "target.fa query.fa H=2000 Y=3400 L=6000 K=2200 Q=HoxD55.q M=50"),
    // Ensembl compara, Lastz_conf.pm and its siblings.
    pipeline("ensembl", "target.fa query.fa T=1 L=3000 H=2200 O=400 E=30 --ambiguous=iupac --format=axt"),
    pipeline(
        "ensembl_primates",
        "target.fa query.fa T=1 K=5000 L=5000 H=3000 M=10 O=400 E=30 Q=human_chimp.v2.q --ambiguous=iupac",
    ),
    pipeline("ensembl_plants", "target.fa query.fa T=1 L=3000 H=2200 O=400 E=30 --ambiguous=iupac --matchcount=1000"),
    // hillerlab/make_lastz_chains, run_lastz.py.
    pipeline(
        "make_lastz_chains",
        "target.2bit/target[2001,27000][multiple] query.2bit/query[1001,29000][multiple] \
         K=2400 H=2000 L=3000 Y=9400 --traceback=800.0M --format=axt+",
    ),
    // Cactus, cactus_progressive_config.xml: pairwise alignment, an ancestor with itself, and repeat masking.
    pipeline(
        "cactus_cigar",
        "parts.fa[multiple][nameparse=darkspace] query.fa[nameparse=darkspace] \
         --step=1 --ambiguous=iupac,100,100 --ydrop=3000 --notransition --format=cigar",
    ),
    pipeline(
        "cactus_paf",
        "parts.fa[multiple][nameparse=darkspace] query.fa[nameparse=darkspace] \
         --step=5 --ambiguous=iupac,100,100 --ydrop=3000 --format=paf:minimap2",
    ),
    pipeline(
        "cactus_self",
        "parts.fa[multiple][nameparse=darkspace] parts.fa[nameparse=darkspace] \
         --step=3 --ambiguous=iupac,100,100 --ydrop=3000 --notransition --notrivial --format=paf:minimap2",
    ),
    pipeline(
        "cactus_repeat_masking",
        "parts.fa[unmask][multiple][nameparse=darkspace] fragments.fa[unmask][nameparse=darkspace] \
         --step=3 --ambiguous=iupac,100,100 --ungapped --queryhsplimit=keep,nowarn:1500 \
         --format=general:name1,zstart1,end1,name2,zstart2+,end2+ --markend",
    ),
    pipeline(
        "cactus_repeat_masking_depth",
        "parts.fa[unmask][multiple][nameparse=darkspace] fragments.fa[unmask][nameparse=darkspace] \
         --step=3 --ambiguous=iupac,100,100 --queryhsplimit=keep,nowarn:1500 --querydepth=keep,nowarn:2 \
         --format=general:name1,zstart1,end1,name2,zstart2+,end2+ --markend",
    ),
    // KegAlign, scripts/runner.py: HSPs come from the GPU, LASTZ extends them.
    pipeline(
        "kegalign_plus",
        "parts.2bit[nameparse=darkspace][multiple][subset=target_block0.name] \
         query.2bit[nameparse=darkspace][subset=query_block0.name] --format=maf --ydrop=9430 --gappedthresh=3000 \
         --strand=plus --segments=plus.segments",
    ),
    pipeline(
        "kegalign_minus",
        "parts.2bit[nameparse=darkspace][multiple][subset=target_block0.name] \
         query.2bit[nameparse=darkspace][subset=query_block0.name] --format=maf- --ydrop=9430 --gappedthresh=3000 \
         --strand=minus --inner=2000 --segments=minus.segments",
    ),
    // Galaxy, tools-iuc lastz.xml.
    pipeline(
        "galaxy_general",
        "parts.fa query.fa --action:target=multiple --gapped --ydrop=9400 --gap=400,30 --hspthresh=3000 \
         --identity=50..100 --coverage=0..100 --matchcount=30 \
         --format=general-:score,name1,strand1,size1,zstart1,end1,name2,strand2,size2,zstart2,end2,identity,coverage",
    ),
    Pipeline {
        name: "galaxy_blastn",
        words: "parts.fa query.fa --action:target=multiple --chain --inner=1500 --rdotplot=plot.r --format=BLASTN-",
        writes: Some("plot.r"),
    },
    pipeline("galaxy_sam", "parts.fa query.fa --action:target=multiple --queryhspbest=4 --format=softsam"),
    // The first command of the README.
    pipeline("readme", "target.fa query.fa --format=maf"),
];

const LIMIT: Duration = Duration::from_secs(120);

/// Lays out the inputs: the committed pair, the target in three parts, the same as 2bit, fragments of the query.
fn lay_out(folder: &Path) {
    let read = |name: &str| std::fs::read(support::data(name)).expect("the committed pair");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("lay out an input");
    let letters = |fasta: &[u8]| -> Vec<u8> {
        let lines = fasta.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
        lines.flatten().copied().collect()
    };
    let (target, query) = (letters(&read("target.fa")), letters(&read("query.fa")));
    let parts: Vec<(String, &[u8])> =
        target.chunks(10_500).enumerate().map(|(at, part)| (format!("part{at}"), part)).collect();
    let as_fasta = |(name, part): &(String, &[u8])| fasta(&format!("{name} of the target"), part);
    let fragments = query.windows(200).step_by(100).take(60).enumerate();
    let fragments: String = fragments.map(|(at, piece)| fasta(&format!("query|{}", at * 100), piece)).collect();
    write("target.fa", &read("target.fa"));
    write("query.fa", &read("query.fa"));
    write("parts.fa", parts.iter().map(as_fasta).collect::<String>().as_bytes());
    write("fragments.fa", fragments.as_bytes());
    write("target.2bit", &twobit([("target", target.as_slice())].into_iter()));
    write("query.2bit", &twobit([("query", query.as_slice())].into_iter()));
    write("parts.2bit", &twobit(parts.iter().map(|(name, part)| (name.as_str(), *part))));
    write("target_block0.name", b"part0\npart2\n");
    write("query_block0.name", b"query\n");
    for name in ["HoxD55.q", "human_chimp.v2.q", "plus.segments", "minus.segments"] {
        write(name, &read(&format!("pipelines/{name}")));
    }
}

/// What the run prints, with the file it writes after it.
fn output(mut command: Command, pipeline: &Pipeline, folder: &Path) -> Vec<u8> {
    command.current_dir(folder).args(pipeline.words.split_whitespace());
    let outcome = program::run(&mut command, b"", LIMIT);
    assert!(outcome.succeeded(), "{}: status {:?}: {}", pipeline.name, outcome.code, outcome.last_words());
    let mut bytes = outcome.stdout;
    if let Some(name) = pipeline.writes {
        bytes.extend(format!("==== {name}\n").as_bytes());
        bytes
            .extend(std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name} was not written: {error}")));
    }
    bytes
}

fn stored(pipeline: &Pipeline) -> Vec<u8> {
    let path = support::data(&format!("pipelines/{}.out", pipeline.name));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares every pipeline's output with the stored one, and panics with all that differ.
fn compare_all(what: &str, make: impl Fn(&Path) -> Command + Sync) {
    let differences: Vec<String> = support::in_parallel(PIPELINES, |pipeline| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        lay_out(folder.path());
        let command = make(folder.path());
        let run = std::panic::AssertUnwindSafe(|| output(command, pipeline, folder.path()));
        match std::panic::catch_unwind(run) {
            Ok(actual) => compare::first_difference(&stored(pipeline), &actual)
                .map(|difference| format!("{}: {}\n{difference}", pipeline.name, pipeline.words)),
            Err(_) => Some(format!("{}: {}\n  the run failed, see above\n", pipeline.name, pipeline.words)),
        }
    })
    .into_iter()
    .flatten()
    .collect();
    let count = differences.len();
    assert!(count == 0, "{what}: {count} of {} pipelines differ:\n{}", PIPELINES.len(), differences.join("\n"));
}

#[test]
fn pipelines_print_what_lastz_printed() {
    compare_all("fastz against stored output", program::fastz_as_lastz);
}

#[test]
fn stored_outputs_are_those_of_the_installed_lastz() {
    let Some(lastz) = program::lastz_or_skip("check of the stored pipeline outputs") else { return };
    if std::env::var_os("FASTZ_REFRESH").is_some() {
        refresh(&lastz);
    }
    compare_all("installed LASTZ against stored output", |_| Command::new(&lastz));
}

/// Writes the segment files and the stored outputs.
fn refresh(lastz: &Path) {
    for strand in ["plus", "minus"] {
        let path = support::data(&format!("pipelines/{strand}.segments"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        lay_out(folder.path());
        let words = "parts.2bit[nameparse=darkspace][multiple][subset=target_block0.name] query.2bit --format=segments";
        let mut command = Command::new(lastz);
        command.current_dir(folder.path()).args(words.split_whitespace()).arg(format!("--strand={strand}"));
        std::fs::write(&path, program::run(&mut command, b"", LIMIT).stdout).expect("store the segments");
    }
    for pipeline in PIPELINES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        lay_out(folder.path());
        let bytes = output(Command::new(lastz), pipeline, folder.path());
        std::fs::write(support::data(&format!("pipelines/{}.out", pipeline.name)), bytes).expect("store an output");
    }
}

#[test]
fn every_pipeline_finds_alignments() {
    for pipeline in PIPELINES {
        let text = String::from_utf8(stored(pipeline)).expect("outputs are text");
        assert!(text.lines().count() > 4, "{} proves nothing: its stored output is\n{text}", pipeline.name);
    }
}
