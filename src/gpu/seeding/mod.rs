//! `GpuSeeder`: seed hits and their gap-free extension on the GPU, equal to [`crate::filter::HspSearch`] HSP for HSP.
//!
//! ```text
//! query strands ─ one array ─ pieces ─┬─> seed_lookup ─> seed_frequent ─> seed_settle ─> seed_walk ─┬─> candidates
//!                                     └───── reaches of the residues, from piece to piece ──────────┘       │
//!                                          host: per strand order, entropy, threshold <─────────────────────┘
//! ```
//! Hits of different residues of the diagonal modulo 65536 never influence each other (lastz-semantics 2.4). A piece is
//! a stretch of query windows; its hits are extended all at once and go into one bucket per residue, and each bucket is
//! settled in LASTZ's order. Hits that the reach of their residue has passed are dropped before they are extended, so that
//! near-identical sequences cost no more than others. Where the word table is too large for a binding, a piece is looked up
//! in one part of it after the other, and the hits of all are settled together. A batch of pieces is under way at a time; a piece that does not fit
//! ([`TALLY_FAILED`](layout::TALLY_FAILED)) and all after it leave no trace, and are repeated in smaller pieces.
//!
//! Any number of query strands stand in one array, with gaps between them. LASTZ forgets what it has looked at from strand
//! to strand; here nothing needs to be forgotten. Positions only grow: what a strand has looked at ends before the next one
//! starts, and neither drops nor cuts a hit there. The diagonals of a strand are all off by where it starts, so its residues
//! merely have other names.

mod bases;
mod batch;
pub mod layout;
mod limits;
mod params;
mod pieces;
mod plan;
mod words;

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use self::bases::{Chunk, Kinds, PER_CHUNK, chunks_with_gap};
use self::batch::{Batches, Kernels, OTHER_BINDINGS, TargetMemory};
use self::layout::{Candidate, FLIP_BITS, SeedParams};
pub use self::limits::SeedLimits;
use self::params::params_for;
use self::plan::Plan;
use self::words::DeviceWords;
use super::buffer::GpuVec;
use super::context::{Gpu, GpuError};
use super::memory::Reservation;
use crate::filter::{HspAcceptance, SearchCounts, merge_by_diagonal};
use crate::options::{GapFreeExtension, HspThreshold, SelfComparison};
use crate::seed::WordTable;
use crate::{Hsp, Options, SequenceSet};

/// Largest X: sums then stay far from the end of 32 bits.
const X_DROP_LIMIT: i32 = 1 << 28;
/// Most bases of a query array: positions and diagonals then fit 32 bits.
const MAX_ARRAY: usize = (1 << 31) - 1;

/// What was done, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedTimes {
    /// Pieces done.
    pub pieces: u64,
    /// Pieces that did not fit and were repeated.
    pub repeated: u64,
    /// Lookups, extensions, hits into buckets. Measured only when asked for: it makes the host wait after every dispatch.
    pub lookup: Duration,
    /// Settling of plain hits, if measured.
    pub settle: Duration,
    /// Walks with hits that are extended anew, if measured.
    pub walk: Duration,
    /// Host: order, entropy, threshold.
    pub finish: Duration,
}

/// The kernels of a search, compiled for a device. They do not depend on sequences or options.
pub struct SeedKernels(Kernels);

impl SeedKernels {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`GpuError::Lost`] if the driver refuses them.
    pub fn compile(gpu: &Gpu) -> Result<SeedKernels, GpuError> {
        Kernels::compile(gpu, 1).map(SeedKernels)
    }
}

/// Searches query strands for HSPs on a GPU.
pub struct GpuSeeder {
    gpu: Gpu,
    options: Options,
    kinds: Kinds,
    longest_list: u32,
    batches: Batches,
    limits: SeedLimits,
    params: SeedParams,
    /// Query windows of the next piece.
    piece_len: u32,
    times: SeedTimes,
    measures_stages: bool,
    _memory: Reservation,
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
                "this x-drop is out of the range of the GPU"
            }
            GapFreeExtension::XDrop { .. } | GapFreeExtension::None => return None,
        };
        Some(reason.to_string())
    }

    /// Why this query strand needs the CPU, if it does. For `is_same_strand` see
    /// [`HspSearch::new`](crate::filter::HspSearch::new).
    pub fn reason_against_query(
        &self,
        target: &SequenceSet,
        query: &SequenceSet,
        is_same_strand: bool,
    ) -> Option<String> {
        let is_mirrored = self.options.self_comparison != SelfComparison::No && !is_same_strand;
        if is_mirrored && target.partitions.len() != 1 {
            return Some("--self on the other strand of several sequences is searched on the CPU".to_string());
        }
        let max = self.max_array();
        if query.len() > max {
            return Some(format!("{} has more bases than the {max} that the GPU takes", query.file));
        }
        self.gpu.memory().reserve_input(&query.file, query.len() as u64 / 2).err()
    }

    /// Most bases of a query array, gaps included.
    fn max_array(&self) -> usize {
        let bytes = self.gpu.capabilities().max_binding.min(self.gpu.memory().for_seeding());
        let chunks = (bytes as usize / size_of::<Chunk>()).saturating_sub(4);
        (chunks * PER_CHUNK).min(MAX_ARRAY)
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
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_limits(
        gpu: &Gpu,
        target: &SequenceSet,
        table: &WordTable,
        options: &Options,
        limits: SeedLimits,
    ) -> Result<GpuSeeder, GpuError> {
        Self::with_kernels(gpu, SeedKernels::compile(gpu)?, (target, table), options, limits)
    }

    /// As [`with_limits`](Self::with_limits), with kernels that were compiled before.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_kernels(
        gpu: &Gpu,
        kernels: SeedKernels,
        (target, table): (&SequenceSet, &WordTable),
        options: &Options,
        limits: SeedLimits,
    ) -> Result<GpuSeeder, GpuError> {
        let kinds = Kinds::new(&options.scoring.gap_free).map_err(GpuError::OutOfRange)?;
        let ranges = table.ranges(limits.part_windows.max(1) as usize);
        let needed = DeviceWords::bytes(table, ranges.len()) + target.len() as u64 / 2;
        let what = format!("the search in {}", target.file);
        let reservation = gpu.memory().reserve_input(&what, needed).map_err(GpuError::OutOfRange)?;
        let words = DeviceWords::upload(gpu, table, &ranges, options.seed.transitions)?;
        let limits = limits.within_kernels(words.n_flips);
        let bases = upload_bases(gpu, target, &kinds, &limits)?;
        let kernels = match bases.len() {
            1 => kernels.0,
            n_pages => Kernels::compile(gpu, n_pages as u32)?,
        };
        let (_, _, starts, _) = table.arrays();
        let memory = TargetMemory { scores: GpuVec::uniform(gpu, "scores", kinds.scores()), bases, words };
        let params = params_for(&kinds, (target, table), &memory.words, options, &limits);
        Ok(GpuSeeder {
            piece_len: first_piece(table, memory.words.n_flips, &limits),
            longest_list: starts.par_windows(2).map(|list| list[1] - list[0]).max().unwrap_or(0),
            batches: Batches::new(gpu, kernels, memory, limits),
            gpu: gpu.clone(),
            options: options.clone(),
            kinds,
            limits,
            params,
            times: SeedTimes::default(),
            measures_stages: false,
            _memory: reservation,
        })
    }

    /// Whether to wait after every dispatch, and so to measure stages.
    pub fn measure_stages(&mut self, yes: bool) {
        self.measures_stages = yes;
    }

    /// Parts of the target's word table on the device.
    pub fn n_parts(&self) -> usize {
        self.batches.words().parts.len()
    }

    /// What was done so far.
    pub fn times(&self) -> SeedTimes {
        self.times
    }

    /// All HSPs of a query strand, as [`HspSearch::find`](crate::filter::HspSearch::find) gives them, in its order;
    /// [`reason_against_query`](Self::reason_against_query) must be `None`, and `target` be the one given to
    /// [`new`](Self::new).
    ///
    /// # Errors
    /// If the device fails.
    pub fn find(
        &mut self,
        target: &SequenceSet,
        query: &SequenceSet,
        is_same_strand: bool,
    ) -> Result<(Vec<Hsp>, SearchCounts), GpuError> {
        let (mut hsps, counts) = self.find_many(target, &[(query, is_same_strand)])?;
        Ok((hsps.pop().unwrap_or_default(), counts))
    }

    /// As [`find`](Self::find), for many strands at once: HSPs of each, counts of all.
    ///
    /// # Errors
    /// If the device fails.
    pub fn find_many(
        &mut self,
        target: &SequenceSet,
        strands: &[(&SequenceSet, bool)],
    ) -> Result<(Vec<Vec<Hsp>>, SearchCounts), GpuError> {
        let mut hsps = Vec::with_capacity(strands.len());
        let mut counts = SearchCounts::default();
        let mut rest = strands;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.n_together(rest));
            let (found, found_counts) = self.find_together(target, now)?;
            hsps.extend(found);
            counts += found_counts;
            rest = later;
        }
        Ok((hsps, counts))
    }

    /// How many of these strands fit one array; at least one. Under `--self` positions are compared with the target's, so
    /// each strand stands alone.
    fn n_together(&self, strands: &[(&SequenceSet, bool)]) -> usize {
        if self.options.self_comparison != SelfComparison::No {
            return 1;
        }
        let mut room = self.max_array() / PER_CHUNK;
        let fits = |strand: &&(&SequenceSet, bool)| {
            let n_chunks = chunks_with_gap(strand.0.len());
            let fits = n_chunks <= room;
            room = room.saturating_sub(n_chunks);
            fits
        };
        strands.iter().take_while(fits).count().max(1)
    }

    fn find_together(
        &mut self,
        target: &SequenceSet,
        strands: &[(&SequenceSet, bool)],
    ) -> Result<(Vec<Vec<Hsp>>, SearchCounts), GpuError> {
        let bases: Vec<&[u8]> = strands.iter().map(|(query, _)| &query.bases[..]).collect();
        let array = self.kinds.pack(&bases);
        self.batches.load(&self.gpu, &array.chunks);
        let is_same_strand = strands.first().is_some_and(|strand| strand.1);
        let params = self.params.for_strands(&self.options, target, array.end, is_same_strand);
        let (candidates, mut counts) = self.candidates(&params)?;
        let started = Instant::now();
        let hsps = self.finish(target, strands, &array.starts, candidates, &mut counts);
        self.times.finish += started.elapsed();
        Ok((hsps, counts))
    }

    /// Puts candidates into the order of discovery, strand by strand, and applies the rules of 3.2 and 3.3.
    fn finish(
        &self,
        target: &SequenceSet,
        strands: &[(&SequenceSet, bool)],
        starts: &[u32],
        mut candidates: Vec<Candidate>,
        counts: &mut SearchCounts,
    ) -> Vec<Vec<Hsp>> {
        candidates.par_sort_unstable_by_key(|found| {
            (found.query_end, found.flip_and_piece % (1 << FLIP_BITS), Reverse(found.target_end))
        });
        let acceptance = HspAcceptance::new(&self.options);
        let accept = |query: &SequenceSet, start: u32, found: &Candidate| {
            let hsp = Hsp {
                target_start: found.target_end - found.left_len,
                query_start: found.query_end - start - found.left_len,
                len: found.left_len + found.right_len,
                score: found.score,
            };
            acceptance.accept(target, query, hsp)
        };
        let mut parts = Vec::with_capacity(strands.len());
        let mut rest = &candidates[..];
        for (i, (query, _)) in strands.iter().enumerate() {
            // Windows end after the start of their strand and before that of the next.
            let n = starts.get(i + 1).map_or(rest.len(), |&next| rest.partition_point(|found| found.query_end <= next));
            let (own, others) = rest.split_at(n);
            parts.push((*query, starts[i], own));
            rest = others;
        }
        let accept_all = |(query, start, found): (&SequenceSet, u32, &[Candidate])| {
            found.par_iter().filter_map(|found| accept(query, start, found)).collect::<Vec<Hsp>>()
        };
        let mut hsps: Vec<Vec<Hsp>> = parts.into_par_iter().map(accept_all).collect();
        counts.hsps += hsps.iter().map(|hsps| hsps.len() as u64).sum::<u64>();
        if self.options.seed.recover_hits {
            hsps.par_iter_mut().for_each(|hsps| *hsps = merge_by_diagonal(std::mem::take(hsps)));
        }
        hsps
    }

    /// The candidates of the array that was loaded.
    fn candidates(&mut self, params: &SeedParams) -> Result<(Vec<Candidate>, SearchCounts), GpuError> {
        let ends = params.window_len..params.query_len + 1;
        let mut plan = Plan::new(ends, self.piece_len, self.batches.words());
        let mut candidates = Vec::new();
        let mut counts = SearchCounts::default();
        loop {
            // How many hits a piece has is only known after some were done.
            let most = self.limits.batch.min(self.times.pieces as usize + 1);
            let batch = plan.batch(most);
            if batch.is_empty() {
                self.piece_len = plan.piece_len;
                return Ok((candidates, counts));
            }
            let mut result = self.batches.run(&self.gpu, params, &batch, self.measures_stages)?;
            counts += result.counts;
            candidates.append(&mut result.candidates);
            self.times.pieces += result.n_done as u64;
            self.times.lookup += result.seconds[0];
            self.times.settle += result.seconds[1];
            self.times.walk += result.seconds[2];
            if let Some(failed) = batch.get(result.n_done) {
                if failed.is_smallest() && result.n_done == 0 {
                    return Err(GpuError::Lost("a single hit did not fit into the memory for seeding".to_string()));
                }
                self.times.repeated += 1;
                self.batches.clear_buckets(&self.gpu);
                plan.repeat(&batch[result.n_done..], self.longest_list);
            } else if batch.iter().map(|piece| piece.n_positions).sum::<u32>() > plan.piece_len / 2 {
                plan.adapt(&result, &self.limits);
            }
        }
    }
}

/// The target's bases, in as many bindings as they take.
fn upload_bases(
    gpu: &Gpu,
    target: &SequenceSet,
    kinds: &Kinds,
    limits: &SeedLimits,
) -> Result<Vec<GpuVec<Chunk>>, GpuError> {
    let chunks = kinds.pack(&[&target.bases]).chunks;
    let pages = chunks.chunks(limits.page_chunks as usize);
    let (needed, most) = (pages.len() as u32 + OTHER_BINDINGS, gpu.capabilities().max_storage_bindings);
    if needed > most {
        let reason = format!("{} is so long that kernels need {needed} buffers; the GPU grants {most}", target.file);
        return Err(GpuError::OutOfRange(reason));
    }
    Ok(pages.map(|page| GpuVec::from_slice(gpu, "target bases", page)).collect())
}

/// Query windows of the first piece.
fn first_piece(table: &WordTable, n_flips: u32, limits: &SeedLimits) -> u32 {
    let likely = || {
        let hits_per_lookup = table.n_windows() as f64 / (table.arrays().0.len() * 64) as f64;
        let hits = hits_per_lookup * f64::from(n_flips);
        (f64::from(limits.wanted_hits()) / hits.max(1e-6)) as u32
    };
    limits.first_piece.unwrap_or_else(likely).clamp(1, limits.max_piece)
}
