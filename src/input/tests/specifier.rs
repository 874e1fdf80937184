//! The grammar of specifiers.

use crate::input::Specifier;
use crate::input::mask::{MaskAction, MaskKind};
use crate::input::name::NameRule;

fn parsed(text: &str) -> Specifier {
    Specifier::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn parts_of_a_specifier() {
    let spec = parsed("hg::d/g.2bit/chr1{mask}[multiple,unmask][nameparse=darkspace]-");
    assert_eq!(spec.nickname.as_deref(), Some("hg"));
    assert_eq!((spec.file(), spec.contig()), ("d/g.2bit", Some("chr1")));
    assert_eq!(spec.masks[0], MaskAction { kind: MaskKind::X, keeps_intervals: false, file: "mask".into() });
    assert!(spec.is_multiple() && spec.unmask && spec.is_reversed());
    assert_eq!(spec.name_rule, Some(NameRule::Darkspace));
    assert_eq!(parsed("a.fa/x").file(), "a.fa/x");
    assert_eq!(parsed("a.fa+").file(), "a.fa");
    assert_eq!(parsed("a.fa--").file(), "a.fa-");
    assert_eq!(parsed("a::b::c").file(), "b::c");
    assert_eq!(parsed("b.2bit/").contig(), Some(""));
}

#[test]
fn strands_toggle() {
    for (text, reversed) in [
        ("a-", true),
        ("a[revcomp]", true),
        ("a[revcomp]-", false),
        ("a[revcomp,revcomp]", false),
        ("a[90..11]", true),
        ("a[90,11]", true),
        ("a[90..11]-", false),
        ("a[11..90]-", true),
        ("a[revcomp][90..11]-", true),
    ] {
        assert_eq!(parsed(text).is_reversed(), reversed, "{text}");
    }
}

#[test]
fn actions_given_apart() {
    let mut spec = parsed("a.fa[unmask]");
    spec.add_actions("[multi][11..90]").unwrap();
    spec.add_actions("nickname=foo").unwrap();
    assert!(spec.clone().add_actions("unmask,unmask").is_err(), "a list with commas must be the first");
    assert!(spec.unmask && spec.multiple && spec.subrange.is_some() && spec.nickname.is_some());
    for bad in ["", "foo", "[unmask", "-", "[revcomp]-", "{m}", "1..5"] {
        assert!(spec.clone().add_actions(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_lastz_refuses_is_refused_in_one_line() {
    for text in [
        "",
        "-",
        "foo::",
        "::e.fa",
        "[unmask]e.fa",
        "e.fa[unmask",
        "e.fa[unmask]x",
        "e.fa[unmask][",
        "e.fa[unmask]--",
        "e.fa[unmask] ",
        "e.fa[unmask]{m}",
        "e.fa{m",
        "e.fa[unmask]]",
        "e.fa[[unmask]]",
        "e.fa[]",
        "e.fa[ ]",
        "e.fa[unmask,]",
        "e.fa[unmask,,revcomp]",
        "e.fa[,unmask]",
        "e.fa[ unmask ]",
        "e.fa[UNMASK]",
        "e.fa[foo]",
        "e.fa[softmask]",
        "e.fa[softmask=]",
        "e.fa[xmask=keep:]",
        "e.fa[softmask=a,softmask=b]",
        "e.fa{a}[xmask=b]",
        "e.fa[subset=]",
        "e.fa[subset=a,subset=b]",
        "e.fa[subsample=3/2]",
        "e.fa[subsample=0/2]",
        "e.fa[subsample=1]",
        "e.fa[subsample=1/2/3]",
        "e.fa[subsample=-1/2]",
        "e.fa[subsample=1/2,subsample=1/2]",
        "e.fa[sep=]",
        "e.fa[sep=NN]",
        "e.fa[sep=N,sep=X]",
        "e.fa[nickname=]",
        "e.fa[nickname=a,nickname=b]",
        "a::e.fa[nickname=b]",
        "e.fa[nickname=a,b]",
        "e.fa[nameparse=foo]",
        "e.fa[nameparse=tag]",
        "e.fa[nameparse=tag:]",
        "e.fa[nameparse=tag:a,nameparse=tag:b]",
        "e.fa[nameparse=darkspace,nameparse=tag:b]",
        "e.fa[format=foo]",
        "e.fa[format=FASTA]",
        "e.fa[format=fasta,format=fastq]",
        "e.fa[format=nib]",
        "e.fa[format=hsx]",
        "e.fa[format=csfasta]",
        "e.fa[format=qdna]",
        "e.fa[quantum]",
        "e.fa[quantum=f]",
        "e.fa[chores=f]",
        "e.fa[500]",
        "e.fa[500,unmask]",
        "e.fa[0..5]",
        "e.fa[0,5]",
        "e.fa[1..5,7..9]",
        "e.fa[1,5,7,9]",
        "e.fa[11,90,]",
        "e.fa[,90]",
        "e.fa[11,90+10%]",
        "e.fa[300-600]",
    ] {
        let error = Specifier::parse(text).expect_err(text).to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn what_lastz_accepts() {
    for text in [
        "e.fa[unmask,unmask]",
        "e.fa[multi,multiple]",
        "e.fa[subsample= 1/2]",
        "e.fa[separator= ]",
        "e.fa[fullname]",
        "e.fa[nameparse=full,nameparse=darkspace]",
        "e.fa[nameparse=darkspace,nameparse=alphanum]",
        "e.fa[softmask=keep:a,xmask=b,nmask=c]",
        "e.fa[11,90,unmask]",
        "e.fa[unmask,11,90]",
        "e.fa[11..90,unmask]",
        "e.fa[nickname=a b]",
        "e.fa[nickname=a:b]",
        "e.fa[format=fasta]",
    ] {
        parsed(text);
    }
    assert_eq!(parsed("e.fa[nameparse=darkspace,nameparse=alphanum]").name_rule, Some(NameRule::Alphanum));
}
