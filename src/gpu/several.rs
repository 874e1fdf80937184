//! Engines on several GPUs as one: query strands and many anchors of a unit are dealt out to all, units go to the one that
//! is least busy. Results do not depend on who does what.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::alignment::Anchor;
use crate::error::Result;
use crate::extend::bounds::AcceptedBlocks;
use crate::extend::{BoundedAnchor, BulkExtender, BulkUnit, Side};
use crate::filter::{FoundHsps, HspFinder};
use crate::sequence::SequenceSet;

/// Anchors from which on another device pays: it needs a copy of the unit.
const WORTHWHILE_SHARE: usize = 1 << 10;

/// An engine on one device.
pub trait Engine {
    /// Why the device was given up, if it was.
    fn fault(&self) -> Option<String>;
}

/// One engine or more.
#[derive(Debug)]
pub struct Several<E> {
    engines: Vec<E>,
    /// Units that each is busy with.
    busy: Vec<AtomicUsize>,
}

impl<E: Engine> Several<E> {
    /// All engines do the same, each on a device of its own; at least one.
    pub fn new(engines: Vec<E>) -> Several<E> {
        let busy = engines.iter().map(|_| AtomicUsize::new(0)).collect();
        Several { engines, busy }
    }

    /// The engines.
    pub fn engines(&self) -> &[E] {
        &self.engines
    }

    /// Why devices were given up, of those that were.
    pub fn faults(&self) -> Vec<String> {
        self.engines.iter().filter_map(Engine::fault).collect()
    }

    /// Takes a place with the least busy of those that were not given up, if there are any.
    fn pick(&self) -> Place<'_> {
        let load = |&ix: &usize| (self.engines[ix].fault().is_some(), self.busy[ix].load(Ordering::Relaxed));
        let ix = (0..self.engines.len()).min_by_key(load).unwrap_or(0);
        self.busy[ix].fetch_add(1, Ordering::Relaxed);
        Place { ix, busy: &self.busy[ix] }
    }
}

/// A place with an engine, for as long as it is needed.
struct Place<'a> {
    ix: usize,
    busy: &'a AtomicUsize,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<F: HspFinder + Engine> HspFinder for Several<F> {
    fn find_many(&self, target: &SequenceSet, strands: &[&SequenceSet]) -> Result<FoundHsps> {
        let able: Vec<&F> = self.engines.iter().filter(|engine| engine.fault().is_none()).collect();
        let shares = shares(strands, able.len().max(1));
        let results: Vec<Result<FoundHsps>> = match able[..] {
            [] => vec![self.engines[0].find_many(target, strands)],
            [engine] => vec![engine.find_many(target, strands)],
            _ => std::thread::scope(|scope| {
                let pairs = able.into_iter().zip(shares);
                let threads: Vec<_> =
                    pairs.map(|(engine, share)| scope.spawn(move || engine.find_many(target, share))).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            }),
        };
        let mut found = FoundHsps::default();
        for part in results {
            let part = part?;
            found.hsps.extend(part.hsps);
            found.counts += part.counts;
        }
        Ok(found)
    }

    fn n_devices(&self) -> usize {
        self.engines.len()
    }
}

/// Cuts strands into at most `n` stretches with about as many bases each, none of them empty.
fn shares<'s, 'q>(strands: &'s [&'q SequenceSet], n: usize) -> Vec<&'s [&'q SequenceSet]> {
    let all: usize = strands.iter().map(|strand| strand.len()).sum();
    let mut shares = Vec::with_capacity(n);
    let (mut first, mut n_bases) = (0, 0);
    for (i, strand) in strands.iter().enumerate() {
        n_bases += strand.len();
        if shares.len() + 1 < n && n_bases * n >= all * (shares.len() + 1) {
            shares.push(&strands[first..=i]);
            first = i + 1;
        }
    }
    if first < strands.len() {
        shares.push(&strands[first..]);
    }
    shares
}

impl<B: BulkExtender + Engine> BulkExtender for Several<B> {
    fn least_anchors(&self) -> usize {
        self.engines[0].least_anchors()
    }

    fn least_screened(&self) -> usize {
        self.engines[0].least_screened()
    }

    fn most_anchors(&self) -> usize {
        self.engines.iter().map(BulkExtender::most_anchors).max().unwrap_or(1)
    }

    fn shares_anchors(&self) -> bool {
        self.engines[0].shares_anchors()
    }

    fn takes_bounded(&self) -> bool {
        self.engines.iter().all(BulkExtender::takes_bounded)
    }

    fn get_ready(&self) -> bool {
        // All begin.
        self.engines.iter().filter(|engine| !engine.get_ready()).count() == 0
    }

    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
        let place = self.pick();
        let Some(unit) = self.engines[place.ix].open(target, query)? else { return Ok(None) };
        let units = vec![Dealt { ix: place.ix, unit }];
        Ok(Some(Box::new(SharedUnit { several: self, target, query, units, _place: place })))
    }
}

/// A unit on one device, or on several once that pays.
struct SharedUnit<'a, B> {
    several: &'a Several<B>,
    target: &'a SequenceSet,
    query: &'a SequenceSet,
    units: Vec<Dealt<'a>>,
    _place: Place<'a>,
}

struct Dealt<'a> {
    /// The engine.
    ix: usize,
    unit: Box<dyn BulkUnit + 'a>,
}

impl<B: BulkExtender + Engine> SharedUnit<'_, B> {
    /// Does `work` for all anchors, on as many devices as pay.
    fn deal<A: Clone + Send + Sync, T: Send>(
        &mut self,
        anchors: &[A],
        work: impl Fn(&mut dyn BulkUnit, &[A]) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let n = (anchors.len() / WORTHWHILE_SHARE).clamp(1, self.several.engines.len());
        self.open_on(n)?;
        let n = n.min(self.units.len());
        if n == 1 {
            return work(&mut *self.units[0].unit, anchors);
        }
        // Neighbours in order are alike: each device gets every n-th anchor.
        let share = |first: usize| -> Vec<A> { anchors.iter().skip(first).step_by(n).cloned().collect() };
        let work = &work;
        let results: Vec<Result<Vec<T>>> = std::thread::scope(|scope| {
            let parts = self.units[..n].iter_mut().enumerate();
            let threads: Vec<_> = parts
                .map(|(first, dealt)| {
                    let share = share(first);
                    scope.spawn(move || work(&mut *dealt.unit, &share))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut parts = results.into_iter().map(|part| Ok(part?.into_iter())).collect::<Result<Vec<_>>>()?;
        let in_order = (0..anchors.len()).map(|ix| parts[ix % n].next());
        Ok(in_order.map(|result| result.expect("a result for each anchor")).collect())
    }

    /// Opens the unit on `n` devices, as far as they take it.
    fn open_on(&mut self, n: usize) -> Result<()> {
        for (ix, engine) in self.several.engines.iter().enumerate() {
            if self.units.len() >= n {
                break;
            }
            if engine.fault().is_none()
                && self.units.iter().all(|dealt| dealt.ix != ix)
                && let Some(unit) = engine.open(self.target, self.query)?
            {
                self.units.push(Dealt { ix, unit });
            }
        }
        Ok(())
    }
}

impl<B: BulkExtender + Engine> BulkUnit for SharedUnit<'_, B> {
    fn extend(
        &mut self,
        anchors: &[Anchor],
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        self.deal(anchors, |unit, share| unit.extend(share, wants_script))
    }

    fn extend_bounded(
        &mut self,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        self.deal(anchors, |unit, share| unit.extend_bounded(share, accepted, wants_script))
    }

    fn screen(&mut self, anchors: &[Anchor], goal: i64) -> Result<Vec<bool>> {
        self.deal(anchors, |unit, share| unit.screen(share, goal))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Gives each anchor's position back, and notes what it was asked.
    #[derive(Default)]
    struct Echo {
        asked: Mutex<Vec<usize>>,
        fault: Option<String>,
    }

    impl Engine for Echo {
        fn fault(&self) -> Option<String> {
            self.fault.clone()
        }
    }

    impl BulkExtender for Echo {
        fn least_anchors(&self) -> usize {
            1
        }

        fn shares_anchors(&self) -> bool {
            false
        }

        fn open<'a>(&'a self, _: &'a SequenceSet, _: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>> {
            Ok(Some(Box::new(EchoUnit(self))))
        }
    }

    struct EchoUnit<'a>(&'a Echo);

    impl BulkUnit for EchoUnit<'_> {
        fn extend(
            &mut self,
            anchors: &[Anchor],
            _: &(dyn Fn(&Side, &Side) -> bool + Sync),
        ) -> Result<Vec<Option<(Side, Side)>>> {
            self.0.asked.lock().unwrap().push(anchors.len());
            let side = |position| Side { score: i64::from(position), ..Side::default() };
            Ok(anchors.iter().map(|anchor| Some((side(anchor.target), side(anchor.query)))).collect())
        }
    }

    fn extend(several: &Several<Echo>, n: usize) {
        let set = SequenceSet::single("s", b"ACGT");
        let anchors: Vec<Anchor> = (0..n as u32).map(|i| Anchor { target: i, query: 2 * i, hsp_score: 0 }).collect();
        let mut unit = several.open(&set, &set).unwrap().unwrap();
        let sides = unit.extend(&anchors, &|_, _| true).unwrap();
        assert_eq!(sides.len(), n);
        for (i, sides) in sides.into_iter().enumerate() {
            let (left, right) = sides.unwrap();
            assert_eq!((left.score, right.score), (i as i64, 2 * i as i64));
        }
    }

    fn asked(several: &Several<Echo>) -> Vec<Vec<usize>> {
        several.engines.iter().map(|engine| engine.asked.lock().unwrap().clone()).collect()
    }

    #[test]
    fn many_anchors_are_dealt_out_and_come_back_in_order() {
        let several = Several::new(vec![Echo::default(), Echo::default(), Echo::default()]);
        extend(&several, 3 * WORTHWHILE_SHARE + 1);
        assert_eq!(asked(&several), [[1025], [1024], [1024]]);
        extend(&several, 10);
        assert_eq!(asked(&several).concat().len(), 4);
    }

    #[test]
    fn strands_are_shared_out_by_their_bases() {
        let set = |n: usize| SequenceSet::single("s", &vec![b'A'; n]);
        let lens = |sets: &[usize], n: usize| {
            let sets: Vec<SequenceSet> = sets.iter().map(|&n| set(n)).collect();
            let strands: Vec<&SequenceSet> = sets.iter().collect();
            shares(&strands, n).iter().map(|share| share.iter().map(|s| s.len()).collect()).collect::<Vec<Vec<usize>>>()
        };
        assert_eq!(lens(&[10, 10], 2), [[10], [10]]);
        assert_eq!(lens(&[10, 10], 3), [[10], [10]]);
        assert_eq!(lens(&[1, 2, 3, 30], 2), [vec![1, 2, 3, 30]]);
        assert_eq!(lens(&[30, 1, 2, 3], 2), [vec![30], vec![1, 2, 3]]);
        assert_eq!(lens(&[3, 3, 3, 3, 3, 3], 3), [[3, 3], [3, 3], [3, 3]]);
        assert_eq!(lens(&[], 2), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn units_go_to_the_least_busy_that_was_not_given_up() {
        let lost = Echo { fault: Some("lost".to_string()), ..Echo::default() };
        let several = Several::new(vec![lost, Echo::default(), Echo::default()]);
        let places = [several.pick(), several.pick(), several.pick()];
        assert_eq!(places.map(|place| place.ix), [1, 2, 1]);
        extend(&several, 3 * WORTHWHILE_SHARE);
        assert_eq!(several.engines[0].asked.lock().unwrap().len(), 0);
        assert_eq!(several.faults(), ["lost"]);
    }
}
