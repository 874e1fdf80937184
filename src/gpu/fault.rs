//! What happens when a device fails in the middle of a run.

use std::sync::{Mutex, PoisonError};

use super::context::GpuError;
use crate::error::{Error, Result};

/// Who goes on after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// The CPU does what is left, and the run says so at its end.
    UseCpu,
    /// The run ends with an error.
    Fail,
}

/// The first fault of a device; after it nothing more is sent there.
#[derive(Debug)]
pub(super) struct FaultLog {
    on_fault: OnFault,
    first: Mutex<Option<String>>,
}

impl FaultLog {
    pub fn new(on_fault: OnFault) -> Self {
        FaultLog { on_fault, first: Mutex::new(None) }
    }

    pub fn on_fault(&self) -> OnFault {
        self.on_fault
    }

    /// Why the device was given up, if it was.
    pub fn first(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a fault; an error if the CPU may not step in.
    pub fn note(&self, error: &GpuError) -> Result<()> {
        let message = error.to_string();
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message.clone());
        match self.on_fault {
            OnFault::UseCpu => Ok(()),
            OnFault::Fail => Err(Error::Device(message)),
        }
    }
}
