//! Seeding: spaced words of the target, looked up for every query position (lastz-semantics 2).

mod pattern;

pub use pattern::SeedPattern;
