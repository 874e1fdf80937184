//! Texts of `--help=<topic>`.

use anyhow::{Result, bail};

/// Below the options of `--help`.
pub const AFTER_OPTIONS: &str = "\
Scores take K, M and G (1000, 1000000, ...), memory takes them as powers of 1024.
A single pair is scored with XY:<score>, such as AC:-90 (target A, query C).
LASTZ's short forms (K=, L=, T=, ...), aliases and --yasraNN are understood: --help=shortcuts, --help=yasra.
Not supported: --infer, --chores, --writecapsule, --targetcapsule, --tableonly, --debug, --ball, --noxtrim, --stats.";

const SHORTCUTS: &str = "\
  B=0, B=2, B=-1  --strand=plus, both, minus          [B=2]
  C=0             --nochain --gapped                  [C=0]
  C=1             --chain --nogapped
  C=2             --chain --gapped
  C=3             --nochain --nogapped
  c=1             --census                            [c=0]
  E=<penalty>     --gap=<..,penalty>                  [E=30]
  G=<score>       --chain=<score,..>                  [G=0]
  H=<score>       --inner=<score>                     [H=0]
  K=<score>       --hspthresh=<score>                 [K=3000]
  L=<score>       --gappedthresh=<score>              [L=K]
  M=<count>       --masking=<count>                   [M=0]
  m=<bytes>       --allocate:traceback=<bytes>        [m=80.0M]
  O=<penalty>     --gap=<penalty,..>                  [O=400]
  P=0, P=1, P>1   --noentropy, --entropy, --entropy=report  [P=1]
  Q=<file>        --scores=<file>                     [HOXD70]
  R=<score>       --chain=<..,score>                  [R=0]
  T=0             --notransition
  T=1, T=2        --seed=12of19 with --transition, --notransition  [T=1]
  T=3, T=4        --seed=14of22 with --transition, --notransition
  U=<R>[,<P>]     --match=<R>[,<P>]
  v=0, v=1        --verbosity=0, --verbosity=10       [v=0]
  W=<length>      --seed=match<length>
  X=<score>       --xdrop=<score>                     [X=10*score of A with A]
  Y=<score>       --ydrop=<score>                     [Y=O+300*E]
  Z=<length>      --step=<length>                     [Z=1]
";

const YASRA: &str = "\
  --yasra98       T=2 Z=20 --match=1,6 O=8 E=1 Y=20 K=22 L=30 --identity=98..100 --ambiguous=n --noytrim
  --yasra95       T=2 Z=20 --match=1,5 O=8 E=1 Y=20 K=22 L=30 --identity=95..100 --ambiguous=n --noytrim
  --yasra90       T=2 Z=20 --match=1,5 O=6 E=1 Y=20 K=22 L=30 --identity=90..100 --ambiguous=n --noytrim
  --yasra85       T=2      --match=1,2 O=4 E=1 Y=20 K=22 L=30 --identity=85..100 --ambiguous=n --noytrim
  --yasra75       T=2      --match=1,1 O=3 E=1 Y=20 K=22 L=30 --identity=75..100 --ambiguous=n --noytrim
  --yasra95short  T=2      --match=1,7 O=6 E=1 Y=14 K=10 L=14 --identity=95..100 --ambiguous=n --noytrim
  --yasra85short  T=2      --match=1,3 O=4 E=1 Y=14 K=11 L=14 --identity=85..100 --ambiguous=n --noytrim
With a version up to 1.02.45 (--yasra98:1.02.45) the last two options are left out.
";

const FORMATS: &str = "\
  lav, lav+, lav+text         blastz's format (default)
  axt, axt+, axt:size2        UCSC pairwise text; + adds comments
  maf, maf+, maf-             multiple alignment format; - leaves the header out
  sam, softsam, sam-, softsam-  hard or soft clipping; - leaves the header out
  paf, paf:wfmash             minimap2's and wfmash's tables
  cigar                       Exonerate's one-line format
  general[:<fields>]          a table of your fields; general-: no header line
  mapping                     general with fields for mapped reads
  blastn, blastn-             blastn's table
  differences                 one line per difference
  segments                    HSPs for --segments
  rdotplot, rdotplot+score    for plotting in R
  text, ztext                 for reading
  gfa, none                   lastz's gfa; nothing
";

const FILES: &str = "\
  [nickname::]file[/sequence][{maskfile}][actions][-]
  file        fasta or fastq; 2bit with an optional /sequence; - reverses and complements it
  actions     in brackets, comma-separated, or with --action:target= and --action:query=
    a..b, a.., ..b, a#n, c^n   part of each sequence
    multiple                   align to all sequences of the file as to one
    unmask                     upper-case all bases
    subset=<file>              only the sequences named in a file
    nameparse=full|alphanum|darkspace|tag:<text>  how names are shortened
    nickname=<name>            one name for all
    revcomp                    reverse complement
    softmask=, xmask=, nmask=[keep:]<file>  mask intervals
    separator=<letter>         split sequences at a letter
    subsample=k/n              every n-th sequence
    format=<type>              fasta, fastq or 2bit, whatever the file looks like
";

/// The text of a topic other than `options` and `defaults`.
pub fn topic(name: &str) -> Result<&'static str> {
    Ok(match name {
        "shortcuts" => SHORTCUTS,
        "yasra" => YASRA,
        "formats" => FORMATS,
        "files" => FILES,
        _ => bail!("there is no help about \"{name}\"; --help alone, or =files, formats, shortcuts, yasra, defaults"),
    })
}
