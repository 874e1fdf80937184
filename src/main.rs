//! The `fastz` program.

mod allocator;
mod cli;
mod console;
mod engines;
mod late_engines;
mod places;
mod run;
mod side_files;
#[cfg(unix)]
mod signals;

use std::io::Write;

use cli::Request;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() {
    silence_device_selection();
    match words().and_then(Request::from_args).and_then(answer) {
        Ok(()) => leave(0),
        Err(error) if is_broken_pipe(&error) => leave(0),
        Err(error) => {
            eprintln!("fastz: {}", in_one_line(&error));
            leave(1)
        }
    }
}

/// Ends the process at once. A device may still be starting on another thread (see [`late_engines`]), and its driver must
/// not be taken down under it; giving back what the system takes anyway costs a small run a fifth of its time.
fn leave(status: i32) -> ! {
    // Whoever wrote has seen to it that it arrived.
    let _ = std::io::stdout().flush();
    end(status)
}

/// Ends the process and runs nothing of it.
fn end(status: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: ends the process without running anything of it.
    unsafe {
        libc::_exit(status)
    }
    #[cfg(not(unix))]
    std::process::exit(status)
}

fn words() -> anyhow::Result<Vec<String>> {
    let to_text = |word: std::ffi::OsString| {
        word.into_string().map_err(|word| {
            anyhow::anyhow!("the argument {word:?} is not UTF-8 text: rename the file, or link it under another name")
        })
    };
    std::env::args_os().skip(1).map(to_text).collect()
}

fn answer(request: Request) -> anyhow::Result<()> {
    match request {
        Request::Align(invocation) => {
            #[cfg(unix)]
            anyhow::Context::context(signals::watch(), "cannot wait for signals")?;
            run::run(&invocation)
        }
        Request::Devices => devices(),
        Request::Print(text) => Ok(std::io::stdout().write_all(text.as_bytes())?),
    }
}

/// Lists the devices that `--device` can name.
fn devices() -> anyhow::Result<()> {
    Ok(std::io::stdout().write_all(fastz::gpu::devices::describe().as_bytes())?)
}

/// Mesa's device selection layer complains on stderr where there is no Wayland session, as on a server. The choice
/// among devices is ours anyway.
fn silence_device_selection() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Whether the reader of our output went away, as `head` does. That is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// An error and its causes, without those that it already tells.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(|cause| cause.to_string()) {
        if !line.contains(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}
