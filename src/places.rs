//! Files that a run reads and writes: no output may take the place of an input, or of another output.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use fastz::input::Specifier;

use crate::cli::Invocation;

/// Refuses outputs that would replace a file that is read, or each other.
///
/// # Errors
/// With the option and the file.
pub fn check(invocation: &Invocation, sequence_files: [&Specifier; 2]) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs(invocation, sequence_files).iter().map(|path| place(path)).collect();
    let outputs = outputs(invocation);
    for (i, &(option, path)) in outputs.iter().enumerate() {
        // Devices and pipes are written to as they are, by several options if need be.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            continue;
        }
        let shown = path.display();
        if inputs.contains(&place(path)) {
            bail!("{option}={shown} would replace a file that the run reads: name another file");
        }
        if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| place(other) == place(path)) {
            bail!("{other} and {option} would both be written to {shown}: name two files");
        }
    }
    Ok(())
}

fn inputs<'a>(invocation: &'a Invocation, sequence_files: [&'a Specifier; 2]) -> Vec<&'a Path> {
    let included = invocation.header_arguments.iter().filter_map(|word| word.strip_prefix("--include="));
    let named = sequence_files.into_iter().flat_map(Specifier::files).chain(included).map(Path::new);
    named.chain([&invocation.scores, &invocation.segments].into_iter().flatten().map(PathBuf::as_path)).collect()
}

/// Options with the files that they have written.
fn outputs(invocation: &Invocation) -> Vec<(&'static str, &Path)> {
    let output = if invocation.format == "segments" { "--writesegments" } else { "--output" };
    let masking = invocation.masking_outputs.iter().map(|masking| {
        let option = match (masking.names, masking.soft) {
            (false, false) => "--outputmasking",
            (true, false) => "--outputmasking+",
            (false, true) => "--outputmasking:soft",
            (true, true) => "--outputmasking+:soft",
        };
        (option, Some(&masking.path))
    });
    let census = invocation.census.as_ref().and_then(|census| census.path.as_ref());
    [
        (output, invocation.output.as_ref()),
        ("--rdotplot", invocation.rdotplot.as_ref().map(|(path, _)| path)),
        ("--axt", invocation.axt.as_ref()),
        ("--maf", invocation.maf.as_ref()),
        ("--census", census),
        ("--report", invocation.report.as_ref()),
    ]
    .into_iter()
    .chain(masking)
    .filter_map(|(option, path)| Some((option, path?.as_path())))
    .collect()
}

/// The same for all names of a file, links followed; one that is not there yet has the place of its folder.
fn place(path: &Path) -> PathBuf {
    let folder = || path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize().unwrap_or_else(|_| match (folder().canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    })
}
