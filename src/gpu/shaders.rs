//! The WGSL files and how they become one text: constants, then the files that a kernel requires, then the kernel.
//!
//! A kernel's `// requires:` line names its commons. `exchange` stands for `subgroup` or `workgroup`, as the
//! [`Variant`] says, `bounds` for `bounded` or `unbounded`, `cells` for `cells_in_registers` or `cells_in_memory`. Lines
//! between `// for each ...` and `// end` are repeated, so that all per-column state lives in registers and short loops
//! cost nothing:
//! ```text
//! // for each column k     $k  column 0, 1, ...             $w  word of eight columns that holds it
//!                          $m  word of kept bits            $b  its bit there
//! // for each word w       $w  word of eight columns        $r  the same from the other end
//! // for each kept word m  $m  word of kept bits
//! // for each distance s   $s  1, 2, 4, ... below the number of lanes
//! // for each stripe row r $r  row of a lane of the stripe sweep
//! // for each form f       $form, $finds_best, $is_full: forms of the relaxed column; repeats may lie inside
//! // for each step u       $u  step of a turn of the stripe sweep
//! // for each later page p  $p  binding of the target's bases after the first, the last one first     $b  its number
//! // for each plain sweep p      once if the variant sweeps plain rows apart, else never
//! // for each branching sweep p  the other way round
//! anywhere                 $last  the last column          $last_row  the last stripe row
//! ```
//! The sweeps hold no other loops than those over runs and rows: lavapipe (Mesa 22) ends all loops of an invocation
//! after 65,535 turns in total.

use super::layout;
use super::variant::{Exchange, Variant};

/// A kernel that a host can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shader {
    /// `shaders/exact_inspector.wgsl`
    ExactInspector,
    /// `shaders/exact_executor.wgsl`
    ExactExecutor,
    /// `shaders/traceback.wgsl`
    Traceback,
    /// `shaders/screen.wgsl`
    Screen,
    /// `shaders/relaxed_inspector.wgsl`
    RelaxedInspector,
    /// `shaders/relaxed_executor.wgsl`
    RelaxedExecutor,
    /// `shaders/relaxed_traceback.wgsl`
    RelaxedTraceback,
    /// `shaders/seed_lookup.wgsl`
    SeedLookup,
    /// `shaders/seed_frequent.wgsl`
    SeedFrequent,
    /// `shaders/seed_settle.wgsl`
    SeedSettle,
    /// `shaders/seed_walk.wgsl`
    SeedWalk,
}

impl Shader {
    /// All kernels.
    pub const ALL: [Shader; 11] = [
        Shader::ExactInspector,
        Shader::ExactExecutor,
        Shader::Traceback,
        Shader::Screen,
        Shader::RelaxedInspector,
        Shader::RelaxedExecutor,
        Shader::RelaxedTraceback,
        Shader::SeedLookup,
        Shader::SeedFrequent,
        Shader::SeedSettle,
        Shader::SeedWalk,
    ];

    /// File name without extension, in `shaders/`.
    pub fn name(self) -> &'static str {
        match self {
            Shader::ExactInspector => "exact_inspector",
            Shader::ExactExecutor => "exact_executor",
            Shader::Traceback => "traceback",
            Shader::Screen => "screen",
            Shader::RelaxedInspector => "relaxed_inspector",
            Shader::RelaxedExecutor => "relaxed_executor",
            Shader::RelaxedTraceback => "relaxed_traceback",
            Shader::SeedLookup => "seed_lookup",
            Shader::SeedFrequent => "seed_frequent",
            Shader::SeedSettle => "seed_settle",
            Shader::SeedWalk => "seed_walk",
        }
    }

    /// The file's text.
    pub fn source(self) -> &'static str {
        match self {
            Shader::ExactInspector => include_str!("../../shaders/exact_inspector.wgsl"),
            Shader::ExactExecutor => include_str!("../../shaders/exact_executor.wgsl"),
            Shader::Traceback => include_str!("../../shaders/traceback.wgsl"),
            Shader::Screen => include_str!("../../shaders/screen.wgsl"),
            Shader::RelaxedInspector => include_str!("../../shaders/relaxed_inspector.wgsl"),
            Shader::RelaxedExecutor => include_str!("../../shaders/relaxed_executor.wgsl"),
            Shader::RelaxedTraceback => include_str!("../../shaders/relaxed_traceback.wgsl"),
            Shader::SeedLookup => include_str!("../../shaders/seed_lookup.wgsl"),
            Shader::SeedFrequent => include_str!("../../shaders/seed_frequent.wgsl"),
            Shader::SeedSettle => include_str!("../../shaders/seed_settle.wgsl"),
            Shader::SeedWalk => include_str!("../../shaders/seed_walk.wgsl"),
        }
    }
}

/// Files in `shaders/common/`: name and text.
const COMMONS: &[(&str, &str)] = &[
    ("layout", include_str!("../../shaders/common/layout.wgsl")),
    ("exact_bindings", include_str!("../../shaders/common/exact_bindings.wgsl")),
    ("letters", include_str!("../../shaders/common/letters.wgsl")),
    ("plain_rows", include_str!("../../shaders/common/plain_rows.wgsl")),
    ("row", include_str!("../../shaders/common/row.wgsl")),
    ("run", include_str!("../../shaders/common/run.wgsl")),
    ("cells_in_registers", include_str!("../../shaders/common/cells_in_registers.wgsl")),
    ("cells_in_memory", include_str!("../../shaders/common/cells_in_memory.wgsl")),
    ("bounded", include_str!("../../shaders/common/bounded.wgsl")),
    ("spans", include_str!("../../shaders/common/spans.wgsl")),
    ("unbounded", include_str!("../../shaders/common/unbounded.wgsl")),
    ("links", include_str!("../../shaders/common/links.wgsl")),
    ("relaxed_column", include_str!("../../shaders/common/relaxed_column.wgsl")),
    ("relaxed_run", include_str!("../../shaders/common/relaxed_run.wgsl")),
    ("relaxed_stripe", include_str!("../../shaders/common/relaxed_stripe.wgsl")),
    ("stripe_plan", include_str!("../../shaders/common/stripe_plan.wgsl")),
    ("walk", include_str!("../../shaders/common/walk.wgsl")),
    ("stripe", include_str!("../../shaders/common/stripe.wgsl")),
    ("seed_blocks", include_str!("../../shaders/common/seed_blocks.wgsl")),
    ("seed_bases", include_str!("../../shaders/common/seed_bases.wgsl")),
    ("seed_layout", include_str!("../../shaders/common/seed_layout.wgsl")),
    ("seed_lookup", include_str!("../../shaders/common/seed_lookup.wgsl")),
    ("seed_run", include_str!("../../shaders/common/seed_run.wgsl")),
    ("seed_scores", include_str!("../../shaders/common/seed_scores.wgsl")),
    ("seed_settle", include_str!("../../shaders/common/seed_settle.wgsl")),
    ("seed_sort", include_str!("../../shaders/common/seed_sort.wgsl")),
    ("seed_tallies", include_str!("../../shaders/common/seed_tallies.wgsl")),
    ("subgroup", include_str!("../../shaders/common/subgroup.wgsl")),
    ("workgroup", include_str!("../../shaders/common/workgroup.wgsl")),
];

/// The joined text of a kernel and where its lines come from.
#[derive(Clone, Debug)]
pub struct ShaderText {
    /// WGSL.
    pub text: String,
    /// Per line: file and line in that file.
    origins: Vec<(String, u32)>,
}

impl ShaderText {
    /// File and line (1-based) of a line (1-based) of the joined text.
    pub fn origin(&self, line: u32) -> String {
        match self.origins.get(line.saturating_sub(1) as usize) {
            Some((file, line)) => format!("{file}:{line}"),
            None => "the end".to_string(),
        }
    }

    fn add(&mut self, file: &str, source: &str, variant: &Variant) {
        let lines: Vec<Line> = source.lines().map(str::to_string).enumerate().collect();
        self.add_lines(file, &lines, variant);
    }

    fn add_lines(&mut self, file: &str, lines: &[Line], variant: &Variant) {
        let mut rest = lines;
        while let [(number, line), after @ ..] = rest {
            rest = after;
            let Some(unit) = line.strip_prefix("// for each ") else {
                let last_row = (variant.stripe_rows - 1).to_string();
                let line = line.replace("$last_row", &last_row).replace("$last", &(variant.columns - 1).to_string());
                self.add_line(file, *number, &line);
                continue;
            };
            let (body, after) = body_and_rest(rest);
            rest = after;
            let turns: Vec<Vec<(&str, String)>> = match unit {
                "column k" => (0..variant.columns).map(column_names).collect(),
                "word w" => (0..variant.words()).map(|word| word_names(word, variant)).collect(),
                "kept word m" => (0..variant.kept_words()).map(|word| vec![("$m", word.to_string())]).collect(),
                "step u" => (0..variant.stripe_steps()).map(|step| vec![("$u", step.to_string())]).collect(),
                "stripe row r" => (0..variant.stripe_rows).map(|row| vec![("$r", row.to_string())]).collect(),
                "distance s" => (0..variant.lanes.ilog2()).map(|step| vec![("$s", (1 << step).to_string())]).collect(),
                "later page p" => (1..variant.target_pages).rev().map(page_names).collect(),
                "branching sweep p" => vec![Vec::new(); usize::from(!variant.sweeps_plain_rows)],
                "plain sweep p" => vec![Vec::new(); usize::from(variant.sweeps_plain_rows)],
                "form f" => FORMS.map(form_names).to_vec(),
                other => panic!("{file}:{}: cannot repeat for each {other}", number + 1),
            };
            for names in turns {
                let fill =
                    |line: &str| names.iter().fold(line.to_string(), |line, (name, text)| line.replace(name, text));
                let filled: Vec<Line> = body.iter().map(|(number, line)| (*number, fill(line))).collect();
                self.add_lines(file, &filled, variant);
            }
        }
    }

    fn add_line(&mut self, file: &str, number: usize, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origins.push((file.to_string(), number as u32 + 1));
    }
}

/// Number, from 0, and text of a line of a file.
type Line = (usize, String);

/// The lines up to the `// end` that belongs to a `// for each`, and those after it.
fn body_and_rest(lines: &[Line]) -> (&[Line], &[Line]) {
    let mut depth = 1;
    let is_end = |(_, line): &Line| {
        depth += i32::from(line.starts_with("// for each ")) - i32::from(line == "// end");
        depth == 0
    };
    let end = lines.iter().position(is_end).unwrap_or(lines.len());
    (&lines[..end], lines.get(end + 1..).unwrap_or_default())
}

/// Forms of the relaxed column: name, whether it finds the best cell, whether it keeps links and takes odd letters.
const FORMS: [(&str, bool, bool); 3] = [("quiet", false, false), ("near_best", true, false), ("full", true, true)];

fn form_names((name, finds_best, is_full): (&str, bool, bool)) -> Vec<(&'static str, String)> {
    vec![("$form", name.to_string()), ("$finds_best", finds_best.to_string()), ("$is_full", is_full.to_string())]
}

/// Numbers of bindings that no kernel's own ones have.
const PAGE_BINDINGS: u32 = 16;

fn page_names(page: u32) -> Vec<(&'static str, String)> {
    vec![("$p", page.to_string()), ("$b", (PAGE_BINDINGS + page).to_string())]
}

fn column_names(column: u32) -> Vec<(&'static str, String)> {
    vec![
        ("$k", column.to_string()),
        ("$w", (column / 8).to_string()),
        ("$m", (column / 32).to_string()),
        ("$b", format!("{:#x}u", 1u32 << (column % 32))),
    ]
}

fn word_names(word: u32, variant: &Variant) -> Vec<(&'static str, String)> {
    vec![("$w", word.to_string()), ("$r", (variant.words() - 1 - word).to_string())]
}

/// Names on the kernel's `// requires:` line.
pub fn requirements(source: &str) -> Vec<&str> {
    let line = source.lines().find_map(|line| line.strip_prefix("// requires:"));
    line.map_or(Vec::new(), |names| names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
}

/// The text of `shader` for `variant`.
///
/// # Panics
/// If a shader file requires a common that does not exist; a test assembles all of them.
pub fn assemble(shader: Shader, variant: &Variant) -> ShaderText {
    let mut text = ShaderText { text: String::new(), origins: Vec::new() };
    text.add("constants", &(variant.constants() + &layout::constants()), variant);
    let is_required = |name: &&str| *name != "plain_rows" || variant.sweeps_plain_rows;
    for name in requirements(shader.source()).into_iter().filter(is_required) {
        let name = match (name, variant.exchange) {
            ("exchange", Exchange::Subgroup) => "subgroup",
            ("exchange", Exchange::Workgroup) => "workgroup",
            ("bounds", _) if variant.is_bounded => "bounded",
            ("bounds", _) => "unbounded",
            ("cells", _) if variant.has_cyclic_buffers => "cells_in_registers",
            ("cells", _) => "cells_in_memory",
            (name, _) => name,
        };
        let (_, source) = COMMONS.iter().find(|(common, _)| *common == name).expect("a file in shaders/common");
        text.add(&format!("shaders/common/{name}.wgsl"), source, variant);
    }
    text.add(&format!("shaders/{}.wgsl", shader.name()), shader.source(), variant);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_joined_text_are_traced_to_their_files() {
        let variant = Variant::subgroup(32, 8);
        let text = assemble(Shader::ExactInspector, &variant);
        let line = 1 + text.text.lines().position(|line| line.starts_with("fn keep_cells")).unwrap() as u32;
        let source = COMMONS.iter().find(|(name, _)| *name == "row").unwrap().1;
        let expected = 1 + source.lines().position(|line| line.starts_with("fn keep_cells")).unwrap();
        assert_eq!(text.origin(line), format!("shaders/common/row.wgsl:{expected}"));
        assert!(!text.text.contains('$'));
    }
}
