//! Files beside the alignments: masked intervals, census, report. They are opened before the run, so that a place that
//! cannot be written to does not cost a whole run, and get their names at its end.

use std::io::Write;
use std::time::Instant;

use fastz::Result;
use fastz::align::Aligner;
use fastz::output::Destination;
use fastz::post::masking::{CounterWidth, TargetCoverage, soft_masked_ranges, write_masking};

use crate::cli::Invocation;
use crate::late_engines::GpuEngines;
use crate::run::Moments;

/// The opened files of one run.
pub struct SideFiles<'a> {
    invocation: &'a Invocation,
    /// One for each of the invocation's masking outputs.
    masking: Vec<Destination>,
    census: Option<Destination>,
    report: Option<Destination>,
}

impl<'a> SideFiles<'a> {
    /// Opens what the invocation names.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn open(invocation: &'a Invocation) -> Result<SideFiles<'a>> {
        let open = |path: &std::path::PathBuf| Destination::file(path);
        let census = invocation.census.as_ref().and_then(|census| census.path.as_ref());
        Ok(SideFiles {
            invocation,
            masking: invocation.masking_outputs.iter().map(|output| open(&output.path)).collect::<Result<_>>()?,
            census: census.map(open).transpose()?,
            report: invocation.report.as_ref().map(open).transpose()?,
        })
    }

    /// Counters for `--masking` and `--census`.
    pub fn coverage(&self, target_len: usize) -> Option<TargetCoverage> {
        let masking = self.invocation.options.masking;
        let width = self.invocation.census.as_ref().map(|census| match census.bits {
            8 => CounterWidth::Bits8,
            16 => CounterWidth::Bits16,
            _ => CounterWidth::Bits32,
        });
        (masking > 0 || width.is_some()).then(|| TargetCoverage::new(target_len, masking, width))
    }

    /// Writes the masked intervals and the census.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_coverage(&mut self, aligner: &Aligner) -> Result<()> {
        let coverage = aligner.coverage();
        for (output, out) in self.invocation.masking_outputs.iter().zip(&mut self.masking) {
            let ranges = match output.soft {
                true => soft_masked_ranges(coverage, aligner.target()),
                false => aligner.masked_ranges(),
            };
            write_masking(&ranges, aligner.target(), output.names, out)?;
            if self.invocation.mark_end {
                out.write_all(b"# lastz end-of-file\n")?;
            }
        }
        if let (Some(coverage), Some(out)) = (coverage, &mut self.census) {
            coverage.write_census(aligner.target(), out)?;
        }
        Ok(())
    }

    /// Writes the report, if one was asked for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_report(
        &mut self,
        aligner: &Aligner,
        gpu: &GpuEngines,
        n_queries: u32,
        output_bytes: u64,
        moments: Moments,
        started: Instant,
    ) -> anyhow::Result<()> {
        let Some(out) = &mut self.report else { return Ok(()) };
        let report = serde_json::json!({
            "gpu": gpu.report(),
            "left_to_cpu": gpu.left_to_cpu(),
            "program": concat!("fastz ", env!("CARGO_PKG_VERSION")),
            "seconds": started.elapsed().as_secs_f64(),
            "moments": moments,
            "threads": rayon::current_num_threads(),
            "queries": n_queries,
            "output_bytes": output_bytes,
            "counts": aligner.counts(),
        });
        serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from).map_err(fastz::Error::Write)?;
        out.write_all(b"\n")?;
        Ok(())
    }

    /// The files, to be published.
    pub fn into_files(self) -> impl IntoIterator<Item = Destination> {
        self.masking.into_iter().chain(self.census).chain(self.report)
    }
}
