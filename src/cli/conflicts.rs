//! Options that LASTZ refuses together (lastz-semantics 9.2). Most messages are LASTZ's, since users search for them.

use anyhow::{Result, bail};
use fastz::options::HspThreshold;

use super::arguments::Arguments;
use super::choices::{Choices, Mode};

/// Refuses what LASTZ refuses.
pub(super) fn check(arguments: &Arguments, choices: &Choices) -> Result<()> {
    check_once(arguments)?;
    check_input(arguments)?;
    check_gap_free(arguments, choices)?;
    check_gapped(arguments, choices)?;
    check_segments(arguments, choices)?;
    check_limits(arguments, choices)?;
    check_drops(arguments)?;
    check_output(arguments, choices)
}

/// Fails with `message` if `is_refused`.
fn refuse(is_refused: bool, message: &str) -> Result<()> {
    if is_refused { bail!("{message}") } else { Ok(()) }
}

fn check_once(arguments: &Arguments) -> Result<()> {
    let post = &arguments.post;
    let censuses = post.census.iter().filter(|file| !["on", "off"].contains(&file.as_str())).count();
    for (option, uses) in [
        ("seed (--seed, W=, T=1 to T=4)", arguments.seeding.seed.len()),
        ("--scores", arguments.scoring.scores.len()),
        ("--segments", arguments.hsps.segments.len()),
        ("--outputmasking", post.outputmasking.len() + post.outputmasking_names.len()),
        ("--outputmasking:soft", post.outputmasking_soft.len() + post.outputmasking_soft_names.len()),
        ("--census", censuses + post.census16.len() + post.census32.len()),
    ] {
        refuse(uses > 1, &format!("duplicated or conflicting option: {option} is given {uses} times, keep one"))?;
    }
    Ok(())
}

fn check_input(arguments: &Arguments) -> Result<()> {
    let (input, scoring) = (&arguments.input, &arguments.scoring);
    refuse(
        input.self_comparison && input.query.is_some(),
        "--self can't be used when you specify a query file: the target is the query",
    )?;
    refuse(
        input.query.is_none() && !input.query_action.is_empty(),
        "--action:query needs a query file: name one, or with --self give the actions to the target",
    )?;
    refuse(arguments.post.mirror && !input.self_comparison, "--mirror can only be used with --self")?;
    refuse(
        scoring.match_scores.is_some() && !scoring.scores.is_empty(),
        "can't use --match (or --unitscores) and --scores together",
    )
}

fn check_gap_free(arguments: &Arguments, choices: &Choices) -> Result<()> {
    let hsps = &arguments.hsps;
    refuse(arguments.seeding.rawhits && choices.mode != Mode::Hits, "--rawhits can't be used with --gfextend")?;
    if choices.mode == Mode::Hits {
        refuse(hsps.xdrop.is_some(), "--xdrop requires --gfextend")?;
        refuse(hsps.hspthresh.is_some(), "--hspthresh requires --gfextend")?;
        refuse(hsps.entropy.is_some(), "--entropy requires --gfextend")?;
        refuse(
            !choices.gapped && !arguments.scoring.scores.is_empty(),
            "--scores requires --gfextend or --gapped: nothing is scored",
        )?;
        refuse(
            arguments.seeding.rawhits && choices.gapped,
            "--rawhits is not supported with gapped extension: add --nogapped",
        )?;
    }
    refuse(choices.stray_chain_penalty, "G=<score> and R=<score> require --chain")
}

/// The last use of an option counts: `--xdrop=0 --xdrop=900` is fine.
fn check_drops(arguments: &Arguments) -> Result<()> {
    for (option, drop) in [("--xdrop", arguments.hsps.xdrop), ("--ydrop", arguments.gapped.ydrop)] {
        if let Some(drop) = drop.filter(|&drop| drop <= 0) {
            let name = &option[2..3];
            bail!("{option}={drop}: {drop} is not a legitimate {name}-drop threshold: it must be positive");
        }
    }
    Ok(())
}

fn check_gapped(arguments: &Arguments, choices: &Choices) -> Result<()> {
    let gapped = &arguments.gapped;
    let needs = [
        (!arguments.scoring.gap.is_empty(), "--gap (or O= or E=)"),
        (gapped.ydrop.is_some(), "--ydrop"),
        (gapped.gappedthresh.is_some(), "--gappedthresh"),
        (gapped.inner.is_some(), "--inner"),
        (gapped.noytrim, "--noytrim"),
        (gapped.allgappedbounds, "--allgappedbounds"),
        (gapped.relaxed, "--relaxed"),
    ];
    refuse(
        gapped.relaxed && gapped.noytrim,
        "--relaxed ends every extension at its best cell: leave out --noytrim, or --relaxed",
    )?;
    if choices.writes_segments {
        refuse(gapped.inner.is_some(), "--inner cannot be used with --writesegments or --format=segments")?;
        refuse(gapped.gapped, "can't use --writesegments or --format=segments with --gapped")?;
    }
    if let Some((_, option)) = needs.iter().find(|(is_given, _)| *is_given && !choices.gapped) {
        bail!("{option} requires --gapped");
    }
    let is_adaptive = |threshold: Option<HspThreshold>| threshold.is_some_and(|threshold| threshold.is_adaptive());
    refuse(
        is_adaptive(gapped.gappedthresh) && !is_adaptive(arguments.hsps.hspthresh),
        "gapped extension can't handle an adaptive score threshold (--gappedthresh=top...) unless --hspthresh is \
         adaptive too: give a score",
    )
}

/// `--segments` replaces seeding and gap-free extension, so their options make no sense with it.
fn check_segments(arguments: &Arguments, choices: &Choices) -> Result<()> {
    let hsps = &arguments.hsps;
    if hsps.segments.is_empty() {
        return Ok(());
    }
    let refused = |is_given: bool, option: &str| refuse(is_given, &format!("--segments can't be used with {option}"));
    refuse(
        !arguments.seeding.seed.is_empty(),
        "can't set word size or seed pattern with --segments (use --transition or --notransition instead of T=)",
    )?;
    refused(hsps.hspthresh.is_some(), "--hspthresh")?;
    refused(hsps.xdrop.is_some(), "--xdrop")?;
    refused(choices.chain.is_some(), "--chain")?;
    refused(arguments.input.self_comparison, "--self")
}

fn check_limits(arguments: &Arguments, choices: &Choices) -> Result<()> {
    let (limits, hsps) = (&arguments.limits, &arguments.hsps);
    let has_inner = arguments.gapped.inner.is_some_and(|threshold| threshold > 0);
    let is_adaptive = hsps.hspthresh.is_some_and(|threshold| threshold.is_adaptive());
    let others = [
        (has_inner, "--inner"),
        (!hsps.segments.is_empty(), "--segments"),
        (is_adaptive, "an adaptive hsp score threshold (--hspthresh=top...)"),
        (choices.chain.is_some(), "--chain"),
    ];
    let limit = match (choices.stops_early, limits.queryhsplimit.is_some()) {
        (true, _) => Some(("--anyornone (or --limitperquery)", &others[..])),
        // A limit on HSPs can be combined with chaining.
        (false, true) => Some(("--queryhsplimit", &others[..3])),
        (false, false) => None,
    };
    if let Some((limit, others)) = limit {
        for (is_given, other) in others {
            refuse(*is_given, &format!("can't use {limit} with {other}"))?;
        }
    }
    refuse(
        limits.queryhsplimit.is_some() && limits.queryhspbest.is_some(),
        "can't use --queryhsplimit with --queryhspbest",
    )
}

fn check_output(arguments: &Arguments, choices: &Choices) -> Result<()> {
    let (post, output) = (&arguments.post, &arguments.output);
    let has_mask_file = !post.outputmasking.is_empty() || !post.outputmasking_names.is_empty();
    refuse(has_mask_file && post.masking.unwrap_or(0) == 0, "--outputmasking requires --masking")?;
    let census_without_file = post.census.last().is_some_and(|file| file == "on");
    let census_with_file = !post.census16.is_empty()
        || !post.census32.is_empty()
        || post.census.iter().any(|file| file != "on" && file != "off");
    refuse(
        census_without_file && !census_with_file && !choices.is_lav(),
        &format!("--census with --format={} requires --census=<file>", choices.format),
    )?;
    if !output.readgroup.is_empty() {
        refuse(!choices.is_sam(), "--readgroup requires one of the SAM formats (e.g. --format=sam)")?;
        let has_id = output.readgroup.iter().flat_map(|tags| tags.split('\t')).any(|tag| tag.starts_with("ID:"));
        refuse(!has_id, "bad --readgroup string; ID is a required field, such as --readgroup=ID:run1")?;
    }
    refuse(
        output.format.iter().any(|format| format.starts_with("rdotplot")) && choices.rdotplot.is_some(),
        "--format=rdotplot can't be used with --rdotplot=<file>",
    )
}
