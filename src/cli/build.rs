//! From checked arguments to an [`Invocation`], with the defaults that depend on other options (lastz-semantics 8, 9).

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use fastz::Options;
use fastz::options::{
    BlockFilters, Contract, GappedOptions, GappedThreshold, InnerSearch, QueryLimits, SeedHitFilter, SeedOptions,
    SelfComparison, Strands,
};
use fastz::scoring::score_file::ScoreFile;
use fastz::scoring::setup::{BaseScores, ScoringSetup};

use super::arguments::{Arguments, StrandChoice};
use super::choices::Choices;
use super::invocation::{Census, Invocation, MaskingOutput};
use super::limits::Filter;
use super::seed_checks::{check_seed, pattern_text};
use super::thresholds::{Thresholds, traceback_bytes};
use super::values::{AmbiguousLetters, GapCost, Seed};

/// Builds the invocation; `header_arguments` come from the words as typed.
pub(super) fn build(arguments: Arguments, choices: Choices, header_arguments: Vec<String>) -> Result<Invocation> {
    let target = arguments.input.target.clone().ok_or_else(|| {
        anyhow!("you must specify a target file: fastz <target> [<query>] [options]; --help lists the options")
    })?;
    let setup = scoring_setup(&arguments)?;
    let score_file = match &setup.base {
        BaseScores::File(file) => Some(file),
        _ => None,
    };
    let scoring = setup.build()?;
    let thresholds = Thresholds::new(&arguments, &choices, &setup, &scoring);
    let mut warnings: Vec<String> =
        score_file.and_then(|file| thresholds.scale_warning(file, choices.mode)).into_iter().collect();
    if arguments.hsps.entropy.as_deref() == Some("report") {
        warnings.push("--entropy=report: HSPs that entropy discards are not listed; it acts as --entropy".to_string());
    }
    let (seed, seed_pattern) = seed_options(&arguments, score_file)?;
    let header = thresholds.for_headers(&arguments, choices.mode, seed_pattern);
    let options = Options {
        strands: match arguments.input.strand {
            None | Some(StrandChoice::Both) => Strands::Both,
            Some(StrandChoice::Plus) => Strands::Plus,
            Some(StrandChoice::Minus) => Strands::Minus,
        },
        self_comparison: match (arguments.input.self_comparison, arguments.post.nomirror) {
            (false, _) => SelfComparison::No,
            (true, false) => SelfComparison::Mirrored,
            (true, true) => SelfComparison::OneSided,
        },
        no_trivial: arguments.post.notrivial || arguments.input.self_comparison,
        seed,
        gap_free: thresholds.gap_free,
        hsp_threshold: thresholds.hsp_threshold(),
        chain: choices.chain,
        gapped: choices.gapped.then(|| gapped_options(&arguments, &thresholds)),
        filters: block_filters(&arguments),
        masking: arguments.post.masking.unwrap_or(0),
        limits: QueryLimits {
            hsp_limit: arguments.limits.queryhsplimit.filter(|_| !choices.stops_early),
            hsp_best: arguments.limits.queryhspbest,
            depth: arguments.limits.querydepth.flatten(),
            blocks: arguments.limits.query_limit.filter(|_| choices.stops_early),
            counts_runs: choices.gapped && choices.prints_runs,
        },
        threads: arguments.performance.threads.unwrap_or(0),
        scoring,
    };
    let masking_outputs = masking_outputs(&arguments);
    let census = census(&arguments);
    let (output, performance) = (arguments.output, arguments.performance);
    let invocation = Invocation {
        target,
        query: arguments.input.query,
        target_actions: arguments.input.target_action,
        query_actions: arguments.input.query_action,
        options,
        header,
        header_arguments,
        ambiguous: setup.ambiguity.is_some(),
        iupac: setup.ambiguity.is_some_and(|ambiguity| ambiguity.iupac),
        scores: arguments.scoring.scores.into_iter().next(),
        segments: arguments.hsps.segments.into_iter().next(),
        format: choices.format.clone(),
        prints_runs: choices.prints_runs,
        output: output.output,
        mark_end: output.markend,
        rdotplot: choices.rdotplot.clone(),
        axt: output.axt,
        maf: output.maf,
        read_group: (!output.readgroup.is_empty()).then(|| output.readgroup.join("\t")),
        eqx: output.eqx,
        expand: output.expand.unwrap_or(0),
        laj: output.laj,
        nolaj: output.nolaj,
        masking_outputs,
        census,
        show_defaults: output.show.is_some(),
        program_token: output
            .program_token
            .unwrap_or_else(|| concat!("fastz.v", env!("CARGO_PKG_VERSION")).to_string()),
        device: performance.device.unwrap_or_default(),
        gpu_memory: performance.gpu_memory,
        all_on_device: performance.all_on_device,
        report: performance.report,
        quiet: performance.quiet,
        // The last number counts, and one option that asks for the masked bases is enough.
        progress: performance
            .progress
            .last()
            .and_then(|last| u32::try_from(last.every).ok())
            .filter(|&every| every > 0),
        progress_masking: performance.progress.iter().any(|progress| progress.with_masking),
        verbosity: performance.verbosity.unwrap_or(0),
        runtime: performance.runtime,
        truncation_report: !performance.notruncationreport,
        warnings,
    };
    check_partitions(&invocation, &choices)?;
    Ok(invocation)
}

fn scoring_setup(arguments: &Arguments) -> Result<ScoringSetup> {
    let scoring = &arguments.scoring;
    let base = match (scoring.match_scores, scoring.scores.first()) {
        (Some(scores), _) => BaseScores::Match { reward: scores.reward, penalty: scores.penalty },
        (None, Some(path)) => BaseScores::File(ScoreFile::read(path)?),
        (None, None) => BaseScores::Hoxd70,
    };
    let ambiguity = AmbiguousLetters::combined(&scoring.ambiguous);
    let mut setup = ScoringSetup { base, pairs: scoring.pair_score.clone(), ambiguity, ..Default::default() };
    for &cost in &scoring.gap {
        match cost {
            GapCost::Both(open, extend) => (setup.gap_open, setup.gap_extend) = (Some(open), Some(extend)),
            GapCost::Open(open) => setup.gap_open = Some(open),
            GapCost::Extend(extend) => setup.gap_extend = Some(extend),
        }
    }
    Ok(setup)
}

/// Seeding, and the pattern as headers show it. A seed on the command line hides the score file's, together with its transitions.
fn seed_options(arguments: &Arguments, file: Option<&ScoreFile>) -> Result<(SeedOptions, String)> {
    let seeding = &arguments.seeding;
    let default = || "12of19".parse::<Seed>().map_err(|why| anyhow!(why));
    let (seed, transitions) = match (seeding.seed.first(), file.and_then(|file| file.seed)) {
        (None, Some((name, transitions))) => (name.parse::<Seed>().map_err(|why| anyhow!(why))?, Some(transitions)),
        (seed, _) => (seed.cloned().map_or_else(default, Ok)?, seeding.transition),
    };
    let hit_filter = arguments.post.filter.iter().rev().find_map(|filter| match filter {
        Filter::SeedHits(filter) => Some(filter.clone()),
        _ => None,
    });
    let hit_filter: Option<SeedHitFilter> = hit_filter.flatten();
    let defaults = SeedOptions::default();
    let word_bits = seeding.word.unwrap_or(defaults.word_bits);
    let twins = seeding.twins.flatten();
    let transitions = transitions.unwrap_or(u8::from(seed.allows_transition));
    check_seed(&seed, transitions, word_bits, hit_filter.as_ref(), twins)?;
    let options = SeedOptions {
        pattern: fastz::seed::SeedPattern::parse(&seed.pattern).map_err(|why| anyhow!("--seed: {why}"))?,
        transitions,
        step: seeding.step.or(file.and_then(|file| file.step)).unwrap_or(defaults.step),
        word_bits,
        word_count_limit: seeding.maxwordcount.flatten(),
        hit_filter,
        twins,
        seed_queue: seeding.seedqueue.map_or(defaults.seed_queue, |entries| entries as usize),
        recover_hits: seeding.recoverseeds,
    };
    Ok((options, pattern_text(&seed.pattern, word_bits)))
}

fn gapped_options(arguments: &Arguments, thresholds: &Thresholds) -> GappedOptions {
    let gapped = &arguments.gapped;
    GappedOptions {
        contract: if gapped.relaxed { Contract::Relaxed } else { Contract::Exact },
        y_drop: thresholds.y_drop,
        threshold: thresholds.gapped.map_or(GappedThreshold::FromHsps, GappedThreshold::Score),
        trim_to_peak: !gapped.noytrim,
        all_bounds: gapped.allgappedbounds,
        traceback_bytes: traceback_bytes(arguments),
        inner: gapped
            .inner
            .filter(|&threshold| threshold > 0)
            .map(|threshold| InnerSearch { threshold, x_drop: thresholds.x_drop }),
    }
}

fn block_filters(arguments: &Arguments) -> BlockFilters {
    let post = &arguments.post;
    let mut filters = BlockFilters {
        identity: post.identity,
        coverage: post.coverage,
        continuity: post.continuity,
        min_matches: post.matchcount,
        ..BlockFilters::default()
    };
    for filter in &post.filter {
        match *filter {
            Filter::SeedHits(_) => {}
            Filter::Mismatches(most) => filters.max_mismatches = Some(most),
            Filter::Gaps(most) => filters.max_gaps = Some(most),
            Filter::GapColumns(most) => filters.max_gap_columns = Some(most),
        }
    }
    filters
}

fn masking_outputs(arguments: &Arguments) -> Vec<MaskingOutput> {
    let post = &arguments.post;
    [
        (&post.outputmasking, false, false),
        (&post.outputmasking_names, true, false),
        (&post.outputmasking_soft, false, true),
        (&post.outputmasking_soft_names, true, true),
    ]
    .into_iter()
    .flat_map(|(paths, names, soft)| paths.iter().map(move |path| MaskingOutput { path: path.clone(), names, soft }))
    .collect()
}

fn census(arguments: &Arguments) -> Option<Census> {
    let post = &arguments.post;
    if post.census.last().is_some_and(|file| file == "off") {
        return None;
    }
    let file = post.census.iter().find(|file| !["on", "off"].contains(&file.as_str()));
    let wide =
        [(file.map(PathBuf::from), 8), (post.census16.first().cloned(), 16), (post.census32.first().cloned(), 32)];
    let with_file = wide.into_iter().find(|(path, _)| path.is_some());
    match with_file {
        Some((path, bits)) => Some(Census { path, bits }),
        None => (!post.census.is_empty()).then_some(Census { path: None, bits: 8 }),
    }
}

/// Outputs that cannot tell the sequences of `[multiple]` apart.
fn check_partitions(invocation: &Invocation, choices: &Choices) -> Result<()> {
    let is_partitioned = invocation.target_is_partitioned() || invocation.query_is_partitioned();
    if is_partitioned && (choices.is_lav() || choices.is_gfa()) {
        bail!(
            "multiple action cannot be used with --format={}: choose another format, such as --format=maf",
            invocation.format
        );
    }
    // Names tell the sequences apart, but LASTZ allows that for soft masking only.
    let is_refused = |output: &&MaskingOutput| !(output.soft && output.names);
    if let Some(output) =
        invocation.masking_outputs.iter().find(is_refused).filter(|_| invocation.target_is_partitioned())
    {
        let option = if output.soft { "--outputmasking:soft" } else { "--outputmasking" };
        bail!(
            "multiple action cannot be used with {option}: use --outputmasking+:soft, or align to one sequence at a time"
        );
    }
    Ok(())
}
