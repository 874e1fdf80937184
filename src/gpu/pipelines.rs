//! Compiled kernels on disk, so that the next run need not compile them. Only an aid: what cannot be read, is broken or
//! was made by another driver is passed over.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// First bytes of a file; the check sum of the rest follows.
const MAGIC: &[u8; 8] = b"fastzPC1";
const HEADER: usize = MAGIC.len() + 4;
/// A larger file is not written: kernels that nobody uses any more would pile up.
const MOST_BYTES: usize = 64 << 20;

/// The store of one device.
#[derive(Debug)]
pub(super) struct PipelineStore {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    /// What the file held.
    loaded: Option<Vec<u8>>,
}

impl PipelineStore {
    /// The store in `folder` for a device; `None` if its backend has none.
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo, folder: &Path) -> Option<PipelineStore> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = wgpu::util::pipeline_cache_key(info)?;
        // Another version has other kernels.
        let path = folder.join(format!("{key}_fastz_{}", env!("CARGO_PKG_VERSION")));
        let loaded = std::fs::read(&path).ok().and_then(|file| Some(payload(&file)?.to_vec()));
        // SAFETY: the data was written by `save` below: its check sum says that it is whole, and wgpu and the driver
        // compare device and driver version. The folder is the user's own.
        let cache = unsafe {
            device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: Some("kernels"),
                data: loaded.as_deref(),
                fallback: true,
            })
        };
        Some(PipelineStore { cache, path, loaded })
    }

    pub fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes what was compiled, if there is something new. Whoever reads meanwhile sees the old file or the new one.
    pub fn save(&self) -> io::Result<()> {
        let Some(data) = self.cache.get_data().filter(|data| data.len() <= MOST_BYTES) else { return Ok(()) };
        if self.loaded.as_ref() == Some(&data) {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&check_sum(&data).to_le_bytes())?;
        file.write_all(&data)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

/// The data of a file, if it is whole.
fn payload(file: &[u8]) -> Option<&[u8]> {
    let (header, data) = file.split_at_checked(HEADER)?;
    let sum = header.strip_prefix(MAGIC)?;
    (sum == check_sum(data).to_le_bytes()).then_some(data)
}

fn check_sum(data: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(data);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_is_passed_over() {
        let data = b"compiled kernels";
        let mut file = MAGIC.to_vec();
        file.extend(check_sum(data).to_le_bytes());
        file.extend(data);
        assert_eq!(payload(&file), Some(&data[..]));
        for broken in 0..file.len() {
            let mut bytes = file.clone();
            bytes[broken] ^= 1;
            assert_eq!(payload(&bytes), None, "byte {broken}");
        }
        for len in 0..file.len() {
            assert_eq!(payload(&file[..len]), None, "{len} bytes");
        }
    }
}
