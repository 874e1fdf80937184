//! `--help=defaults` and `--show=defaults`: the settings in effect, in LASTZ's words.

use std::fmt::{Display, Write as _};

use fastz::options::{GapFreeExtension, HspThreshold, SelfComparison, Strands};
use fastz::seed::SeedPattern;

use super::invocation::Invocation;

impl Invocation {
    /// The settings in effect; formats with comments put `#` before each line.
    pub fn defaults_text(&self) -> String {
        let mut text = String::new();
        let target = with_actions(&self.target, &self.target_actions);
        let query = match (&self.query, self.options.self_comparison) {
            (Some(query), _) => with_actions(query, &self.query_actions),
            (None, SelfComparison::No) => "(no name)".to_string(),
            (None, _) => target.clone(),
        };
        let arguments: String = self.header_arguments.iter().map(|word| format!("{word} ")).collect();
        let _ = write!(
            text,
            "  target file spec = {target}\n  query file spec  = {query}\n  arguments        = {arguments}\n\n"
        );
        for (short, long) in settings(self) {
            let _ = writeln!(text, "  {short:<12} {long}");
        }
        text.push_str("\n  (substitution scores)\n");
        let scoring = &self.options.scoring;
        let letters: String = scoring.columns.iter().map(|&letter| format!(" {:>4}", char::from(letter))).collect();
        let _ = writeln!(text, " {letters}");
        for &row in &scoring.rows {
            let scores = scoring.columns.iter().map(|&column| format!(" {:>4}", scoring.gapped.get(row, column)));
            let _ = writeln!(text, " {}", scores.collect::<String>());
        }
        text
    }
}

fn with_actions(file: &str, actions: &[String]) -> String {
    let bracketed = |action: &String| if action.starts_with('[') { action.clone() } else { format!("[{action}]") };
    file.to_string() + &actions.iter().map(bracketed).collect::<String>()
}

/// A one-letter option (may be empty) and a long one.
type Setting = (String, String);

fn both(short: &str, long: &str, value: impl Display) -> Setting {
    (format!("{short}={value}"), format!("{long}={value}"))
}

fn long_only(long: String) -> Setting {
    (String::new(), long)
}

fn settings(invocation: &Invocation) -> Vec<Setting> {
    let (options, header) = (&invocation.options, &invocation.header);
    let gapped = options.gapped.clone().unwrap_or_default();
    let mut settings = Vec::new();
    if options.self_comparison != SelfComparison::No {
        settings.push(long_only("--self".to_string()));
    }
    let (short, long) = match options.strands {
        Strands::Both => ("B=2", "--strand=both"),
        Strands::Plus => ("B=0", "--strand=plus"),
        Strands::Minus => ("B=-1", "--strand=minus"),
    };
    settings.push((short.to_string(), long.to_string()));
    settings.push(both("Z", "--step", options.seed.step));
    settings.push(seed_setting(&header.seed_pattern));
    settings.push(long_only(match options.seed.transitions {
        0 => "--notransition".to_string(),
        1 => "--transition".to_string(),
        count => format!("--transition={count}"),
    }));
    let (open, extend) = (options.scoring.gap_open, options.scoring.gap_extend);
    settings.push((format!("O={open} E={extend}"), format!("--gap={open},{extend}")));
    let threshold = |threshold| match threshold {
        HspThreshold::Score(score) => score.to_string(),
        HspThreshold::TopBases(bases) => format!("top{bases}"),
        HspThreshold::TopPercent(percent) => format!("top{percent:.1}%"),
    };
    if let GapFreeExtension::XDrop { .. } = options.gap_free {
        settings.push(both("K", "--hspthresh", threshold(header.hsp_threshold)));
    }
    settings.push(both("L", "--gappedthresh", threshold(header.gapped_threshold)));
    let (short, long) = if header.entropy { ("P=1", "--entropy") } else { ("P=0", "--noentropy") };
    settings.push((short.to_string(), long.to_string()));
    settings.extend(match options.gap_free {
        GapFreeExtension::XDrop { x_drop, .. } => Some(both("X", "--xdrop", x_drop)),
        GapFreeExtension::Exact(length) => Some(long_only(format!("--exact={length}"))),
        GapFreeExtension::Mismatch { mismatches, min_len } => {
            Some(long_only(format!("--mismatch={mismatches},{min_len}")))
        }
        GapFreeExtension::None => None,
    });
    settings.push(both("Y", "--ydrop", header.y_drop));
    settings.push(both("H", "--inner", gapped.inner.map_or(0, |inner| inner.threshold)));
    settings.push(both("M", "--masking", options.masking));
    let traceback = header.traceback_bytes.map_or("unlimited".to_string(), |bytes| bytes.to_string());
    settings.push(both("m", "--allocate:traceback", traceback));
    settings
}

fn seed_setting(pattern: &str) -> Setting {
    let long = format!("--seed={pattern}");
    match pattern {
        SeedPattern::TWELVE_OF_19 => long_only(format!("{long} (12of19)")),
        SeedPattern::FOURTEEN_OF_22 => long_only(format!("{long} (14of22)")),
        _ if pattern.bytes().all(|place| place == b'1') => (format!("W={}", pattern.len()), long),
        _ => long_only(long),
    }
}
