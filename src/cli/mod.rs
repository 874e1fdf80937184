//! The command line: LASTZ's options, and ours (lastz-semantics 8, 9).
//!
//! ```text
//! words -> normalise   one canonical spelling per option (spellings: the tables)
//!       -> arguments   clap reads the values (values, limits: one reader per kind of value)
//!       -> choices     what several options decide together
//!       -> conflicts   what LASTZ refuses
//!       -> build       defaults that depend on other options -> Invocation
//! ```

mod arguments;
mod build;
mod choices;
mod conflicts;
mod defaults;
mod help;
pub mod invocation;
mod limits;
mod normalise;
mod output_arguments;
mod seed_checks;
mod spellings;
mod thresholds;
mod values;

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use arguments::Arguments;
use choices::Choices;
pub use invocation::{Device, Invocation};
use normalise::CommandLine;

/// What the user wants.
#[derive(Debug)]
pub enum Request {
    /// An alignment.
    Align(Box<Invocation>),
    /// The list of devices.
    Devices,
    /// A text on standard output, such as help.
    Print(String),
}

impl Request {
    /// Understands the words after the program name.
    pub fn from_args(words: impl IntoIterator<Item = String>) -> Result<Request> {
        let words: Vec<String> = words.into_iter().collect();
        match words.as_slice() {
            [devices] if devices == "devices" => return Ok(Request::Devices),
            // A target may have that name.
            [devices, other, ..] if devices == "devices" && !Path::new(devices).exists() => {
                bail!("devices lists the devices and takes nothing else: leave out {other}")
            }
            _ => {}
        }
        let mut line = CommandLine::from_words(words)?;
        let header_arguments = std::mem::take(&mut line.header_arguments);
        let understood = |arguments| invocation(arguments, header_arguments).map_err(|error| line.explain(error));
        let mut arguments = parse(&line)?;
        if arguments.performance.version {
            return Ok(Request::Print(format!("fastz {}\n", env!("CARGO_PKG_VERSION"))));
        }
        match arguments.performance.help.take().as_deref() {
            None => {}
            Some("options") => return Ok(Request::Print(Arguments::command().render_help().to_string())),
            Some("defaults") => {
                return Ok(Request::Print(understood(arguments)?.defaults_text()));
            }
            Some(topic) => return Ok(Request::Print(help::topic(topic)?.to_string())),
        }
        Ok(Request::Align(Box::new(understood(arguments)?)))
    }
}

impl Invocation {
    /// Understands the words after the program name, if they ask for an alignment.
    #[cfg(test)]
    fn from_args(words: impl IntoIterator<Item = String>) -> Result<Invocation> {
        match Request::from_args(words)? {
            Request::Align(invocation) => Ok(*invocation),
            other => anyhow::bail!("not an alignment: {other:?}"),
        }
    }
}

fn invocation(arguments: Arguments, header_arguments: Vec<String>) -> Result<Invocation> {
    let choices = Choices::from_arguments(&arguments)?;
    conflicts::check(&arguments, &choices)?;
    build::build(arguments, choices, header_arguments)
}

fn parse(line: &CommandLine) -> Result<Arguments> {
    let words = std::iter::once("fastz")
        .chain(line.options.iter().map(String::as_str))
        .chain(std::iter::once("--"))
        .chain(line.files.iter().map(String::as_str));
    Arguments::try_parse_from(words).map_err(|error| {
        // clap knows only the canonical option. Each is right or wrong by itself.
        let wrong = line.options.iter().zip(&line.typed).find_map(|(option, typed)| {
            let error = Arguments::try_parse_from(["fastz", option]).err()?;
            Some(one_line(&error, typed))
        });
        wrong.unwrap_or_else(|| anyhow!("{error}"))
    })
}

/// clap's error as one line that names what was typed and the way out.
fn one_line(error: &clap::Error, typed: &str) -> anyhow::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" or "),
        _ => String::new(),
    };
    let name = typed.split(['=', ' ']).next().unwrap_or(typed);
    match error.kind() {
        ErrorKind::UnknownArgument => match context(ContextKind::SuggestedArg).as_str() {
            "" => anyhow!("unknown option {typed}; --help lists the options"),
            suggestion => anyhow!("unknown option {typed}; did you mean {suggestion}?"),
        },
        ErrorKind::TooManyValues => anyhow!("{typed}: {name} takes no value, write it alone"),
        _ if context(ContextKind::InvalidValue).is_empty() => anyhow!("{name} needs a value: write {name}=<value>"),
        ErrorKind::ValueValidation => match std::error::Error::source(error) {
            Some(source) => anyhow!("{typed}: {source}"),
            None => anyhow!("{typed} cannot be understood"),
        },
        _ => match context(ContextKind::ValidValue).as_str() {
            "" => anyhow!("{typed} cannot be understood; --help lists the values"),
            values => anyhow!("{typed} cannot be understood: write {name}={values}"),
        },
    }
}

#[cfg(test)]
mod tests;
