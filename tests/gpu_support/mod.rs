//! What the GPU tests share: an adapter or a loud skip, seeded random sequences, and the comparison with the CPU.
#![allow(dead_code, reason = "each test file uses its part")]

use fastz::alignment::Anchor;
use fastz::cpu::Ydrop;
use fastz::cpu::ydrop::{SideProblem, Workspace};
use fastz::extend::Direction;
use fastz::extend::side::Side;
use fastz::gpu::{AdapterChoice, Gpu, GpuError, GpuExtender, GpuSettings, Inspected, OneSided};
use fastz::sequence::SequenceSet;
use std::io::Write;
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The adapter of `FASTZ_TEST_DEVICE` (default: the first one, software too). Without one, `None` and a line that says
/// so, or a failure if `FASTZ_REQUIRE_GPU=1`.
///
/// All tests of a program get the same device: where hundreds are opened and closed side by side, NVIDIA's driver 580
/// sometimes stands still.
pub fn gpu_or_skip(test: &str) -> Option<Gpu> {
    static SHARED: LazyLock<Result<Gpu, GpuError>> = LazyLock::new(|| open(&GpuSettings::default()));
    or_skip(test, SHARED.clone())
}

/// The same device for one test after the other, which has all its memory.
pub fn whole_gpu_or_skip(test: &str) -> Option<WholeGpu> {
    static TURN: Mutex<()> = Mutex::new(());
    let gpu = gpu_or_skip(test)?;
    // A test that failed leaves nothing behind.
    Some(WholeGpu { gpu, _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner) })
}

/// A device whose memory no other test takes.
pub struct WholeGpu {
    gpu: Gpu,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for WholeGpu {
    type Target = Gpu;
    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

/// The same adapter as a device of its own, for tests that lose it or count what it does.
pub fn own_gpu_or_skip(test: &str) -> Option<Gpu> {
    gpu_with_or_skip(test, &GpuSettings::default())
}

/// The same, opened with settings.
pub fn gpu_with_or_skip(test: &str, settings: &GpuSettings) -> Option<Gpu> {
    or_skip(test, open(settings))
}

/// The value of `--device` for the same adapter.
pub fn device_name() -> String {
    std::env::var("FASTZ_TEST_DEVICE").unwrap_or("gpu:0".to_string())
}

/// `FASTZ_TEST_CHECKS=off` leaves the checks of indices out of the kernels, as released builds do.
fn open(settings: &GpuSettings) -> Result<Gpu, GpuError> {
    let is_unchecked = std::env::var("FASTZ_TEST_CHECKS").is_ok_and(|value| value == "off");
    let settings = GpuSettings { checks_indices: is_unchecked.then_some(false), ..settings.clone() };
    let choice = AdapterChoice::from_option(&device_name()).expect("FASTZ_TEST_DEVICE names a GPU");
    Gpu::open_with(&choice, &settings)
}

fn or_skip(test: &str, opened: Result<Gpu, GpuError>) -> Option<Gpu> {
    match opened {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var("FASTZ_REQUIRE_GPU").is_ok_and(|value| value == "1") => panic!("{error}"),
        Err(error) => {
            // Past the capture of the test harness, so that it is seen.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {error}");
            None
        }
    }
}

/// Seeded random numbers.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn bases(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"ACGT"[self.below(4)]).collect()
    }

    /// A copy with substitutions and short and long gaps, one change per `spacing` bases on average.
    pub fn mutated(&mut self, bases: &[u8], spacing: usize) -> Vec<u8> {
        let mut copy = Vec::with_capacity(bases.len());
        for &base in bases {
            match self.below(spacing * 8) {
                0..=5 => copy.push(b"ACGT"[self.below(4)]),
                6 => {
                    let len = 1 + self.below(6) * self.below(12);
                    copy.extend(self.bases(len));
                }
                7 => {
                    let keep = copy.len().saturating_sub(1 + self.below(6) * self.below(12));
                    copy.truncate(keep);
                }
                _ => copy.push(base),
            }
        }
        copy
    }
}

/// Both sides of an anchor at these array positions.
pub fn both_sides(target: usize, query: usize) -> [OneSided; 2] {
    let anchor = Anchor { target: target as u32, query: query as u32, hsp_score: 0 };
    [Direction::Left, Direction::Right].map(|direction| OneSided { anchor, direction })
}

/// Both sides of each anchor.
pub fn runs_at(anchors: &[(usize, usize)]) -> Vec<OneSided> {
    anchors.iter().flat_map(|&(t, q)| both_sides(t, q)).collect()
}

/// Homologous pieces of 20 to `longest` bases among random sequence, with runs of N, lower case and repeats, and an
/// anchor in each.
pub fn patchwork_pair(rng: &mut SplitMix64, pieces: usize, longest: usize) -> (Vec<u8>, Vec<u8>, Vec<(usize, usize)>) {
    let (mut target, mut query, mut anchors) = (rng.bases(30), rng.bases(20), Vec::new());
    let repeat = rng.bases(40);
    for piece in 0..pieces {
        let len = 20 + rng.below(longest - 20);
        let mut shared = match piece % 4 {
            0 => repeat.iter().copied().cycle().take(len).collect(),
            _ => rng.bases(len),
        };
        if piece % 3 == 1 {
            let start = rng.below(shared.len() / 2);
            shared[start..start + 5].fill(b'N');
        }
        let copy = rng.mutated(&shared, 12);
        let middle = rng.below(shared.len().min(copy.len()).max(1));
        anchors.push((target.len() + middle, query.len() + middle.min(copy.len().saturating_sub(1))));
        target.extend(shared);
        query.extend(copy);
        if piece % 5 == 2 {
            target.make_ascii_lowercase();
        }
        let (gap_t, gap_q) = (rng.below(60), rng.below(60));
        target.extend(rng.bases(gap_t));
        query.extend(rng.bases(gap_q));
    }
    anchors.retain(|&(t, q)| t < target.len() && q < query.len());
    (target, query, anchors)
}

/// The oracle's answers.
pub fn cpu_sides(ydrop: &Ydrop, target: &SequenceSet, query: &SequenceSet, runs: &[OneSided]) -> Vec<Side> {
    let mut workspace = Workspace::default();
    runs.iter()
        .map(|run| {
            let problem = SideProblem { target, query, anchor: run.anchor, direction: run.direction };
            ydrop.run(&problem, None, &mut workspace)
        })
        .collect()
}

/// Runs everything on the GPU; runs that it leaves to the CPU are `None`.
pub fn gpu_sides(
    extender: &mut GpuExtender,
    target: &SequenceSet,
    query: &SequenceSet,
    runs: &[OneSided],
) -> Vec<Option<Side>> {
    let unit = extender.load(target, query).unwrap();
    let inspected = extender.inspect(&unit, runs).unwrap();
    let done: Vec<usize> = (0..runs.len()).filter(|&ix| inspected[ix].is_some()).collect();
    let pairs: Vec<(OneSided, &Inspected)> =
        done.iter().map(|&ix| (runs[ix], inspected[ix].as_ref().unwrap())).collect();
    let scripts = extender.execute(&unit, &pairs).unwrap();
    let mut sides = vec![None; runs.len()];
    for (&ix, script) in done.iter().zip(scripts) {
        sides[ix] = script.map(|script| Side { script, ..inspected[ix].as_ref().unwrap().side.clone() });
    }
    sides
}

/// Fails on the first difference, with the run. Returns how many runs were left to the CPU.
pub fn assert_same(what: &str, runs: &[OneSided], gpu: &[Option<Side>], cpu: &[Side]) -> usize {
    for ((run, gpu), cpu) in runs.iter().zip(gpu).zip(cpu) {
        if let Some(gpu) = gpu {
            assert_eq!(
                (gpu.score, gpu.rows, gpu.columns, gpu.cells, gpu.truncated),
                (cpu.score, cpu.rows, cpu.columns, cpu.cells, cpu.truncated),
                "{what}: {run:?} (score, rows, columns, cells, truncated)"
            );
            assert_eq!(gpu.windows, cpu.windows, "{what}: {run:?}");
            assert_eq!(gpu.script, cpu.script, "{what}: {run:?}");
        }
    }
    gpu.iter().filter(|side| side.is_none()).count()
}

/// A target of pieces that the query has in mutated form, unrelated sequence between them, and anchors in the pieces.
pub fn homologous_pair(
    rng: &mut SplitMix64,
    len: usize,
    n_anchors: usize,
) -> (SequenceSet, SequenceSet, Vec<OneSided>) {
    let (mut target, mut query) = (Vec::with_capacity(len), Vec::with_capacity(len));
    let mut pieces = Vec::new();
    while target.len() < len {
        let piece_len = 100 + rng.below(40) * rng.below(100);
        let piece = rng.bases(piece_len);
        let copy = rng.mutated(&piece, 10);
        pieces.push((target.len(), query.len(), piece.len().min(copy.len())));
        target.extend(&piece);
        query.extend(&copy);
        let (gap_t, gap_q) = (rng.below(900), rng.below(900));
        target.extend(rng.bases(gap_t));
        query.extend(rng.bases(gap_q));
    }
    let (target, query) = (SequenceSet::single("t", &target), SequenceSet::single("q", &query));
    let runs = (0..n_anchors)
        .flat_map(|_| {
            let (t, q, len) = pieces[rng.below(pieces.len())];
            let within = rng.below(len.max(1));
            both_sides(t + within, q + within)
        })
        .collect();
    (target, query, runs)
}
