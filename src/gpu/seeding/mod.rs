//! `GpuSeeder`: seed hits and their gap-free extension on the GPU, equal to [`crate::filter::HspSearch`] HSP for HSP.
//!
//! ```text
//! query windows ─ pieces ─┬─> seed_lookup ─> seed_frequent ─> seed_walk ─> candidates ─> order, entropy, threshold
//!                         └── reaches of the residues, from piece to piece ──┘             (host)
//! ```
//! Hits of different residues of the diagonal modulo 65536 never influence each other (lastz-semantics 2.4). A piece is
//! a stretch of query windows; its hits go into one bucket per residue, and each bucket is walked in LASTZ's order. Hits
//! that the reach of their residue has passed are dropped before they are stored, so that near-identical sequences cost
//! no more than others. A batch of pieces is under way at a time; a piece that does not fit ([`TALLY_FAILED`]) and all
//! after it leave no trace, and are repeated in smaller pieces.

mod bases;
pub mod layout;
mod pieces;
mod words;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use self::bases::{Chunk, Kinds, SeedScores};
use self::layout::*;
use self::pieces::Piece;
use self::words::DeviceWords;
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::kernel::{Bound, Kernel};
use super::memory::Reservation;
use super::shaders::Shader;
use crate::filter::{HspAcceptance, SearchCounts, merge_by_diagonal};
use crate::options::{GapFreeExtension, HspThreshold, SelfComparison};
use crate::seed::WordTable;
use crate::{Hsp, Options, SequenceSet};

/// Largest X: sums then stay far from the end of 32 bits.
const X_DROP_LIMIT: i32 = 1 << 28;
/// Workgroups of `seed_walk`.
const WALK_GROUPS: u32 = N_SLOTS / SLOTS_PER_GROUP;
/// Most workgroups of a dispatch.
const MAX_GROUPS: u32 = 65_535;

/// Sizes of the device memory and of pieces. Results do not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedLimits {
    /// Hits of a bucket, at most [`N_SORTED`].
    pub bucket_capacity: u32,
    /// Hits of full buckets.
    pub overflow_capacity: u32,
    /// Lookups of frequent words.
    pub frequent_capacity: u32,
    /// Workgroups that work them off.
    pub frequent_groups: u32,
    /// Candidates of a batch.
    pub candidate_capacity: u32,
    /// Query windows of the first piece; `None`: as many as a random query would need for well filled buckets.
    pub first_piece: Option<u32>,
    /// Query windows of a piece, at most.
    pub max_piece: u32,
    /// Pieces of a batch, at most [`MAX_PIECES`].
    pub batch: usize,
    /// Pairs that one lane scans.
    pub run_cap: u32,
}

impl SeedLimits {
    /// What suits a device.
    pub fn for_device(gpu: &Gpu) -> SeedLimits {
        let is_software = gpu.capabilities().is_software;
        let limits = SeedLimits {
            bucket_capacity: if is_software { 128 } else { N_SORTED },
            // On lavapipe (Mesa 22.3) hits of very crowded buckets were lost: it seems to end loops once an invocation has
            // made 65535 turns in all. Buckets stay small there, and counts must add up everywhere (`add_tallies`).
            overflow_capacity: 1 << if is_software { 12 } else { 20 },
            frequent_capacity: 1 << 18,
            frequent_groups: if is_software { 64 } else { 512 },
            candidate_capacity: 1 << if is_software { 18 } else { 20 },
            first_piece: None,
            max_piece: 1 << 20,
            batch: MAX_PIECES as usize,
            run_cap: 256,
        };
        limits.within(gpu.memory().for_seeding(), gpu.capabilities().max_binding)
    }

    /// The same where the buffers may take about `bytes` in all, and each of them `max_binding`.
    fn within(self, bytes: u64, max_binding: u64) -> SeedLimits {
        let entries = |capacity: u32, bytes: u64, size: usize| (bytes / size as u64).min(capacity.into()).max(1) as u32;
        let (hit, candidate) = (size_of::<[u32; 2]>(), size_of::<Candidate>());
        let limits = SeedLimits {
            overflow_capacity: entries(self.overflow_capacity, bytes / 8, hit),
            frequent_capacity: entries(self.frequent_capacity, bytes / 16, hit),
            // They are copied for the host.
            candidate_capacity: entries(self.candidate_capacity, bytes / 16, candidate),
            ..self
        };
        let others = (hit as u32 * (limits.overflow_capacity + limits.frequent_capacity)).into();
        let buckets = max_binding.saturating_sub(others).min(bytes / 2);
        SeedLimits { bucket_capacity: entries(self.bucket_capacity, buckets / u64::from(N_SLOTS), hit), ..limits }
    }

    /// Hits that a piece should put into buckets: enough to keep all lanes of a walk busy (two rounds), and far from
    /// overflowing even if they are spread unevenly.
    fn wanted_hits(&self) -> u32 {
        N_SLOTS * (2 * WALK_LANES * 7 / 8).min(self.bucket_capacity.div_ceil(2))
    }

    fn bucket_words(&self) -> usize {
        N_SLOTS as usize * self.bucket_capacity as usize + (self.overflow_capacity + self.frequent_capacity) as usize
    }
}

/// What was done, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedTimes {
    /// Pieces done.
    pub pieces: u64,
    /// Pieces that did not fit and were repeated.
    pub repeated: u64,
    /// Lookups, hits into buckets. Measured only when asked for: it makes the host wait after every dispatch.
    pub lookup: Duration,
    /// Walks of buckets, if measured.
    pub walk: Duration,
    /// Host: order, entropy, threshold.
    pub finish: Duration,
}

/// Searches query strands for HSPs on a GPU.
pub struct GpuSeeder {
    gpu: Gpu,
    target: SequenceSet,
    options: Options,
    kinds: Kinds,
    words: DeviceWords,
    longest_list: u32,
    scores: GpuVec<SeedScores>,
    target_bases: GpuVec<Chunk>,
    kernels: Kernels,
    memory: Memory,
    limits: SeedLimits,
    params: SeedParams,
    times: SeedTimes,
    measures_stages: bool,
    _memory: Reservation,
}

struct Kernels {
    lookup: Kernel,
    frequent: Kernel,
    walk: Kernel,
}

struct Memory {
    params: GpuVec<SeedParams>,
    /// Reaches before and after a piece; they change places from piece to piece.
    reaches: [GpuVec<[u32; 2]>; 2],
    buckets: GpuVec<[u32; 2]>,
    tallies: GpuVec<u32>,
    candidates: GpuVec<Candidate>,
}

impl Memory {
    fn new(gpu: &Gpu, limits: &SeedLimits) -> Memory {
        let reaches = || GpuVec::new(gpu, "reaches", N_SLOTS as usize);
        Memory {
            params: GpuVec::uniform(gpu, "params", &SeedParams::default()),
            reaches: [reaches(), reaches()],
            buckets: GpuVec::new(gpu, "buckets", limits.bucket_words()),
            tallies: GpuVec::new(gpu, "tallies", (BUCKET_TALLIES + N_SLOTS) as usize),
            candidates: GpuVec::new(gpu, "candidates", limits.candidate_capacity as usize),
        }
    }
}

/// What a batch found.
struct BatchResult {
    /// Pieces that fit; the next one, if there is one, did not.
    n_done: usize,
    candidates: Vec<Candidate>,
    counts: SearchCounts,
    /// Hits in the buckets of the fullest piece.
    most_placed: u32,
    most_overflow: u32,
}

impl GpuSeeder {
    /// Why these options need the CPU, if they do.
    pub fn reason_against(options: &Options) -> Option<String> {
        let seed = &options.seed;
        let reason = match options.gap_free {
            _ if seed.twins.is_some() => "--twins is searched on the CPU",
            _ if seed.pattern.len() > 32 => "seeds of more than 32 places are searched on the CPU",
            _ if !matches!(options.hsp_threshold, HspThreshold::Score(_)) => {
                "an adaptive HSP threshold needs the hits one by one: it is done on the CPU"
            }
            _ if options.limits.hsp_limit.is_some() || options.limits.blocks.is_some() => {
                "a search that stops early is done on the CPU"
            }
            GapFreeExtension::Exact(_) | GapFreeExtension::Mismatch { .. } => {
                "--exact and --mismatch are searched on the CPU"
            }
            GapFreeExtension::XDrop { x_drop, .. } if !(0..=X_DROP_LIMIT).contains(&x_drop) => {
                "this x-drop is too large for the GPU"
            }
            GapFreeExtension::XDrop { .. } | GapFreeExtension::None => return None,
        };
        Some(reason.to_string())
    }

    /// Why this query strand needs the CPU, if it does. For `is_same_strand` see
    /// [`HspSearch::new`](crate::filter::HspSearch::new).
    pub fn reason_against_query(&self, query: &SequenceSet, is_same_strand: bool) -> Option<String> {
        let is_mirrored = self.options.self_comparison != SelfComparison::No && !is_same_strand;
        if is_mirrored && self.target.partitions.len() != 1 {
            return Some("--self on the other strand of several sequences is searched on the CPU".to_string());
        }
        let max = self.gpu.capabilities().max_binding;
        if query.len() as u64 / 2 + 64 > max {
            return Some(format!("{} has more bases than the {} that the GPU takes", query.file, max * 2));
        }
        self.gpu.memory().reserve_input(&query.file, query.len() as u64 / 2).err()
    }

    /// Uploads the target and its words; [`reason_against`](Self::reason_against) must be `None`. After masking
    /// (6.6), `target` is the masked one and `table` has been updated.
    ///
    /// # Errors
    /// [`GpuError::OutOfRange`] if the device cannot hold them.
    pub fn new(gpu: &Gpu, target: &SequenceSet, table: &WordTable, options: &Options) -> Result<GpuSeeder, GpuError> {
        Self::with_limits(gpu, target, table, options, SeedLimits::for_device(gpu))
    }

    /// As [`new`](Self::new), with given limits.
    pub fn with_limits(
        gpu: &Gpu,
        target: &SequenceSet,
        table: &WordTable,
        options: &Options,
        limits: SeedLimits,
    ) -> Result<GpuSeeder, GpuError> {
        let kinds = Kinds::new(&options.scoring.gap_free).map_err(GpuError::OutOfRange)?;
        let needed = DeviceWords::bytes(table) + target.len() as u64 / 2;
        let what = format!("the search in {}", target.file);
        let memory = gpu.memory().reserve_input(&what, needed).map_err(GpuError::OutOfRange)?;
        let words = DeviceWords::upload(gpu, table, options.seed.transitions).map_err(GpuError::OutOfRange)?;
        let target_bases = kinds.pack(&target.bases);
        if size_of_val(&target_bases[..]) as u64 > gpu.capabilities().max_binding {
            return Err(GpuError::OutOfRange(format!("{} is too long for the GPU", target.file)));
        }
        // The kernels have one form; the variant gives constants that they do not use.
        let kernel = |shader| Kernel::new(gpu, shader, &gpu.variant(super::devices::DEFAULT_WINDOW));
        let (_, _, starts, _) = table.arrays();
        let max_piece = limits.max_piece.min(MAX_POSITIONS).min(MAX_GROUPS * LOOKUP_LANES / words.n_flips).max(1);
        let limits = SeedLimits {
            bucket_capacity: limits.bucket_capacity.min(N_SORTED),
            max_piece,
            frequent_groups: limits.frequent_groups.clamp(1, MAX_GROUPS),
            batch: limits.batch.clamp(1, MAX_PIECES as usize),
            ..limits
        };
        Ok(GpuSeeder {
            params: params_for(&kinds, table, &words, options, &limits),
            scores: GpuVec::uniform(gpu, "scores", kinds.scores()),
            target_bases: GpuVec::from_slice(gpu, "target bases", &target_bases),
            longest_list: starts.par_windows(2).map(|list| list[1] - list[0]).max().unwrap_or(0),
            kernels: Kernels {
                lookup: kernel(Shader::SeedLookup)?,
                frequent: kernel(Shader::SeedFrequent)?,
                walk: kernel(Shader::SeedWalk)?,
            },
            memory: Memory::new(gpu, &limits),
            gpu: gpu.clone(),
            target: target.clone(),
            options: options.clone(),
            kinds,
            words,
            limits,
            times: SeedTimes::default(),
            measures_stages: false,
            _memory: memory,
        })
    }

    /// Whether to wait after every dispatch, and so to measure stages.
    pub fn measure_stages(&mut self, yes: bool) {
        self.measures_stages = yes;
    }

    /// What was done so far.
    pub fn times(&self) -> SeedTimes {
        self.times
    }

    /// All HSPs of a query strand, as [`HspSearch::find`](crate::filter::HspSearch::find) gives them, in its order;
    /// [`reason_against_query`](Self::reason_against_query) must be `None`.
    pub fn find(&mut self, query: &SequenceSet, is_same_strand: bool) -> Result<(Vec<Hsp>, SearchCounts), GpuError> {
        let (candidates, mut counts) = self.candidates(query, is_same_strand)?;
        let started = Instant::now();
        let hsps = self.finish(query, candidates);
        counts.hsps = hsps.len() as u64;
        let needs_merging = self.options.seed.recover_hits;
        let hsps = if needs_merging { merge_by_diagonal(hsps) } else { hsps };
        self.times.finish += started.elapsed();
        Ok((hsps, counts))
    }

    /// Puts candidates into the order of discovery and applies the rules of 3.2 and 3.3.
    fn finish(&self, query: &SequenceSet, mut candidates: Vec<Candidate>) -> Vec<Hsp> {
        candidates.par_sort_unstable_by_key(|found| {
            (found.query_end, found.flip_and_piece % (1 << FLIP_BITS), Reverse(found.target_end))
        });
        let acceptance = HspAcceptance::new(&self.options);
        let accept = |found: Candidate| {
            let hsp = Hsp {
                target_start: found.target_end - found.left_len,
                query_start: found.query_end - found.left_len,
                len: found.left_len + found.right_len,
                score: found.score,
            };
            acceptance.accept(&self.target, query, hsp)
        };
        candidates.into_par_iter().filter_map(accept).collect()
    }

    fn candidates(
        &mut self,
        query: &SequenceSet,
        is_same_strand: bool,
    ) -> Result<(Vec<Candidate>, SearchCounts), GpuError> {
        let query_bases = GpuVec::from_slice(&self.gpu, "query bases", &self.kinds.pack(&query.bases));
        let strand = self.strand_params(query, is_same_strand);
        self.memory.reaches[0].clear(&self.gpu);
        self.memory.tallies.clear(&self.gpu);
        let mut plan = Plan {
            open: Vec::new(),
            next_end: strand.window_len,
            end: query.len() as u32 + 1,
            piece_len: self.first_piece(),
            n_flips: self.words.n_flips,
        };
        let mut candidates = Vec::new();
        let mut counts = SearchCounts::default();
        let mut n_done = 0;
        loop {
            let batch = plan.batch(self.limits.batch.min(n_done + 1));
            if batch.is_empty() {
                return Ok((candidates, counts));
            }
            let mut result = self.run_batch(&strand, &query_bases, &batch, n_done)?;
            n_done += result.n_done;
            counts += result.counts;
            candidates.append(&mut result.candidates);
            self.times.pieces += result.n_done as u64;
            if let Some(failed) = batch.get(result.n_done) {
                if failed.is_smallest() && result.n_done == 0 {
                    return Err(GpuError::Lost("a single hit did not fit into the memory for seeding".to_string()));
                }
                self.times.repeated += 1;
                self.memory.tallies.clear(&self.gpu);
                plan.repeat(&batch[result.n_done..], self.longest_list);
            } else {
                plan.adapt(&result, &self.limits);
            }
        }
    }

    fn first_piece(&self) -> u32 {
        let likely = || {
            let hits_per_lookup = self.words.ends.len() as f64 / (self.words.blocks.len() * 32) as f64;
            let hits = hits_per_lookup * f64::from(self.words.n_flips);
            (f64::from(self.limits.wanted_hits()) / hits.max(1e-6)) as u32
        };
        self.limits.first_piece.unwrap_or_else(likely).clamp(1, self.limits.max_piece)
    }

    fn strand_params(&self, query: &SequenceSet, is_same_strand: bool) -> SeedParams {
        let self_rule = match (self.options.self_comparison, is_same_strand) {
            (SelfComparison::No, _) => SELF_NO,
            (_, true) => SELF_SAME_STRAND,
            (_, false) => SELF_OTHER_STRAND,
        };
        let range = self.target.partitions.first().map_or(0..0, |partition| partition.range.clone());
        SeedParams {
            self_rule,
            self_sum: (range.start + range.end) as u32,
            has_checks: self.params.has_checks | u32::from(self_rule != SELF_NO),
            target_len: self.target.len() as u32,
            query_len: query.len() as u32,
            ..self.params
        }
    }

    /// Runs pieces one after the other; `n_before` were done before.
    fn run_batch(
        &mut self,
        strand: &SeedParams,
        query_bases: &GpuVec<Chunk>,
        batch: &[Piece],
        n_before: usize,
    ) -> Result<BatchResult, GpuError> {
        let (gpu, memory) = (&self.gpu, &self.memory);
        let mut header = vec![0; BUCKET_TALLIES as usize];
        header[TALLY_FAILED as usize] = NEVER;
        memory.tallies.write(gpu, &header);
        let mut n_groups = Vec::with_capacity(batch.len());
        let (mut lookup, mut walk) = (Duration::ZERO, Duration::ZERO);
        for (piece_ix, piece) in batch.iter().enumerate() {
            let lookup_groups = (piece.n_positions * piece.n_flips).div_ceil(LOOKUP_LANES);
            n_groups.push(lookup_groups + self.limits.frequent_groups + WALK_GROUPS);
            let params = SeedParams {
                first_end: piece.first_end,
                n_positions: piece.n_positions,
                first_flip: piece.first_flip,
                n_flips: piece.n_flips,
                list_first: piece.list.0,
                list_end: piece.list.1,
                piece_ix: piece_ix as u32,
                range_shift: piece.range_shift(),
                ..*strand
            };
            memory.params.write(gpu, &[params]);
            let buffers = self.bound(query_bases, n_before + piece_ix);
            let started = Instant::now();
            self.kernels.lookup.run(gpu, lookup_groups, &buffers);
            self.kernels.frequent.run(gpu, self.limits.frequent_groups, &buffers);
            if self.measures_stages {
                gpu.wait()?;
                lookup += started.elapsed();
            }
            let started = Instant::now();
            self.kernels.walk.run(gpu, WALK_GROUPS, &buffers);
            if self.measures_stages {
                gpu.wait()?;
                walk += started.elapsed();
            }
        }
        let tallies = memory.tallies.read(gpu, BUCKET_TALLIES as usize)?;
        let n_done = (tallies[TALLY_FAILED as usize] as usize).min(batch.len());
        let mut result = BatchResult {
            n_done,
            candidates: Vec::new(),
            counts: SearchCounts::default(),
            most_placed: 0,
            most_overflow: 0,
        };
        for (piece_ix, &n_groups) in n_groups[..n_done].iter().enumerate() {
            result.add_tallies(&tallies[(PIECE_TALLIES + piece_ix as u32 * N_PIECE_TALLIES) as usize..], n_groups)?;
        }
        let n_candidates = tallies[TALLY_CANDIDATES as usize].min(self.limits.candidate_capacity);
        result.candidates = memory.candidates.read(gpu, n_candidates as usize)?;
        // A copy that was not made reads as zeros, and no seed window ends at 0.
        if result.candidates.iter().any(|found| found.query_end == 0) {
            return Err(GpuError::Lost("candidates for HSPs did not arrive".to_string()));
        }
        result.candidates.retain(|found| ((found.flip_and_piece >> FLIP_BITS) as usize) < n_done);
        self.times.lookup += lookup;
        self.times.walk += walk;
        Ok(result)
    }

    /// All buffers by name, for the n-th piece of a strand.
    fn bound<'b>(&'b self, query_bases: &'b GpuVec<Chunk>, n: usize) -> Vec<Bound<'b>> {
        let memory = &self.memory;
        vec![
            memory.params.bound("params"),
            self.words.words.bound("words"),
            self.scores.bound("scores"),
            self.words.blocks.bound("word_blocks"),
            self.words.starts.bound("word_starts"),
            self.words.ends.bound("word_ends"),
            self.target_bases.bound("target_bases"),
            query_bases.bound("query_bases"),
            memory.reaches[n % 2].bound("reaches"),
            memory.reaches[(n + 1) % 2].bound("next_reaches"),
            memory.buckets.bound("buckets"),
            memory.tallies.bound("tallies"),
            memory.candidates.bound("candidates"),
        ]
    }
}

impl BatchResult {
    /// Adds a piece's tallies, and makes sure that all its workgroups ran: a killed command buffer may be reported as a
    /// success.
    fn add_tallies(&mut self, tallies: &[u32], n_groups: u32) -> Result<(), GpuError> {
        let finished = tallies[TALLY_FINISHED as usize];
        if finished != n_groups {
            return Err(GpuError::Lost(format!("{finished} of {n_groups} workgroups of a seeding dispatch ran")));
        }
        let wide = |kind: u32| u64::from(tallies[kind as usize]) | u64::from(tallies[kind as usize + 1]) << 32;
        let settled = wide(TALLY_DROPPED) + wide(TALLY_EXTENDED);
        if wide(TALLY_HITS) != settled {
            return Err(GpuError::Lost(format!("of {} seed hits {settled} came to an end", wide(TALLY_HITS))));
        }
        self.counts += SearchCounts {
            hits: wide(TALLY_HITS),
            dropped: wide(TALLY_DROPPED),
            extended: wide(TALLY_EXTENDED),
            pairs: wide(TALLY_PAIRS),
            hsps: 0,
        };
        self.most_placed = self.most_placed.max(tallies[TALLY_PLACED as usize]);
        self.most_overflow = self.most_overflow.max(tallies[TALLY_OVERFLOW as usize]);
        Ok(())
    }
}

/// What is still to be done of a strand.
struct Plan {
    /// Pieces to be done first, the next one last.
    open: Vec<Piece>,
    /// End of the first query window after these.
    next_end: u32,
    /// After the last possible window end.
    end: u32,
    /// Query windows of the next piece.
    piece_len: u32,
    n_flips: u32,
}

impl Plan {
    fn batch(&mut self, most: usize) -> Vec<Piece> {
        let mut batch = Vec::with_capacity(most);
        while batch.len() < most {
            if let Some(piece) = self.open.pop() {
                if piece.n_positions > self.piece_len {
                    let rest = piece.n_positions - self.piece_len;
                    let first_end = piece.first_end + self.piece_len;
                    self.open.push(Piece { first_end, n_positions: rest, ..piece });
                }
                batch.push(Piece { n_positions: piece.n_positions.min(self.piece_len), ..piece });
            } else if self.next_end < self.end {
                let n = self.piece_len.min(self.end - self.next_end);
                batch.push(Piece::of_windows(self.next_end, n, self.n_flips));
                self.next_end += n;
            } else {
                break;
            }
        }
        batch
    }

    /// The first of these did not fit, and the others wait for it.
    fn repeat(&mut self, pieces: &[Piece], longest_list: u32) {
        let (failed, waiting) = pieces.split_first().expect("the piece that failed");
        self.open.extend(waiting.iter().rev());
        // Memory for candidates is shared by a batch: the smallest piece may fit when it comes first.
        let parts = if failed.is_smallest() { vec![*failed] } else { failed.cut(longest_list) };
        self.open.extend(parts.into_iter().rev());
        self.piece_len = (failed.n_positions / 4).max(1);
    }

    /// Moves the length of pieces towards the wanted number of hits.
    fn adapt(&mut self, result: &BatchResult, limits: &SeedLimits) {
        let wanted = u64::from(limits.wanted_hits());
        let fitting = u64::from(self.piece_len) * wanted / u64::from(result.most_placed.max(1));
        let most =
            if result.most_overflow > limits.overflow_capacity / 2 { self.piece_len / 2 } else { limits.max_piece };
        let len = u64::from(self.piece_len);
        self.piece_len = (fitting.clamp(len / 2, len * 2) as u32).min(most).max(1);
    }
}

fn params_for(
    kinds: &Kinds,
    table: &WordTable,
    words: &DeviceWords,
    options: &Options,
    limits: &SeedLimits,
) -> SeedParams {
    let (seed, layout) = (&options.seed, &table.layout);
    let filter_mask = match &seed.hit_filter {
        Some(filter) if filter.cares_only => layout.care_mask,
        Some(_) => layout.window_mask,
        None => 0,
    };
    let (is_window, x_drop) = match options.gap_free {
        GapFreeExtension::XDrop { x_drop, .. } => (false, x_drop),
        _ => (true, 0),
    };
    let threshold = match options.hsp_threshold {
        HspThreshold::Score(threshold) => threshold,
        _ => i32::MIN,
    };
    SeedParams {
        window_len: layout.len as u32,
        window_mask: layout.window_mask as u32,
        n_groups: words.n_groups,
        bucket_capacity: limits.bucket_capacity,
        overflow_capacity: limits.overflow_capacity,
        frequent_capacity: limits.frequent_capacity,
        candidate_capacity: limits.candidate_capacity,
        has_checks: u32::from(layout.resolve_mask != 0 || table.is_stale || seed.hit_filter.is_some()),
        is_masked_later: u32::from(table.is_stale),
        resolve_mask: layout.resolve_mask as u32,
        transitions: u32::from(seed.transitions),
        filter_mask: filter_mask as u32,
        filter_matches: seed.hit_filter.as_ref().map_or(0, |filter| filter.min_matches),
        filter_transversions: seed.hit_filter.as_ref().and_then(|filter| filter.max_transversions).unwrap_or(u32::MAX),
        diagonal_rule: if is_window && options.gapped.is_none() {
            RULE_OFF
        } else if seed.recover_hits {
            RULE_RECOVER
        } else {
            RULE_HASHED
        },
        is_window: u32::from(is_window),
        x_drop,
        threshold,
        best_limit: kinds.best_limit(),
        run_cap: limits.run_cap,
        has_triples: u32::from(kinds.has_triples(x_drop)),
        ..SeedParams::default()
    }
}
