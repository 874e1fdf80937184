//! The post stages against the installed lastz: HSPs or blocks of a run without an option go through our function, and
//! the result has to be what lastz prints with the option. Without lastz every test says so and passes.

mod chain;
mod gap_free;
mod gapped;
mod lastz;
mod segments;
