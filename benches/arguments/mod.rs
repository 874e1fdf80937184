//! Arguments of the benches: `name=value` in any order, and files.
#![allow(dead_code, reason = "each bench uses its part")]

use std::str::FromStr;

use fastz::gpu::{AdapterChoice, Gpu};

/// The value of `name=value`, if it is there.
pub fn setting(name: &str) -> Option<String> {
    std::env::args().find_map(|argument| Some(argument.strip_prefix(name)?.strip_prefix('=')?.to_string()))
}

/// The same as a number.
pub fn number<T: FromStr>(name: &str) -> Option<T> {
    setting(name).map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: not a number in range")))
}

/// What is no setting.
pub fn files() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench" && !argument.contains('=')).collect()
}

/// The device of `device=auto|gpu:<n>|<name>`.
pub fn open_gpu() -> Gpu {
    let device = setting("device").unwrap_or_else(|| "auto".to_string());
    let choice = AdapterChoice::from_option(&device).expect("a GPU, not cpu");
    let gpu = Gpu::open(&choice).unwrap_or_else(|error| panic!("{error}"));
    println!("# {}", gpu.name());
    gpu
}
