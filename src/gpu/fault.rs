//! What happens when a device fails in the middle of a run.

use std::sync::{Mutex, PoisonError};

use super::context::GpuError;
use super::shaders::Shader;
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

    /// Why the device was given up, if it was.
    pub fn first(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a fault; an error if the CPU may not step in.
    pub fn note(&self, error: &GpuError) -> Result<()> {
        let message = match error {
            GpuError::Lost(reason) => reason.clone(),
            other => other.to_string(),
        };
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message.clone());
        match self.on_fault {
            OnFault::UseCpu => Ok(()),
            OnFault::Fail => Err(Error::Device(message)),
        }
    }
}

/// A way in which a device fails, brought about by tests ([`Gpu::inject`](super::Gpu::inject)).
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device is lost before the dispatch.
    Lost,
    /// The dispatch and all after it are not waited for: they count as never finished.
    Hang,
    /// The dispatch reports success and has done nothing.
    Unfinished,
    /// The next allocation finds no memory.
    OutOfMemory,
    /// A copy from the device to the host reports success and was not made.
    Uncopied,
}

/// When a fault comes: at the n-th dispatch (0-based) of a kernel, at the n-th allocation, or at the n-th copy.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPlan {
    /// The fault.
    pub fault: Fault,
    /// The kernel whose dispatches are counted; `None`: all. Of no meaning for other faults.
    pub kernel: Option<Shader>,
    /// Dispatches, allocations or copies before it.
    pub after: u32,
}

impl FaultPlan {
    /// From text such as `lost`, `unfinished@3` or `hang:traceback@1`.
    pub fn parse(text: &str) -> Option<FaultPlan> {
        let (what, after) = text.split_once('@').unwrap_or((text, "0"));
        let (fault, kernel) = match what.split_once(':') {
            Some((fault, name)) => (fault, Some(Shader::ALL.into_iter().find(|shader| shader.name() == name)?)),
            None => (what, None),
        };
        let fault = match fault {
            "lost" => Fault::Lost,
            "hang" => Fault::Hang,
            "unfinished" => Fault::Unfinished,
            "memory" => Fault::OutOfMemory,
            "uncopied" => Fault::Uncopied,
            _ => return None,
        };
        Some(FaultPlan { fault, kernel, after: after.parse().ok()? })
    }

    fn is_due(plan: &mut Option<FaultPlan>, counts: impl Fn(&FaultPlan) -> bool) -> Option<Fault> {
        let waiting = plan.as_mut().filter(|waiting| counts(waiting))?;
        if waiting.after > 0 {
            waiting.after -= 1;
            return None;
        }
        plan.take().map(|due| due.fault)
    }

    /// The fault that comes with this dispatch.
    pub(super) fn at_dispatch(plan: &mut Option<FaultPlan>, shader: Shader) -> Option<Fault> {
        let is_of_dispatches = |plan: &FaultPlan| matches!(plan.fault, Fault::Lost | Fault::Hang | Fault::Unfinished);
        FaultPlan::is_due(plan, |plan| is_of_dispatches(plan) && plan.kernel.is_none_or(|kernel| kernel == shader))
    }

    /// The fault that comes with this allocation.
    pub(super) fn at_allocation(plan: &mut Option<FaultPlan>) -> Option<Fault> {
        FaultPlan::is_due(plan, |plan| plan.fault == Fault::OutOfMemory)
    }

    /// The fault that comes with this copy.
    pub(super) fn at_copy(plan: &mut Option<FaultPlan>) -> Option<Fault> {
        FaultPlan::is_due(plan, |plan| plan.fault == Fault::Uncopied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_when_it_is_due_and_once() {
        let mut plan = FaultPlan::parse("unfinished:traceback@1");
        assert_eq!(FaultPlan::at_allocation(&mut plan), None);
        assert_eq!(FaultPlan::at_dispatch(&mut plan, Shader::Screen), None);
        assert_eq!(FaultPlan::at_dispatch(&mut plan, Shader::Traceback), None);
        assert_eq!(FaultPlan::at_dispatch(&mut plan, Shader::Traceback), Some(Fault::Unfinished));
        assert_eq!(FaultPlan::at_dispatch(&mut plan, Shader::Traceback), None);
        assert_eq!(FaultPlan::parse("lost@x"), None);
    }
}
