//! Buffers for copies to the host, kept for the next ones: to allocate large ones takes about as long as to copy.

use std::sync::{Mutex, PoisonError};

use super::context::Gpu;

/// Buffers that nobody uses at the moment.
#[derive(Debug)]
pub(super) struct StagingPool {
    free: Mutex<Pool>,
    /// Where tickets pass through the device.
    tickets: wgpu::Buffer,
}

#[derive(Debug, Default)]
struct Pool {
    buffers: Vec<wgpu::Buffer>,
    /// The ticket of the last copy.
    last_ticket: u32,
}

/// A buffer for one copy. A number that is given once goes to the device and back with it: what an earlier copy left there
/// is never taken for this one.
#[derive(Debug)]
pub(super) struct Staging {
    pub buffer: wgpu::Buffer,
    pub ticket: u32,
    tickets: wgpu::Buffer,
}

/// Bytes of a ticket, which follows the values.
pub(super) const TICKET_BYTES: u64 = 4;
/// Buffers that are kept.
const MOST_FREE: usize = 8;
/// The smallest buffer.
const LEAST_BYTES: u64 = 1 << 12;

impl StagingPool {
    pub fn new(device: &wgpu::Device) -> StagingPool {
        let tickets = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tickets"),
            size: TICKET_BYTES,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        StagingPool { free: Mutex::default(), tickets }
    }

    /// A buffer for `size` bytes, a multiple of four, and their ticket.
    pub fn take(&self, gpu: &Gpu, size: u64) -> Staging {
        let mut pool = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        pool.last_ticket = pool.last_ticket.wrapping_add(1).max(1);
        let ticket = pool.last_ticket;
        let least = (size + TICKET_BYTES).next_power_of_two().max(LEAST_BYTES);
        // Little is not read through what much would need soon.
        let fits = |buffer: &wgpu::Buffer| (least..=4 * least).contains(&buffer.size());
        let smallest = pool.buffers.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let held = smallest.min_by_key(|(_, buffer)| buffer.size()).map(|(place, _)| place);
        let held = held.map(|place| pool.buffers.swap_remove(place));
        drop(pool);
        let buffer = held.unwrap_or_else(|| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("read back"),
                size: least,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        Staging { buffer, ticket, tickets: self.tickets.clone() }
    }

    /// Keeps a buffer, not mapped any more, for later.
    pub fn give_back(&self, staging: Staging) {
        let mut pool = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.buffers.len() >= MOST_FREE {
            pool.buffers.remove(0);
        }
        pool.buffers.push(staging.buffer);
    }

    /// Gives up all buffers.
    pub fn clear(&self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).buffers.clear();
    }
}

impl Staging {
    /// Sends the ticket to the device, with the next submission. No other ticket may go between.
    pub fn write_ticket(&self, gpu: &Gpu) {
        gpu.queue.write_buffer(&self.tickets, 0, &self.ticket.to_le_bytes());
    }

    /// Copies the ticket behind the `size` bytes of values.
    pub fn copy_ticket(&self, encoder: &mut wgpu::CommandEncoder, size: u64) {
        encoder.copy_buffer_to_buffer(&self.tickets, 0, &self.buffer, size, TICKET_BYTES);
    }
}
