//! LASTZ's spellings and what each stands for (lastz-semantics 9, 9.1).

/// Whole words, and the canonical options that they stand for.
const WORDS: &[(&str, &[&str])] = &[
    // one letter
    ("C=0", &["--chain=off", "--gapped"]),
    ("C=1", &["--chain", "--nogapped"]),
    ("C=2", &["--chain", "--gapped"]),
    ("C=3", &["--chain=off", "--nogapped"]),
    ("T=0", &["--transition=0"]),
    ("T=1", &["--seed=12of19", "--transition"]),
    ("T=2", &["--seed=12of19", "--transition=0"]),
    ("T=3", &["--seed=14of22", "--transition"]),
    ("T=4", &["--seed=14of22", "--transition=0"]),
    ("v=0", &["--verbosity=0"]),
    ("v=1", &["--verbosity=10"]),
    // strands
    ("--both", &["--strand=both"]),
    ("--bothstrands", &["--strand=both"]),
    ("--plus", &["--strand=plus"]),
    ("--plusstrand", &["--strand=plus"]),
    ("--minus", &["--strand=minus"]),
    ("--minusstrand", &["--strand=minus"]),
    // seeding
    ("--trans", &["--transition"]),
    ("--notrans", &["--transition=0"]),
    ("--notransition", &["--transition=0"]),
    ("--nofilter", &["--filter=none"]),
    ("--notwins", &["--twins=none"]),
    ("--recoverhits", &["--recoverseeds"]),
    ("--norecoverhits", &["--norecoverseeds"]),
    ("--justhits", &["--nogfextend", "--nogapped"]),
    ("--hitsonly", &["--nogfextend", "--nogapped"]),
    // stages
    ("--gfx", &["--gfextend"]),
    ("--nogfx", &["--nogfextend"]),
    ("--gx", &["--gapped"]),
    ("--nogx", &["--nogapped"]),
    ("--ungapped", &["--nogapped"]),
    ("--nochain", &["--chain=off"]),
    ("--stopafterone", &["--anyornone"]),
    // scoring
    ("--unitscore", &["--match=1,1"]),
    ("--unitscores", &["--match=1,1"]),
    ("--ambiguousn", &["--ambiguous=n"]),
    // output
    ("--nocensus", &["--census=off"]),
    ("--progress+masking", &["--progress=masking:1"]),
    ("--noruntime", &[]),
    ("--nostats", &[]),
    ("-h", &["--help"]),
    ("-help", &["--help"]),
    ("-v", &["--version"]),
    ("--version:noerror", &["--version"]),
];

/// Beginnings of words that carry a value, and what to write instead.
const PREFIXES: &[(&str, &str)] = &[
    // one letter
    ("E=", "--gap="),
    ("G=", "--chain=G="),
    ("H=", "--inner="),
    ("K=", "--hspthresh="),
    ("L=", "--gappedthresh="),
    ("M=", "--masking="),
    ("m=", "--allocate:traceback="),
    ("O=", "--gap=O="),
    ("Q=", "--scores="),
    ("R=", "--chain=R="),
    ("U=", "--match="),
    ("W=", "--seed=match"),
    ("X=", "--xdrop="),
    ("Y=", "--ydrop="),
    ("Z=", "--step="),
    // files and memory
    ("--action1=", "--action:target="),
    ("--action2=", "--action:query="),
    ("--anchors=", "--segments="),
    ("--out=", "--output="),
    ("--score=", "--scores="),
    ("--traceback=", "--allocate:traceback="),
    ("--alloc:", "--allocate:"),
    ("--memory:", "--allocate:"),
    ("--mem:", "--allocate:"),
    // thresholds and filters
    ("--ambig=", "--ambiguous="),
    ("--filter=identity:", "--identity="),
    ("--filter=coverage:", "--coverage="),
    ("--filter=continuity:", "--continuity="),
    ("--filter=nmatch:", "--matchcount="),
    ("--gappedthreshold=", "--gappedthresh="),
    ("--hspthreshold=", "--hspthresh="),
    ("--mspthresh=", "--hspthresh="),
    ("--mspthreshold=", "--hspthresh="),
    ("--progress+masking=", "--progress=masking:"),
    ("--queryhsplimit+=", "--queryhsplimit=+="),
    ("--stopafter=", "--limitperquery="),
    ("--trans=", "--transition="),
    ("--transitions=2", "--transition=2"),
];

/// Formats that LASTZ takes as an option of their own (`--axt` for `--format=axt`).
const FORMAT_OPTIONS: &[&str] = &[
    "lav",
    "lav+",
    "lav+text",
    "axt",
    "axt+",
    "axt:size2",
    "waxt",
    "maf",
    "maf+",
    "maf-",
    "sam",
    "sam-",
    "softsam",
    "softsam-",
    "cigar",
    "gfa",
    "mafsegments",
    "LAV",
    "LAV+",
    "AXT",
    "AXT+",
    "WAXT",
    "MAF",
    "MAF+",
    "MAF-",
    "MAFSEGMENTS",
    "SAM",
    "SAM-",
    "SOFTSAM",
    "SOFTSAM-",
    "CIGAR",
    "GFA",
];

/// Options that LASTZ 1.04.22 lacks; headers do not show them.
const OURS: &[&str] = &[
    "--threads",
    "--device",
    "--gpu-memory",
    "--all-on-device",
    "--report",
    "--quiet",
    "--program-token",
    "--untruncated",
    "--relaxed",
    "--eqx",
];

/// Options of LASTZ that fastz refuses, and the way out. An entry that ends in `:` or `=` matches any continuation.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("--noxtrim", "LASTZ never implemented it; leave it out"),
    ("--stats", "use --report=<file.json> for counts and times"),
    ("--stats=", "use --report=<file.json> for counts and times"),
    ("--infer", INFER),
    ("--infer=", INFER),
    ("--inferonly", INFER),
    ("--inferonly=", INFER),
    ("--infscores", INFER),
    ("--infscores=", INFER),
    ("--ball=", "it is for quantum DNA, which fastz does not read"),
    ("--tableonly", TABLE),
    ("--tableonly=", TABLE),
    ("--showtable", TABLE),
    ("--writecapsule=", CAPSULE),
    ("--targetcapsule=", CAPSULE),
    ("--chores=", "run each pair of intervals by itself, with subranges such as target.fa[1..1000]"),
    ("--debug=", "use --verbosity=<n> or --report=<file.json>"),
    ("--band=", "use --ydrop=<score> to narrow the search"),
    ("--force:", "leave it out"),
];

const INFER: &str = "infer the scores with lastz_D and give them with --scores=<file>";
const TABLE: &str = "fastz does not write its seed word table; leave it out";
const CAPSULE: &str = "fastz builds the target table anew each time; name the target file itself";

/// A shorthand of the Yasra assembler and the options that it stands for.
const YASRA: &[(&str, &str)] = &[
    ("98", "T=2 Z=20 --match=1,6 O=8 E=1 Y=20 K=22 L=30 --identity=98..100"),
    ("95", "T=2 Z=20 --match=1,5 O=8 E=1 Y=20 K=22 L=30 --identity=95..100"),
    ("90", "T=2 Z=20 --match=1,5 O=6 E=1 Y=20 K=22 L=30 --identity=90..100"),
    ("85", "T=2 --match=1,2 O=4 E=1 Y=20 K=22 L=30 --identity=85..100"),
    ("75", "T=2 --match=1,1 O=3 E=1 Y=20 K=22 L=30 --identity=75..100"),
    ("95short", "T=2 --match=1,7 O=6 E=1 Y=14 K=10 L=14 --identity=95..100"),
    ("85short", "T=2 --match=1,3 O=4 E=1 Y=14 K=11 L=14 --identity=85..100"),
];

/// The words that a whole word stands for, if it is a shorthand.
pub(super) fn whole_word(word: &str) -> Option<Vec<String>> {
    if let Some((_, meaning)) = WORDS.iter().find(|(spelling, _)| *spelling == word) {
        return Some(meaning.iter().map(|option| option.to_string()).collect());
    }
    let format = word.strip_prefix("--").filter(|name| FORMAT_OPTIONS.contains(name))?;
    Some(vec![format!("--format={format}")])
}

/// The words that there are with this letter and `=`, if it is one of those whose values have each a meaning of their own.
pub(super) fn values_of(letter: &str) -> Option<String> {
    let words: Vec<&str> =
        WORDS.iter().map(|(word, _)| *word).filter(|word| word.split('=').next() == Some(letter)).collect();
    (letter.len() == 1 && !words.is_empty()).then(|| words.join(", "))
}

/// `word` with an abbreviated beginning written out.
pub(super) fn spelled_out(word: &str) -> String {
    match PREFIXES.iter().find_map(|(short, long)| word.strip_prefix(short).map(|rest| (long, rest))) {
        Some((long, rest)) => format!("{long}{rest}"),
        None => word.to_string(),
    }
}

/// Why fastz does not take `word`, if it is an option that it knows but refuses.
pub(super) fn unsupported(word: &str) -> Option<&'static str> {
    let matches = |entry: &str| if entry.ends_with(['=', ':']) { word.starts_with(entry) } else { word == entry };
    UNSUPPORTED.iter().find(|(entry, _)| matches(entry)).map(|(_, way_out)| *way_out)
}

/// Whether LASTZ 1.04.22 has the option, so that headers show it.
pub(super) fn is_lastz_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    !OURS.contains(&name) && !word.starts_with("--axt=") && !word.starts_with("--maf=")
}

/// The options of `--yasra<level>`, without the two that versions up to 1.02.45 lacked.
pub(super) fn yasra(level: &str) -> Option<&'static str> {
    YASRA.iter().find(|(name, _)| *name == level).map(|(_, options)| *options)
}
