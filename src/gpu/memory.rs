//! Device memory: how much there is, how much may be used, and who gets which share of it.
//!
//! ```text
//! budget ─┬─ 1/2  inputs: sequences, word table          what does not fit is left to the CPU
//!         ├─ 1/4  work memory of seeding                  smaller pieces
//!         └─ 1/4  work memory of gapped extension         smaller batches
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is used where the size of the memory is unknown: it suits a card of 4 GiB.
const BUDGET_OF_UNKNOWN: u64 = 2 << 30;

/// The memory of a device, shared by all that allocate there.
#[derive(Clone, Debug)]
pub struct Memory(Arc<State>);

#[derive(Debug)]
struct State {
    size: Option<u64>,
    budget: u64,
    inputs: AtomicU64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Memory {
    /// For a device with `size` bytes of its own, of which at most `wanted` are used. Without `wanted`: three quarters
    /// of what is the device's alone (`is_dedicated`), a quarter of what it shares with the processor.
    pub fn new(size: Option<u64>, is_dedicated: bool, wanted: Option<u64>) -> Memory {
        let safe = |size| if is_dedicated { size / 4 * 3 } else { size / 4 };
        let budget = wanted.unwrap_or(size.map_or(BUDGET_OF_UNKNOWN, safe));
        Memory(Arc::new(State {
            size,
            budget,
            inputs: AtomicU64::new(0),
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }))
    }

    /// Bytes of the device's own memory, if known.
    pub fn size(&self) -> Option<u64> {
        self.0.size
    }

    /// Bytes that may be used.
    pub fn budget(&self) -> u64 {
        self.0.budget
    }

    /// Most bytes that buffers took at a time.
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Bytes for the buffers that seeding works with.
    pub fn for_seeding(&self) -> u64 {
        self.budget() / 4
    }

    /// Bytes for the buffers that gapped extension works with.
    pub fn for_extension(&self) -> u64 {
        self.budget() / 4
    }

    /// Sets `bytes` of the share of inputs apart, for as long as the result lives; the reason if they do not fit.
    pub fn reserve_input(&self, what: &str, bytes: u64) -> Result<Reservation, String> {
        let all = self.budget() / 2;
        let taken = self.0.inputs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
            taken.checked_add(bytes).filter(|&taken| taken <= all)
        });
        match taken {
            Ok(_) => Ok(Reservation { memory: self.clone(), bytes }),
            Err(taken) => Err(format!(
                "{what} needs {} MiB of GPU memory, and {} of {} MiB for inputs are taken (--gpu-memory)",
                bytes.div_ceil(1 << 20),
                taken >> 20,
                all >> 20
            )),
        }
    }

    /// Notes a buffer of `bytes`, for as long as the result lives.
    pub(super) fn note(&self, bytes: u64) -> Allocation {
        let used = self.0.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.0.peak.fetch_max(used, Ordering::Relaxed);
        Allocation { memory: self.clone(), bytes }
    }
}

/// A part of the share of inputs.
#[derive(Debug)]
pub struct Reservation {
    memory: Memory,
    bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.0.inputs.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A buffer that takes memory.
#[derive(Debug)]
pub(super) struct Allocation {
    memory: Memory,
    bytes: u64,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes of the memory that an adapter calls its own; `None` where the backend does not tell.
pub(super) fn size_of_adapter(adapter: &wgpu::Adapter) -> Option<u64> {
    #[cfg(not(target_vendor = "apple"))]
    {
        // SAFETY: only asks for properties; the handles live as long as the guard.
        let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
        let instance = vulkan.shared_instance().raw_instance();
        // SAFETY: the physical device belongs to this instance.
        let properties = unsafe { instance.get_physical_device_memory_properties(vulkan.raw_physical_device()) };
        // Bit 0 of the flags: local to the device.
        let local = properties.memory_heaps_as_slice().iter().filter(|heap| heap.flags.as_raw() & 1 != 0);
        local.map(|heap| heap.size).max()
    }
    #[cfg(target_vendor = "apple")]
    {
        let _ = adapter;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_a_safe_share_or_what_is_wanted() {
        assert_eq!(Memory::new(None, true, None).budget(), 2 << 30);
        assert_eq!(Memory::new(Some(8 << 30), true, None).budget(), 6 << 30);
        assert_eq!(Memory::new(Some(8 << 30), false, None).budget(), 2 << 30);
        assert_eq!(Memory::new(Some(8 << 30), true, Some(77)).budget(), 77);
    }

    #[test]
    fn inputs_take_half_at_most_and_give_it_back() {
        let memory = Memory::new(None, true, Some(100));
        let first = memory.reserve_input("a", 30).unwrap();
        assert!(memory.reserve_input("b", 21).unwrap_err().contains("--gpu-memory"));
        let second = memory.reserve_input("c", 20).unwrap();
        drop(first);
        assert!(memory.reserve_input("d", 31).is_err() && memory.reserve_input("e", 30).is_ok());
        drop(second);
    }

    #[test]
    fn the_peak_stays() {
        let memory = Memory::new(None, true, None);
        let first = memory.note(10);
        drop(memory.note(5));
        drop(first);
        drop(memory.note(7));
        assert_eq!(memory.peak(), 15);
    }
}
