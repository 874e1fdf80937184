// links: what the links of cells mean.

// Arriving through a gap, the path stays in it if the link says that the gap extends (lastz-semantics 5.5).
fn next_source(link: u32, arrived_by: u32) -> u32 {
    let stays = (arrived_by == LINK_INSERTION && (link & LINK_INSERTION_EXTENDS) != 0u)
        || (arrived_by == LINK_DELETION && (link & LINK_DELETION_EXTENDS) != 0u);
    return select(link & LINK_SOURCE, arrived_by, stays);
}
