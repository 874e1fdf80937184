//! Command lines and what they mean. tests/cli_options.rs compares with lastz itself.

use fastz::gpu::AdapterChoice;
use fastz::options::*;

use super::arguments::Arguments;
use super::invocation::{Census, Device, MaskingOutput};
use super::*;

fn understand(words: &str) -> Result<Invocation> {
    Invocation::from_args(words.split(' ').filter(|word| !word.is_empty()).map(str::to_string))
}

fn invocation(options: &str) -> Invocation {
    understand(&format!("t.fa q.fa {options}")).unwrap_or_else(|error| panic!("{options}: {error:#}"))
}

fn options(words: &str) -> Options {
    invocation(words).options
}

fn error(words: &str) -> String {
    format!("{:#}", understand(words).unwrap_err())
}

use fastz::Options;

#[test]
fn no_option_gives_lastzs_defaults() {
    let invocation = invocation("");
    let gapped = GappedOptions { threshold: GappedThreshold::Score(3000), ..GappedOptions::default() };
    assert_eq!(invocation.options, Options { gapped: Some(gapped), ..Options::default() });
    assert_eq!((invocation.target.as_str(), invocation.query.as_deref()), ("t.fa", Some("q.fa")));
    assert_eq!(
        (invocation.format.as_str(), invocation.program_token.as_str()),
        ("lav", concat!("fastz.v", env!("CARGO_PKG_VERSION")))
    );
    assert!(invocation.truncation_report && invocation.warnings.is_empty());
}

#[test]
fn clap_accepts_its_own_definition_of_the_options() {
    Arguments::command().debug_assert();
}

/// The pairs that LASTZ documents as equal.
#[test]
fn shortcuts_mean_their_long_forms() {
    for (short, long) in [
        ("T=0", "--notransition"),
        ("T=1", "--seed=12of19 --transition"),
        ("T=2", "--seed=12of19 --notransition"),
        ("T=3", "--seed=14of22 --transition"),
        ("T=4", "--seed=14of22 --notransition"),
        ("T=0 W=8", "--seed=match8"),
        ("W=8 --transition", "--transition --seed=match8"),
        ("T=1 --notransition", "T=2"),
        ("--notransition T=1", "T=1"),
        ("C=0", "--nochain --gapped"),
        ("C=1", "--chain --nogapped"),
        ("C=2", "--chain --gapped"),
        ("C=3", "--nochain --nogapped"),
        ("B=0", "--strand=plus"),
        ("B=1", "--strand=both"),
        ("B=-7", "--strand=minus"),
        ("U=2,3", "--match=2,3"),
        ("G=1 R=2 C=2", "--chain=1,2"),
        ("H=2000", "--inner=2000"),
        ("M=2", "--masking=2"),
        ("P=0", "--noentropy"),
        ("Z=3", "--step=3"),
        ("O=5 E=6", "--gap=5,6"),
        ("m=1M", "--traceback=1.0M"),
        ("--justhits", "--nogfextend --nogapped"),
        ("--unitscores", "--match=1"),
        ("--0mismatch=20", "--exact=20"),
        ("--filter=nmatch:9", "--matchcount=9"),
    ] {
        assert_eq!(options(short), options(long), "{short} = {long}");
    }
}

#[test]
fn the_last_of_several_wins() {
    assert_eq!(options("K=5 --hspthresh=6"), options("K=6"));
    assert_eq!(options("--nogapped --gapped --ydrop=5"), options("Y=5"));
    assert_eq!(options("--entropy --noentropy"), options("P=0"));
    assert_eq!(options("--gap=7,8 O=9"), options("--gap=9,8"));
    assert_eq!(options("--filter=5 --nofilter"), options(""));
    assert_eq!(options("--exact=25 --nogfextend --exact=20"), options("--exact=20"));
    assert_eq!(invocation("--format=maf --format=axt").format, "axt");
}

#[test]
fn thresholds_depend_on_mode_and_scores() {
    let threshold = |words: &str| options(words).gapped.unwrap().threshold;
    assert_eq!(threshold("K=2000"), GappedThreshold::Score(2000));
    assert_eq!(threshold("K=2000 L=5"), GappedThreshold::Score(5));
    assert_eq!(threshold("K=top5%"), GappedThreshold::FromHsps);
    assert_eq!(threshold("--match=2 --exact=20"), GappedThreshold::Score(60));
    assert_eq!(threshold("--match=2 --mismatch=2,20"), GappedThreshold::Score(3000));
    assert_eq!(threshold("--match=2 --nogfextend"), GappedThreshold::Score(3000));
    let matched = options("--match=1,3");
    assert_eq!(matched.gap_free, GapFreeExtension::XDrop { x_drop: 18, entropy: true });
    assert_eq!(matched.hsp_threshold, HspThreshold::Score(30));
    assert_eq!(matched.gapped.unwrap().y_drop, 36);
    assert_eq!(options("--gap=400,10").gapped.unwrap().y_drop, 3400);
    assert_eq!(options("--exact=20 --gfextend").hsp_threshold, HspThreshold::Score(20));
    let header = invocation("--match=2 --nogfextend --nogapped").header;
    assert_eq!((header.hsp_threshold, header.gapped_threshold), (HspThreshold::Score(60), HspThreshold::Score(3000)));
    assert_eq!((header.x_drop, header.y_drop, header.entropy), (15, 30, false));
}

#[test]
fn the_command_line_beats_the_score_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let matrix = "A C G T\n50 -9 -9 -9\n-9 50 -9 -9\n-9 -9 50 -9\n-9 -9 -9 50\n";
    std::fs::write(file.path(), format!("O=5\nE=6\nL=8\nX=9\nZ=3\nT=4\n{matrix}")).unwrap();
    let scores = format!("--scores={}", file.path().display());
    let from_file = options(&scores);
    assert_eq!((from_file.scoring.gap_open, from_file.scoring.gap_extend, from_file.seed.step), (5, 6, 3));
    assert_eq!((from_file.seed.pattern.len(), from_file.seed.transitions), (22, 0));
    assert_eq!(from_file.gap_free, GapFreeExtension::XDrop { x_drop: 9, entropy: true });
    let both = options(&format!("{scores} O=7 L=80 W=8 --transition Z=4"));
    assert_eq!((both.scoring.gap_open, both.scoring.gap_extend, both.seed.step), (7, 6, 4));
    assert_eq!((both.seed.pattern.len(), both.seed.transitions), (8, 1));
    assert_eq!(both.gapped.unwrap().threshold, GappedThreshold::Score(80));
    // Without a seed of its own the command line has no say in transitions.
    assert_eq!(options(&format!("{scores} --transition")).seed.transitions, 0);
    assert!(invocation(&scores).warnings[0].starts_with("WARNING.  Scores file may warrant"));
    assert!(invocation(&format!("{scores} K=5")).warnings.is_empty());
}

#[test]
fn filters_limits_and_their_forms() {
    let filters = options("--identity=90..95% --filter=ngap:0..3 --matchcount=5% --filter=nmismatch:..7").filters;
    assert_eq!(filters.identity, Some(RatioRange { min: 0.9, max: 0.95 }));
    assert_eq!((filters.max_gaps, filters.max_mismatches), (Some(3), Some(7)));
    assert_eq!(filters.min_matches, Some(MatchCount::OfQuery(0.05)));
    let limits = options("--queryhsplimit=keep,nowarn:1.5K --querydepth=nowarn:2.5").limits;
    assert_eq!(limits.hsp_limit, Some((1500, OverLimit { keep: true, warn: false })));
    assert_eq!(limits.depth, Some((2.5, OverLimit { keep: false, warn: false })));
    assert_eq!(options("--queryhsplimit+=9").limits.hsp_limit, Some((9, OverLimit { keep: true, warn: true })));
    assert_eq!(options("--querydepth=0").limits.depth, None);
    assert_eq!((options("--anyornone").limits.blocks, options("--stopafter=4").limits.blocks), (Some(1), Some(4)));
    // One number serves the three, and the last one counts.
    for (words, blocks) in [
        ("--limitperquery=2 --queryhsplimit=nowarn:1K", 1000),
        ("--queryhsplimit=4 --limitperquery=3", 3),
        ("--queryhsplimit=4 --anyornone", 1),
        ("--anyornone --limitperquery=2", 2),
    ] {
        let limits = options(words).limits;
        assert_eq!((limits.blocks, limits.hsp_limit), (Some(blocks), None), "{words}");
    }
}

#[test]
fn seeding_options() {
    let seed = options("--filter=cares:2,9 --twins=-3..9 --maxwordcount=7,50 --word=20 --recoverseeds").seed;
    let filter = SeedHitFilter { min_matches: 9, max_transversions: Some(2), cares_only: true };
    assert_eq!((seed.hit_filter, seed.word_bits, seed.recover_hits), (Some(filter), 20, true));
    assert_eq!(seed.twins, Some(Twins { min_gap: -3, max_gap: 9 }));
    assert_eq!(seed.word_count_limit, Some(WordCountLimit::CountWithSpacing(7, 50)));
    assert_eq!(options("--maxwordcount=90%").seed.word_count_limit, Some(WordCountLimit::Percent(90.0)));
    let with_spacing = Some(WordCountLimit::PercentWithSpacing(90.0, 7));
    assert_eq!(options("--maxwordcount=90%,7").seed.word_count_limit, with_spacing);
    assert_eq!(options("--maxwordcount=0%").seed.word_count_limit, None);
}

#[test]
fn outputs_and_our_own_options() {
    let line = invocation(
        "--masking=3 --outputmasking+=m --outputmasking:soft=s --census16=c --rdotplot+score=r --axt=a --maf=b --threads=3 \
         --device=gpu:1 --gpu-memory=5G --report=j --quiet --program-token=x --eqx --untruncated --relaxed --format=maf",
    );
    assert_eq!(
        line.masking_outputs,
        [
            MaskingOutput { path: "m".into(), names: true, soft: false },
            MaskingOutput { path: "s".into(), names: false, soft: true }
        ]
    );
    assert_eq!(line.census, Some(Census { path: Some("c".into()), bits: 16 }));
    assert_eq!((line.rdotplot, line.axt, line.maf), (Some(("r".into(), true)), Some("a".into()), Some("b".into())));
    assert_eq!((line.device, line.options.threads), (Device::Gpus(vec![AdapterChoice::Index(1)]), 3));
    assert_eq!(line.gpu_memory, Some(5 << 30));
    assert_eq!((line.program_token.as_str(), line.quiet, line.eqx), ("x", true, true));
    let gapped = line.options.gapped.unwrap();
    assert!(gapped.traceback_bytes.is_none());
    assert_eq!(gapped.contract, Contract::Relaxed);
    assert_eq!(
        line.header_arguments.join(" "),
        "--masking=3 --outputmasking+=m --outputmasking:soft=s --census16=c --rdotplot+score=r --format=maf"
    );
    assert_eq!(invocation("--readgroup=ID:a --readgroup=SM:b --sam").read_group.as_deref(), Some("ID:a\tSM:b"));
}

#[test]
fn partitioned_input_excludes_lav_and_masking_files() {
    assert!(error("t.fa[multiple] q.fa").contains("cannot be used with --format=lav: choose another"));
    assert!(error("t.fa q.fa --action:query=[multi] --format=gfa").contains("--format=gfa"));
    assert!(error("t.fa[sep=N] q.fa --format=maf M=1 --outputmasking=x").contains("--outputmasking"));
    assert!(understand("t.fa[multiple] q.fa --format=maf").is_ok());
}

#[test]
fn errors_are_one_line_with_the_way_out() {
    for (words, message) in [
        ("t.fa --bogus", "unknown option --bogus; --help lists the options"),
        ("t.fa --hspthres=5", "unknown option --hspthres=5; did you mean --hspthresh?"),
        ("t.fa --hspthresh", "--hspthresh needs a value: write --hspthresh=<value>"),
        ("t.fa --nogapped=1", "--nogapped=1: --nogapped takes no value, write it alone"),
        ("t.fa --strand=x", "--strand=x cannot be understood: write --strand=both or plus or minus"),
        ("t.fa --transition=9", "--transition=9: give 0, 1 or 2"),
        ("t.fa --word=40", "--word=40: a word cannot have 40 bits: give 8 to 31"),
        ("t.fa --gpu-memory=1M", "--gpu-memory=1M: give 64M or more"),
        ("t.fa --gpu-memory=9T", "--gpu-memory=9T: \"9T\" is not a number: write one such as 3000, 3K, 2.5M or 1G"),
        ("t.fa --census=", "--census needs a value: write --census=<value>"),
        ("t.fa --infer", "--infer is not supported: infer the scores with lastz_D and give them with --scores=<file>"),
        ("t.fa --exact=20 K=9", "can't use K=9 with --exact=20: drop one of them"),
        ("t.fa K=9 --exact=20", "can't use --exact=20 with K=9: drop one of them"),
        ("t.fa --nogapped --ydrop=9", "--ydrop requires --gapped"),
    ] {
        assert_eq!(error(words), message, "{words}");
    }
    let formats = error("t.fa --format=nonsense");
    assert!(formats.starts_with("--format=nonsense: unknown format: use lav, axt"), "{formats}");
    assert!(error("K=5").starts_with("you must specify a target file"));
}

#[test]
fn errors_name_what_was_typed() {
    let number = "\"x\" is not a number: write one such as 3000, 3K, 2.5M or 1G";
    for word in ["K=x", "L=x", "H=x", "O=x", "E=x", "X=x", "Y=x", "m=x", "G=x", "R=x", "U=x", "AC:x", "--mspthresh=x"] {
        assert_eq!(error(&format!("t.fa K=5 {word} --step=2")), format!("{word}: {number}"));
    }
    for word in ["M=x", "Z=x", "B=x", "P=x", "c=x", "--stopafter=x"] {
        assert_eq!(error(&format!("t.fa {word}")), format!("{word}: \"x\" is not a whole number: write digits alone"));
    }
    for (words, message) in [
        ("W=x", "W=x: \"x\" is not a word length: give 2 to 15"),
        ("T=7", "T=7 cannot be understood: give T=0, T=1, T=2, T=3, T=4; --help=shortcuts says what they mean"),
        ("Z=0", "Z=0: a step must be positive: give 1 or more"),
        ("M=-1", "M=-1: -1 is negative: give 0 or more"),
        ("m=1", "m=1: traceback memory must be at least 100K"),
        ("K=", "K needs a value: write K=<value>"),
        ("K=9 K=x", &format!("K=x: {number}")),
        ("--trans=9", "--trans=9: give 0, 1 or 2"),
        ("--mem:traceback=5G", "--mem:traceback=5G: \"5G\" is out of range: give 2.0G at most"),
        ("--nogapped Y=9", "--ydrop requires --gapped (Y=9 means --ydrop=9)"),
        ("--ungapped H=9 --ydrop=9", "--ydrop requires --gapped"),
        ("X=0", "--xdrop=0: 0 is not a legitimate x-drop threshold: it must be positive (X=0 means --xdrop=0)"),
        ("--yasra98 --exact=20", "can't use --exact=20 with --yasra98: drop one of them"),
    ] {
        assert_eq!(error(&format!("t.fa {words}")), message, "{words}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "--step=2\nK=x").unwrap();
    let include = format!("--include={}", file.path().display());
    assert_eq!(error(&format!("t.fa {include}")), format!("K=x in {include}: {number}"));
}

/// How pipelines call lastz (lastz-semantics 12).
#[test]
fn command_lines_of_pipelines_are_understood() {
    let ucsc = options("K=2200 L=6000 H=2000 Y=3400 O=400 E=30 M=50");
    let gapped = ucsc.gapped.unwrap();
    assert_eq!(
        (gapped.y_drop, gapped.inner.unwrap().threshold, gapped.threshold),
        (3400, 2000, GappedThreshold::Score(6000))
    );
    for words in [
        "T=2 O=600 E=150 M=254 K=4500 L=4500 Y=15000",
        "K=2400 H=2000 L=3000 Y=9400 --traceback=800.0M --format=axt+",
        "T=1 K=5000 L=5000 H=3000 M=10 O=400 E=30 --ambiguous=iupac --matchcount=1000",
        "--step=3 --ambiguous=iupac,100,100 --ydrop=3000 --notransition --format=paf:minimap2 --notrivial",
        "--step=3 --ambiguous=iupac,100,100 --ungapped --queryhsplimit=keep,nowarn:1500 --querydepth=keep,nowarn:53 \
         --format=general:name1,zstart1,end1,name2,zstart2+,end2+ --markend",
        "--format=maf --ydrop=9430 --gappedthresh=3000 --strand=plus --inner=2000 --segments=x --output=y --notrivial",
        "O=400 E=30 K=3000 L=3000 H=2200 T=1 --format=axt --ambiguous=n --ambiguous=iupac",
        "--notransition --step=20 --nogapped --format=maf",
        "--chain --gapped --gfextend --allocate:traceback=1.99G",
    ] {
        invocation(words);
    }
}

#[test]
fn help_gives_each_option_one_line() {
    let Ok(Request::Print(help)) = Request::from_args(["--help".to_string()]) else { panic!("no help") };
    let options = help.split("Arguments:").nth(1).unwrap().split("Scores take").next().unwrap();
    for line in options.lines().filter(|line| line.starts_with("      ")) {
        assert!(line.trim_start().starts_with("--"), "continued: {line}");
    }
}

#[test]
fn requests_that_are_no_alignment() {
    let request = |words: &str| Request::from_args(words.split(' ').map(str::to_string)).unwrap();
    assert!(matches!(request("devices"), Request::Devices));
    for (words, text) in [
        ("--help", "Gapped extension:"),
        ("-h", "--queryhspbest"),
        ("--help=shortcuts", "T=3, T=4"),
        ("--help=yasra", "--yasra85short"),
        ("--version", "fastz "),
        ("t q K=9 --help=defaults", "  K=9          --hspthresh=9\n"),
    ] {
        let Request::Print(output) = request(words) else { panic!("{words}") };
        assert!(output.contains(text), "{words}: {output}");
    }
}

/// Seen in LASTZ's scores: `iupac` is never taken back, scores are those of the last option that has some.
#[test]
fn repeated_ambiguous_options_add_up() {
    let cases = [
        ("--ambiguous=iupac --yasra95short", (true, 0, 0)),
        ("--ambiguous=n --ambiguous=iupac", (true, 0, 0)),
        ("--ambiguous=n,50,90 --ambiguous=iupac", (true, 50, 90)),
        ("--ambiguous=iupac,50,90 --ambiguous=n", (true, 50, 90)),
        ("--ambiguous=iupac,50,90 --ambiguous=n,70", (true, 0, 70)),
        ("--ambiguous=n,50,90 --ambiguous=n,3,4", (false, 3, 4)),
    ];
    for (words, (iupac, reward, penalty)) in cases {
        let invocation = invocation(words);
        assert_eq!((invocation.ambiguous, invocation.iupac), (true, iupac), "{words}");
        let scores = &invocation.options.scoring.gapped;
        assert_eq!((scores.get(b'N', b'N'), scores.get(b'N', b'C')), (reward, -penalty), "{words}");
    }
}
