//! Signals that end the process: what is not whole is removed before.

use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Has a thread wait for the signals that would end the process, remove its unpublished files, and end it by the same
/// signal, so that shells see it. A limit on the size of files (`ulimit -f`) becomes an error like that of a full disk.
///
/// # Errors
/// If the system refuses the handlers or the thread.
pub fn watch() -> io::Result<()> {
    // SAFETY: ignoring a signal runs no code.
    unsafe { libc::signal(SIGXFSZ, libc::SIG_IGN) };
    let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU];
    let mut signals = Signals::new(ending.iter().filter(|&&signal| !is_ignored(signal)))?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            fastz::output::remove_unpublished();
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".to_string()).spawn(wait)?;
    Ok(())
}

/// Whether whoever started the process had the signal ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: reads the present action into a structure that is all zeros before.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
