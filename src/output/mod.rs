//! Output formats (lastz-semantics 7): pure functions from blocks to text.
