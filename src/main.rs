//! The `fastz` program.
fn main() {}
