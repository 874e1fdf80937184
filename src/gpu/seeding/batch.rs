//! Pieces on the device: memory, kernels, and what comes back from a batch of them.

use std::time::{Duration, Instant};

use super::bases::{Chunk, SeedScores};
use super::layout::*;
use super::limits::SeedLimits;
use super::pieces::Piece;
use super::words::{DevicePart, DeviceWords};
use crate::filter::SearchCounts;
use crate::gpu::buffer::GpuVec;
use crate::gpu::context::{Gpu, GpuError};
use crate::gpu::kernel::{Bound, BoundKernel, Kernel, Step, run_all};
use crate::gpu::shaders::Shader;
use crate::gpu::variant::Variant;

/// Workgroups of `seed_settle`.
const SETTLE_GROUPS: u32 = N_SLOTS / SLOTS_PER_GROUP;

/// Storage bindings of a kernel beside the target's bases, at most.
pub(super) const OTHER_BINDINGS: u32 = 7;

/// The kernels, compiled.
#[derive(Debug)]
pub(super) struct Kernels {
    lookup: Kernel,
    frequent: Kernel,
    settle: Kernel,
    walk: Kernel,
}

impl Kernels {
    /// For targets whose bases take so many bindings.
    pub fn compile(gpu: &Gpu, target_pages: u32) -> Result<Kernels, GpuError> {
        // The rest of the variant gives constants that the kernels do not use.
        let variant = &Variant { target_pages, ..gpu.variant(crate::gpu::devices::DEFAULT_WINDOW) };
        // Drivers take their time for each, on one thread.
        std::thread::scope(|scope| {
            let compile = |shader| scope.spawn(move || Kernel::new(gpu, shader, variant));
            let [lookup, frequent, settle, walk] =
                [Shader::SeedLookup, Shader::SeedFrequent, Shader::SeedSettle, Shader::SeedWalk]
                    .map(compile)
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            Ok(Kernels { lookup: lookup?, frequent: frequent?, settle: settle?, walk: walk? })
        })
    }
}

/// What the kernels read of the target.
pub(super) struct TargetMemory {
    pub words: DeviceWords,
    /// As many chunks in each as the limits say.
    pub bases: Vec<GpuVec<Chunk>>,
    pub scores: GpuVec<SeedScores>,
}

/// Device memory and kernels, bound to each other.
pub(super) struct Batches {
    kernels: Kernels,
    target: TargetMemory,
    limits: SeedLimits,
    /// One for each piece of a batch.
    params: Vec<GpuVec<SeedParams>>,
    /// Reaches before and after a piece; they change places from piece to piece.
    reaches: [GpuVec<[u32; 2]>; 2],
    buckets: GpuVec<[u32; 2]>,
    tallies: GpuVec<u32>,
    candidates: GpuVec<Candidate>,
    query_bases: GpuVec<Chunk>,
    /// Kernels for each piece of a batch, by which of `reaches` comes first.
    bound: [Vec<PieceKernels>; 2],
    /// Pieces done since the reaches were cleared.
    n_done: usize,
}

struct PieceKernels {
    /// `seed_lookup` and `seed_frequent` for each part of the word table.
    parts: Vec<[BoundKernel; 2]>,
    settle: BoundKernel,
    walk: BoundKernel,
}

/// What a batch found.
pub(super) struct BatchResult {
    /// Pieces that fit; the next one, if there is one, did not.
    pub n_done: usize,
    pub candidates: Vec<Candidate>,
    pub counts: SearchCounts,
    /// Hits in buckets per query window, in the densest piece.
    pub most_hits_per_window: f64,
    pub most_overflow: u32,
    /// Lookup, settling and walk, if they were measured.
    pub seconds: [Duration; 3],
}

impl Batches {
    /// Room for pieces within the limits.
    pub fn new(gpu: &Gpu, kernels: Kernels, target: TargetMemory, limits: SeedLimits) -> Batches {
        let reaches = || GpuVec::new(gpu, "reaches", N_SLOTS as usize);
        let params = |_| GpuVec::uniform(gpu, "params", &SeedParams::default());
        let mut batches = Batches {
            kernels,
            target,
            limits,
            params: (0..limits.batch).map(params).collect(),
            reaches: [reaches(), reaches()],
            buckets: GpuVec::new(gpu, "buckets", limits.bucket_words()),
            tallies: GpuVec::new(gpu, "tallies", (BUCKET_TALLIES + N_SLOTS) as usize),
            candidates: GpuVec::new(gpu, "candidates", limits.candidate_capacity as usize),
            query_bases: GpuVec::new(gpu, "query bases", 1 << 10),
            bound: [Vec::new(), Vec::new()],
            n_done: 0,
        };
        batches.bind(gpu);
        batches
    }

    /// The words of the target.
    pub fn words(&self) -> &DeviceWords {
        &self.target.words
    }

    /// Uploads a query array and forgets what was looked at before.
    pub fn load(&mut self, gpu: &Gpu, chunks: &[Chunk]) {
        if chunks.len() > self.query_bases.len() {
            let max = gpu.capabilities().max_binding as usize / size_of::<Chunk>();
            let len = chunks.len().next_power_of_two().min(max).max(chunks.len());
            self.query_bases = GpuVec::new(gpu, "query bases", len);
            self.bind(gpu);
        }
        self.query_bases.write(gpu, chunks);
        self.reaches[0].clear(gpu);
        self.tallies.clear(gpu);
        self.n_done = 0;
    }

    /// Empties the buckets after a piece that did not fit.
    pub fn clear_buckets(&self, gpu: &Gpu) {
        self.tallies.clear(gpu);
    }

    fn bind(&mut self, gpu: &Gpu) {
        let later_pages: Vec<String> =
            (1..self.target.bases.len()).map(|page| format!("target_bases_{page}")).collect();
        let page_names = std::iter::once("target_bases").chain(later_pages.iter().map(String::as_str));
        let pages: Vec<Bound> = self.target.bases.iter().zip(page_names).map(|(page, name)| page.bound(name)).collect();
        let kernels = |params: &GpuVec<SeedParams>, first: usize| {
            let others = [
                params.bound("params"),
                self.target.words.words.bound("words"),
                self.target.scores.bound("scores"),
                self.query_bases.bound("query_bases"),
                self.reaches[first].bound("reaches"),
                self.reaches[1 - first].bound("next_reaches"),
                self.buckets.bound("buckets"),
                self.tallies.bound("tallies"),
                self.candidates.bound("candidates"),
            ];
            let buffers = [&others[..], &pages].concat();
            let of_part = |part: &DevicePart| {
                let tables =
                    [part.blocks.bound("word_blocks"), part.starts.bound("word_starts"), part.ends.bound("word_ends")];
                let buffers = [&buffers[..], &tables].concat();
                [&self.kernels.lookup, &self.kernels.frequent].map(|kernel| kernel.bind(gpu, &buffers))
            };
            PieceKernels {
                parts: self.target.words.parts.iter().map(of_part).collect(),
                settle: self.kernels.settle.bind(gpu, &buffers),
                walk: self.kernels.walk.bind(gpu, &buffers),
            }
        };
        self.bound = [0, 1].map(|first| self.params.iter().map(|params| kernels(params, first)).collect());
    }

    /// Runs pieces one after the other. `waits`: after every dispatch, so that stages can be measured.
    pub fn run(
        &mut self,
        gpu: &Gpu,
        strands: &SeedParams,
        pieces: &[Piece],
        waits: bool,
    ) -> Result<BatchResult, GpuError> {
        let mut header = vec![0; BUCKET_TALLIES as usize];
        header[TALLY_FAILED as usize] = NEVER;
        self.tallies.write(gpu, &header);
        for (piece_ix, piece) in pieces.iter().enumerate() {
            self.params[piece_ix].write(gpu, &[strands.for_piece(piece, piece_ix as u32)]);
        }
        let mut seconds = [Duration::ZERO; 3];
        for (piece_ix, piece) in pieces.iter().enumerate() {
            let stages = self.stages(piece, piece_ix);
            if !waits {
                // A submission each: some systems take a device whose submissions take long for hung.
                run_all(gpu, &stages.concat());
                continue;
            }
            for (steps, seconds) in stages.iter().zip(&mut seconds) {
                let started = Instant::now();
                run_all(gpu, steps);
                gpu.wait()?;
                *seconds += started.elapsed();
            }
        }
        let result = self.result(gpu, pieces, seconds)?;
        self.n_done += result.n_done;
        Ok(result)
    }

    /// What a piece's lookups, settling and walk consist of.
    fn stages(&self, piece: &Piece, piece_ix: usize) -> [Vec<Step<'_>>; 3] {
        let kernels = &self.bound[(self.n_done + piece_ix) % 2][piece_ix];
        let mut lookups = Vec::new();
        for (i, [lookup, frequent]) in
            kernels.parts[piece.first_part as usize..][..piece.n_parts as usize].iter().enumerate()
        {
            if i > 0 {
                // Frequent words are listed part by part.
                lookups.push(Step::Clear(&self.tallies, piece_tallies(piece_ix) + TALLY_FREQUENT));
            }
            lookups.push(Step::Dispatch(lookup, lookup_groups(piece)));
            lookups.push(Step::Dispatch(frequent, self.limits.frequent_groups));
        }
        let settle = Step::Dispatch(&kernels.settle, SETTLE_GROUPS);
        let walk = Step::Dispatch(&kernels.walk, self.limits.walk_groups);
        [lookups, vec![settle], vec![walk]]
    }

    fn result(&self, gpu: &Gpu, pieces: &[Piece], seconds: [Duration; 3]) -> Result<BatchResult, GpuError> {
        let tallies = self.tallies.read(gpu, BUCKET_TALLIES as usize)?;
        let n_done = (tallies[TALLY_FAILED as usize] as usize).min(pieces.len());
        let mut result = BatchResult {
            n_done,
            candidates: Vec::new(),
            counts: SearchCounts::default(),
            most_hits_per_window: 0.0,
            most_overflow: 0,
            seconds,
        };
        for (piece_ix, piece) in pieces[..n_done].iter().enumerate() {
            let of_part = lookup_groups(piece) + self.limits.frequent_groups;
            let n_groups = piece.n_parts * of_part + SETTLE_GROUPS + self.limits.walk_groups;
            let first = piece_tallies(piece_ix) as usize;
            result.add_tallies(&tallies[first..][..(N_COPIES * N_PIECE_TALLIES) as usize], piece, n_groups)?;
        }
        let n_candidates = tallies[TALLY_CANDIDATES as usize].min(self.limits.candidate_capacity);
        result.candidates = self.candidates.read(gpu, n_candidates as usize)?;
        // A copy that was not made reads as zeros, and no seed window ends at 0.
        if result.candidates.iter().any(|found| found.query_end == 0) {
            return Err(GpuError::Lost("candidates for HSPs did not arrive".to_string()));
        }
        result.candidates.retain(|found| ((found.flip_and_piece >> FLIP_BITS) as usize) < n_done);
        Ok(result)
    }
}

/// Where the tallies of a piece start.
fn piece_tallies(piece_ix: usize) -> u32 {
    PIECE_TALLIES + piece_ix as u32 * N_COPIES * N_PIECE_TALLIES
}

fn lookup_groups(piece: &Piece) -> u32 {
    (piece.n_positions * piece.n_flips).div_ceil(LOOKUP_LANES)
}

impl SeedParams {
    fn for_piece(self, piece: &Piece, piece_ix: u32) -> SeedParams {
        SeedParams {
            first_end: piece.first_end,
            n_positions: piece.n_positions,
            first_flip: piece.first_flip,
            n_flips: piece.n_flips,
            list_first: piece.list.0,
            list_end: piece.list.1,
            piece_ix,
            range_shift: piece.range_shift(),
            ..self
        }
    }
}

impl BatchResult {
    /// Adds a piece's tallies, and makes sure that all its workgroups ran: a killed command buffer may be reported as a
    /// success.
    fn add_tallies(&mut self, tallies: &[u32], piece: &Piece, n_groups: u32) -> Result<(), GpuError> {
        let copies = || tallies.chunks(N_PIECE_TALLIES as usize);
        let sum = |kind: u32| copies().map(|copy| copy[kind as usize]).sum::<u32>();
        let wide_of =
            |copy: &[u32], kind: u32| u64::from(copy[kind as usize]) | u64::from(copy[kind as usize + 1]) << 32;
        let wide = |kind: u32| copies().map(|copy| wide_of(copy, kind)).sum::<u64>();
        let finished = sum(TALLY_FINISHED);
        if finished != n_groups {
            return Err(GpuError::Lost(format!("{finished} of {n_groups} workgroups of a seeding dispatch ran")));
        }
        let settled = wide(TALLY_DROPPED) + wide(TALLY_EXTENDED);
        if wide(TALLY_HITS) != settled {
            return Err(GpuError::Lost(format!("of {} seed hits {settled} came to an end", wide(TALLY_HITS))));
        }
        let open = copies().fold(0, |open: u32, copy| open.wrapping_add(copy[TALLY_OPEN as usize]));
        if open != 0 {
            return Err(GpuError::Lost("some of the words' places were not looked at".to_string()));
        }
        self.counts += SearchCounts {
            hits: wide(TALLY_HITS),
            dropped: wide(TALLY_DROPPED),
            extended: wide(TALLY_EXTENDED),
            pairs: wide(TALLY_PAIRS),
            hsps: 0,
        };
        let per_window = f64::from(sum(TALLY_PLACED)) / f64::from(piece.n_positions);
        self.most_hits_per_window = self.most_hits_per_window.max(per_window);
        self.most_overflow = self.most_overflow.max(sum(TALLY_OVERFLOW));
        Ok(())
    }
}
