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
        let line = CommandLine::from_words(words)?;
        let mut arguments = parse(&line)?;
        if arguments.performance.version {
            return Ok(Request::Print(format!("fastz {}\n", env!("CARGO_PKG_VERSION"))));
        }
        match arguments.performance.help.take().as_deref() {
            None => {}
            Some("options") => return Ok(Request::Print(Arguments::command().render_help().to_string())),
            Some("defaults") => {
                let invocation = invocation(arguments, line.header_arguments)?;
                return Ok(Request::Print(invocation.defaults_text()));
            }
            Some(topic) => return Ok(Request::Print(help::topic(topic)?.to_string())),
        }
        invocation(arguments, line.header_arguments).map(|invocation| Request::Align(Box::new(invocation)))
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
    Arguments::try_parse_from(words).map_err(|error| one_line(&error))
}

/// clap's error as one line that names the option and the way out.
fn one_line(error: &clap::Error) -> anyhow::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" or "),
        _ => String::new(),
    };
    // `--hspthresh=<score|top<n>>` -> `--hspthresh`
    let option = context(ContextKind::InvalidArg).split(['=', ' ', '[']).next().unwrap_or_default().to_string();
    let value = context(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = context(ContextKind::InvalidArg);
            match context(ContextKind::SuggestedArg).as_str() {
                "" => anyhow!("unknown option {option}; --help lists the options"),
                suggestion => anyhow!("unknown option {option}; did you mean {suggestion}?"),
            }
        }
        ErrorKind::TooManyValues => anyhow!("{option} takes no value: write {option} alone"),
        _ if value.is_empty() => anyhow!("{option} needs a value: write {option}=<value>"),
        ErrorKind::ValueValidation => match std::error::Error::source(error) {
            Some(source) => anyhow!("{option}={value}: {source}"),
            None => anyhow!("{option}={value} cannot be understood"),
        },
        _ => anyhow!("{option}={value} cannot be understood; --help lists the values"),
    }
}

#[cfg(test)]
mod tests;
