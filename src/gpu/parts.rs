//! Host work for a device, on several threads.

/// What `work` gives for the parts of `items`, in order; it is told where its part begins. Each part has at least
/// `per_thread` items and a thread of its own: who calls waits for a device most of the time, and is none of the pool's.
pub(super) fn in_parts<T: Sync, R: Send>(
    items: &[T],
    per_thread: usize,
    work: impl Fn(usize, &[T]) -> R + Sync,
) -> Vec<R> {
    let most_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = (items.len() / per_thread).clamp(1, most_threads);
    let len = items.len().div_ceil(n_threads).max(1);
    if n_threads == 1 {
        return vec![work(0, items)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let parts = items.chunks(len).enumerate();
        let threads: Vec<_> = parts.map(|(n, part)| scope.spawn(move || work(n * len, part))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_and_in_order() {
        for n in [0, 1, 7, 100, 1001] {
            let items: Vec<usize> = (0..n).collect();
            let parts = in_parts(&items, 3, |first, part| {
                assert!(part.first().is_none_or(|&item| item == first));
                part.to_vec()
            });
            assert_eq!(parts.concat(), items);
        }
    }
}
