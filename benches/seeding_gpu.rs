//! Seeding and the gap-free filter of a pair of FASTA files on the GPU. HSPs are compared with the CPU's first; then
//! seconds and hits per second, both strands together, and the share of each stage.
//!
//! ```text
//! cargo bench --bench seeding_gpu -- <target.fa> <query.fa> [runs=3] [device=auto] [check=yes|no] [piece=<windows>] [cap=<pairs>]
//!     [part=<target windows>] [page=<chunks of 32 target bases>]
//! ```
//! `part` and `page` stand for bindings that are too small for the word table and for the bases of the target.
//! Records of a file are joined as `[multiple]` does. Masked bases stay masked.

mod arguments;

use std::time::{Duration, Instant};

use fastz::filter::{HspSearch, SearchCounts};
use fastz::gpu::GpuSeeder;
use fastz::gpu::seeding::SeedLimits;
use fastz::options::Options;
use fastz::seed::WordTable;
use fastz::sequence::{Partition, SEPARATOR, SequenceSet};

fn main() {
    let [target, query] = &arguments::files()[..] else {
        eprintln!(
            "usage: seeding_gpu <target.fa> <query.fa> [runs=3] [device=auto] [check=yes|no] [piece=<windows>] [cap=<pairs>] \
             [part=<target windows>] [page=<chunks>]"
        );
        return;
    };
    let (target, query) = (read(target), read(query));
    let options = Options::default();
    let gpu = arguments::open_gpu();

    let (table, seconds) = timed(|| WordTable::build(&target, &options.seed).expect("a table"));
    println!("table (CPU)\t{seconds:.3} s\t{} words of {} bases", table.n_windows(), target.len());
    let mut limits = SeedLimits::for_device(&gpu);
    let set = |name: &str, limit: &mut u32| *limit = arguments::number(name).unwrap_or(*limit);
    set("cap", &mut limits.run_cap);
    set("part", &mut limits.part_windows);
    set("page", &mut limits.page_chunks);
    set("piece", &mut limits.max_piece);
    limits.first_piece = arguments::number("piece").or(limits.first_piece);
    let (seeder, seconds) = timed(|| GpuSeeder::with_limits(&gpu, &target, &table, &options, limits));
    let mut seeder = seeder.unwrap_or_else(|error| panic!("{error}"));
    println!("kernels, upload\t{seconds:.3} s\t{} parts of the word table", seeder.n_parts());
    let strands = [query.reverse_complement(), query];
    if arguments::setting("check").as_deref() != Some("no") {
        check(&mut seeder, &table, &target, &strands, &options);
    }
    for run in 1..=arguments::number("runs").unwrap_or(3) {
        measure(&format!("run {run}"), &mut seeder, &target, &strands);
    }
    seeder.measure_stages(true);
    measure("by stages", &mut seeder, &target, &strands);
}

fn check(seeder: &mut GpuSeeder, table: &WordTable, target: &SequenceSet, strands: &[SequenceSet], options: &Options) {
    for strand in strands {
        let (expected, seconds) = timed(|| HspSearch::new(table, target, strand, options, false).find_parallel());
        let (found, gpu_seconds) =
            timed(|| seeder.find(target, strand, false).unwrap_or_else(|error| panic!("{error}")));
        let first = (0..found.0.len().max(expected.0.len())).find(|&i| found.0.get(i) != expected.0.get(i));
        if let Some(i) = first {
            let (gpu, cpu) = (found.0.get(i), expected.0.get(i));
            panic!("strand {}: HSP {i}: GPU {gpu:?}, CPU {cpu:?}\n{:?}\n{:?}", strand.strand(), found.1, expected.1);
        }
        assert_eq!(found.1, expected.1, "strand {}: counts", strand.strand());
        println!(
            "check {}\tsame {} HSPs in the same order\tCPU, {} threads: {seconds:.3} s\tfirst GPU run: {gpu_seconds:.3} s",
            strand.strand(),
            found.0.len(),
            rayon::current_num_threads()
        );
    }
}

fn measure(what: &str, seeder: &mut GpuSeeder, target: &SequenceSet, strands: &[SequenceSet]) {
    let before = seeder.times();
    let mut counts = SearchCounts::default();
    let ((), seconds) = timed(|| {
        let strands: Vec<(&SequenceSet, bool)> = strands.iter().map(|strand| (strand, false)).collect();
        counts += seeder.find_many(target, &strands).unwrap_or_else(|error| panic!("{error}")).1;
    });
    let after = seeder.times();
    let stage = |time: fn(&fastz::gpu::seeding::SeedTimes) -> Duration| (time(&after) - time(&before)).as_secs_f64();
    println!(
        "{what}\t{seconds:.3} s\t{:.3} G hits/s\t{} hits, {} dropped, {} extended, {} HSPs, {} pairs",
        counts.hits as f64 / seconds / 1e9,
        counts.hits,
        counts.dropped,
        counts.extended,
        counts.hsps,
        counts.pairs
    );
    println!(
        "\tlookup {:.3} s, settle {:.3} s, walk {:.3} s (0 if not measured), finish on the CPU {:.3} s; {} pieces, {} repeated",
        stage(|times| times.lookup),
        stage(|times| times.settle),
        stage(|times| times.walk),
        stage(|times| times.finish),
        after.pieces - before.pieces,
        after.repeated - before.repeated
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}

/// All records of a plain FASTA file; several are separated as in LASTZ's `[multiple]`.
fn read(path: &str) -> SequenceSet {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut set = SequenceSet { bases: vec![SEPARATOR], is_partitioned: true, ..SequenceSet::single(path, b"") };
    set.partitions.clear();
    for line in text.split(|&byte| byte == b'\n') {
        if let [b'>', name @ ..] = line {
            if !set.partitions.is_empty() {
                set.bases.push(SEPARATOR);
            }
            let start = set.bases.len();
            let name = String::from_utf8_lossy(name).to_string();
            set.partitions.push(Partition { range: start..start, name: name.into(), ..Partition::default() });
        } else if let Some(partition) = set.partitions.last_mut() {
            set.bases.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
            partition.range.end = set.bases.len();
            partition.full_len = partition.range.len();
        }
    }
    set.bases.push(SEPARATOR);
    if let [partition] = &mut set.partitions[..] {
        // A single record needs no separators.
        set.bases = set.bases[partition.range.clone()].to_vec();
        partition.range = 0..set.bases.len();
        set.is_partitioned = false;
    }
    set
}
