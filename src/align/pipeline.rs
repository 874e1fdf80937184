//! Queries under way: read and searched ahead of their turn, extended side by side, settled in order.
//!
//! ```text
//! reader's thread                                pool                          caller's thread
//! query ──> strands ──> groups ──> finder ──┬──> a task per strand ──┬──> settle, query by query
//!       │                 └ sides_ahead ┘   │                        │
//!       └── no finder, or it cannot ────────┴──> a task per query ───┘
//! ```
//! What the CPU is through with before the device is there goes the lower way too ([`EarlyShare`]).
//! A gate holds the reader back while many bases are under way. No more tasks are in the pool than keep its threads busy:
//! threads that wait inside a task take up others, and would pile them up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use super::early_share::EarlyShare;
use super::gate::{CloseOnDrop, Gate};
use super::plan::Work;
use super::settlement::Settlement;
use super::sides_ahead::{self, SidesAhead};
use super::{Aligner, Outcome, Query, Sink};
use crate::alignment::Hsp;
use crate::error::{Error, Result};
use crate::filter::SearchCounts;
use crate::output::StrandView;
use crate::sequence::SequenceSet;
use crate::strand::GivenHsps;

/// Bases of the strands that a device searches together; the last one may go beyond.
const GROUP_BASES: usize = 4 << 20;
/// Most threads for what the host does in a search on a device.
const MOST_READER_THREADS: usize = 4;

/// A query under way.
struct Trip {
    query: Query,
    other: Option<SequenceSet>,
}

impl Trip {
    fn strand(&self, is_other: bool) -> &SequenceSet {
        self.other.as_ref().filter(|_| is_other).unwrap_or(&self.query.sequences)
    }
}

/// What the caller's thread hears. Queries are numbered as they are read.
enum Event {
    /// A query was read; its strands are searched ahead.
    Searching(Arc<Trip>),
    /// A query was read that has yet to be searched.
    Read(Arc<Trip>),
    /// No more queries, because of an error if there is one.
    End(Option<Error>),
    /// The HSPs of a strand; `None` if the CPU has to find them.
    Found { number: usize, is_other: bool, hsps: Option<Vec<Hsp>>, sides: Option<SidesAhead> },
    /// What the finder counted, and its seconds.
    Searched(SearchCounts, f64),
    /// The blocks of a query or of one of its strands.
    Done { number: usize, outcome: Result<Outcome> },
    /// The device failed and the CPU may not stand in.
    Failed(Error),
    /// A thread panicked.
    Panicked,
}

/// Aligns queries; see [`Aligner::align_all`].
pub(super) fn run(
    aligner: &Aligner,
    settlement: &mut Settlement,
    queries: impl Iterator<Item = Result<Query>> + Send,
    sink: &mut dyn Sink,
) -> Result<()> {
    let gate = Gate::default();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|threads| {
        if let (Some(finder), Some(table)) = (&aligner.finder, &aligner.table) {
            threads.spawn(move || match pool_for_device() {
                Some(pool) => pool.install(|| finder.prepare(&aligner.target, table)),
                None => finder.prepare(&aligner.target, table),
            });
        }
        let reader = Reader {
            aligner,
            gate: &gate,
            events: sender.clone(),
            group: Vec::new(),
            group_bases: 0,
            n_anchors: 0,
            early: EarlyShare::new(aligner),
            n_read: 0,
        };
        threads.spawn(move || match aligner.finder.as_ref().and_then(|_| pool_for_device()) {
            Some(pool) => pool.install(|| reader.run(queries)),
            None => reader.run(queries),
        });
        rayon::in_place_scope(|pool| {
            // However this ends, the reader must not wait any longer.
            let _closes = CloseOnDrop(&gate);
            let mut caller = Caller { aligner, settlement, sink, open: VecDeque::new(), n_settled: 0 };
            let mut tasks = VecDeque::new();
            let mut n_running = 0;
            let most_running = rayon::current_num_threads() * 3 / 2;
            let mut has_read = false;
            while !has_read || !caller.open.is_empty() {
                match next_event(&receiver) {
                    Event::Read(trip) => tasks.push_back(Task { number: caller.add(&trip, 1), trip, strand: None }),
                    Event::Searching(trip) => {
                        let n_strands = aligner.strands(&trip.query.sequences, trip.other.as_ref()).len();
                        caller.add(&trip, n_strands);
                    }
                    Event::Found { number, is_other, hsps, sides } => {
                        let strand = Some((is_other, hsps, sides));
                        tasks.push_back(Task { number, trip: caller.trip(number), strand });
                    }
                    Event::Searched(counts, seconds) => {
                        caller.settlement.counts.search += counts;
                        caller.settlement.counts.seconds.search += seconds;
                    }
                    Event::Done { number, outcome } => {
                        n_running -= 1;
                        caller.take(number, outcome?, &gate)?;
                    }
                    Event::End(None) => has_read = true,
                    Event::End(Some(error)) if caller.open.is_empty() => return Err(error),
                    Event::End(Some(error)) => {
                        has_read = true;
                        caller.open.push_back(Open::failed(error));
                    }
                    Event::Failed(error) => return Err(error),
                    // The scope passes the panic on.
                    Event::Panicked => return Ok(()),
                }
                while n_running < most_running.max(1)
                    && let Some(task) = tasks.pop_front()
                {
                    n_running += 1;
                    let report = Report { number: task.number, events: Some(sender.clone()) };
                    let gate = &gate;
                    aligner.look_ahead.announce();
                    pool.spawn(move |_| {
                        aligner.look_ahead.begun();
                        report.send(gate, || task.perform(aligner));
                    });
                }
            }
            Ok(())
        })
    })
}

/// The next event. A thread of a pool works while it waits: what it waits for may be its own to do.
fn next_event(receiver: &Receiver<Event>) -> Event {
    if rayon::current_thread_index().is_none() {
        return receiver.recv().unwrap_or(Event::Panicked);
    }
    loop {
        let event = match receiver.try_recv() {
            Err(TryRecvError::Empty) if rayon::yield_now() == Some(rayon::Yield::Executed) => continue,
            Err(TryRecvError::Empty) => receiver.recv_timeout(Duration::from_millis(1)),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Ok(event) => Ok(event),
        };
        match event {
            Ok(event) => return event,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Event::Panicked,
        }
    }
}

/// Threads for what the host does in a search on a device: on the common pool it would wait behind extensions, and the
/// device behind it.
fn pool_for_device() -> Option<rayon::ThreadPool> {
    let n_threads = rayon::current_num_threads().min(MOST_READER_THREADS);
    // Without them the common pool has to do.
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().ok()
}

/// Work for the pool: a query, or one of its strands whose HSPs were found ahead, or not (`None`).
struct Task {
    number: usize,
    trip: Arc<Trip>,
    strand: Option<(bool, Option<Vec<Hsp>>, Option<SidesAhead>)>,
}

impl Task {
    fn perform(self, aligner: &Aligner) -> Result<Outcome> {
        let Some((is_other, hsps, sides)) = self.strand else {
            return aligner.outcome(&self.trip.query, self.trip.other.as_ref());
        };
        let work = match hsps {
            Some(hsps) => Work::Extend(GivenHsps { hsps, ..GivenHsps::default() }),
            None => Work::Search,
        };
        let (found, search) = aligner.perform(self.trip.strand(is_other), work, sides.as_ref())?;
        Ok(Outcome { plan_found: Vec::new(), strands: vec![(is_other, found)], search })
    }
}

/// A query that was read and not yet settled.
struct Open {
    trip: Arc<Trip>,
    /// Outcomes still to come.
    n_missing: usize,
    outcome: Outcome,
    error: Option<Error>,
}

impl Open {
    fn new(trip: Arc<Trip>, n_missing: usize) -> Open {
        Open { trip, n_missing, outcome: Outcome::default(), error: None }
    }

    /// A query that could not be read.
    fn failed(error: Error) -> Open {
        let query = Query { sequences: SequenceSet::default(), segments: None };
        Open { error: Some(error), ..Open::new(Arc::new(Trip { query, other: None }), 0) }
    }
}

/// The thread that settles.
struct Caller<'a> {
    aligner: &'a Aligner,
    settlement: &'a mut Settlement,
    sink: &'a mut dyn Sink,
    open: VecDeque<Open>,
    n_settled: usize,
}

impl Caller<'_> {
    /// Takes note of a query with so many outcomes to come; gives its number.
    fn add(&mut self, trip: &Arc<Trip>, n_missing: usize) -> usize {
        self.open.push_back(Open::new(trip.clone(), n_missing));
        self.n_settled + self.open.len() - 1
    }

    fn trip(&self, number: usize) -> Arc<Trip> {
        self.open[number - self.n_settled].trip.clone()
    }

    /// Takes an outcome, and settles the queries whose turn it is.
    fn take(&mut self, number: usize, outcome: Outcome, gate: &Gate) -> Result<()> {
        let open = &mut self.open[number - self.n_settled];
        open.n_missing -= 1;
        open.outcome.search += outcome.search;
        open.outcome.plan_found.extend(outcome.plan_found);
        let is_part = !open.outcome.strands.is_empty();
        open.outcome.strands.extend(outcome.strands);
        if is_part {
            // Strands that come one by one are output plus first.
            open.outcome.strands.sort_by_key(|(is_other, _)| *is_other);
        }
        while let Some(open) = self.pop_complete() {
            self.n_settled += 1;
            self.settle(&open.trip, open.outcome, open.error)?;
            gate.leave(open.trip.query.sequences.len());
        }
        Ok(())
    }

    /// The next query, if all of it is there.
    fn pop_complete(&mut self) -> Option<Open> {
        let is_complete = self.open.front().is_some_and(|open| open.n_missing == 0);
        if is_complete { self.open.pop_front() } else { None }
    }

    fn settle(&mut self, trip: &Trip, outcome: Outcome, error: Option<Error>) -> Result<()> {
        if let Some(error) = error {
            return Err(error);
        }
        self.settlement.counts.search += outcome.search;
        let found = &outcome.plan_found;
        if !self.settlement.settle_hsp_limit(&trip.query.sequences, trip.other.as_ref(), found, self.sink) {
            return Ok(());
        }
        let mut room = self.settlement.room();
        for (is_other, mut found) in outcome.strands {
            let view = StrandView { target: &self.aligner.target, query: trip.strand(is_other) };
            self.settlement.settle(&view, &mut found, room.as_mut(), self.sink)?;
        }
        Ok(())
    }
}

/// Sends a task's outcome, or that there will be none.
struct Report {
    number: usize,
    events: Option<Sender<Event>>,
}

impl Report {
    /// Does the work and sends what comes of it; nothing is done any more once the gate is closed.
    fn send(mut self, gate: &Gate, work: impl FnOnce() -> Result<Outcome>) {
        let outcome = if gate.is_closed() { Ok(Outcome::default()) } else { work() };
        if let Some(events) = self.events.take() {
            // Nobody listens after an error.
            let _ = events.send(Event::Done { number: self.number, outcome });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(events) = self.events.take() {
            let _ = events.send(Event::Panicked);
        }
    }
}

/// The thread that reads, and searches where a finder does it.
struct Reader<'a> {
    aligner: &'a Aligner,
    gate: &'a Gate,
    events: Sender<Event>,
    /// Strands to be searched together.
    group: Vec<(usize, Arc<Trip>, bool)>,
    group_bases: usize,
    /// Anchors of strands that might have been extended ahead.
    n_anchors: usize,
    early: EarlyShare,
    n_read: usize,
}

/// The caller does not listen any more.
struct Gone;

impl Reader<'_> {
    fn run(mut self, queries: impl Iterator<Item = Result<Query>>) {
        let mut in_panic = Report { number: 0, events: Some(self.events.clone()) };
        // The caller that is gone knows why.
        let _ = self.read(queries);
        in_panic.events = None;
    }

    fn read(&mut self, queries: impl Iterator<Item = Result<Query>>) -> std::result::Result<(), Gone> {
        for query in queries {
            match query {
                Ok(query) => self.take(query)?,
                Err(error) => {
                    self.search()?;
                    return self.send(Event::End(Some(error)));
                }
            }
        }
        self.search()?;
        self.send(Event::End(None))
    }

    fn take(&mut self, query: Query) -> std::result::Result<(), Gone> {
        let n_bases = query.sequences.len();
        if !self.gate.enter(n_bases, false) {
            // What waits in the group would keep the gate shut.
            self.search()?;
            if !self.gate.enter(n_bases, true) {
                return Err(Gone);
            }
        }
        let trip = Arc::new(Trip { other: self.aligner.other_strand(&query.sequences), query });
        let number = self.n_read;
        self.n_read += 1;
        let Some(finder) = self.aligner.finder.as_ref().filter(|_| self.aligner.searches_each_strand(&trip.query))
        else {
            return self.send(Event::Read(trip));
        };
        let n_devices = finder.n_devices();
        self.send(Event::Searching(trip.clone()))?;
        for (is_other, strand) in self.aligner.strands(&trip.query.sequences, trip.other.as_ref()) {
            if !finder.is_ready() && self.early.takes(strand) {
                self.send(Event::Found { number, is_other, hsps: None, sides: None })?;
                continue;
            }
            self.group.push((number, trip.clone(), is_other));
            self.group_bases += strand.len();
            if self.group_bases >= GROUP_BASES * n_devices && self.group.len() >= n_devices {
                self.search()?;
            }
        }
        Ok(())
    }

    /// Searches the group and empties it.
    fn search(&mut self) -> std::result::Result<(), Gone> {
        let group = std::mem::take(&mut self.group);
        self.group_bases = 0;
        let Some(finder) = self.aligner.finder.as_deref().filter(|_| !group.is_empty()) else { return Ok(()) };
        let strands: Vec<&SequenceSet> = group.iter().map(|(_, trip, is_other)| trip.strand(*is_other)).collect();
        let started = Instant::now();
        let found = self.or_fail(finder.find_many(&self.aligner.target, &strands))?;
        self.send(Event::Searched(found.counts, started.elapsed().as_secs_f64()))?;
        let with_hsps: Vec<(&SequenceSet, &[Hsp])> =
            strands.iter().zip(&found.hsps).map(|(&strand, hsps)| (strand, hsps.as_deref().unwrap_or(&[]))).collect();
        let sides = sides_ahead::run(self.aligner, &with_hsps, &mut self.n_anchors);
        let sides = self.or_fail(sides)?;
        let mut sides = sides.into_iter().flatten();
        for ((number, _, is_other), hsps) in group.iter().zip(found.hsps) {
            self.send(Event::Found { number: *number, is_other: *is_other, hsps, sides: sides.next() })?;
        }
        Ok(())
    }

    /// Tells of an error of a device that the CPU may not stand in for.
    fn or_fail<T>(&self, result: Result<T>) -> std::result::Result<T, Gone> {
        result.map_err(|error| {
            // Nobody listens after another error.
            let _ = self.send(Event::Failed(error));
            Gone
        })
    }

    fn send(&self, event: Event) -> std::result::Result<(), Gone> {
        if self.gate.is_closed() {
            return Err(Gone);
        }
        self.events.send(event).map_err(|_| Gone)
    }
}
