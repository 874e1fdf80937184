//! The seam between the commit loop and an engine that extends many anchors at once, such as a GPU.

use super::bounds::{AcceptedBlocks, Confiners};
use super::side::Side;
use crate::alignment::Anchor;
use crate::error::Result;
use crate::sequence::SequenceSet;

/// Extends many anchors at a time. Results equal those of [`crate::cpu::Ydrop`], bit for bit.
pub trait BulkExtender: Send + Sync {
    /// Units with fewer anchors than this are not worth the way to the device.
    fn least_anchors(&self) -> usize;

    /// Fewer anchors than this are not worth screening. Engines that cannot screen leave it as it is.
    fn least_screened(&self) -> usize {
        usize::MAX
    }

    /// Most anchors that it is given at a time: the more, the more of them lie on alignments of others. A device that does
    /// no more than a few at a time is better off with few.
    fn most_anchors(&self) -> usize {
        usize::MAX
    }

    /// Whether the CPU may extend anchors that this engine was given, in case it is faster with some of them.
    fn shares_anchors(&self) -> bool;

    /// Whether it extends anchors under the bounds of accepted blocks.
    fn takes_bounded(&self) -> bool {
        false
    }

    /// Begins to make the engine ready, if that has not been done; whether it is. The CPU extends anchors meanwhile.
    fn get_ready(&self) -> bool {
        true
    }

    /// Takes up one unit; `None` if the engine cannot hold it, and the CPU has to do it.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn open<'a>(&'a self, target: &'a SequenceSet, query: &'a SequenceSet) -> Result<Option<Box<dyn BulkUnit + 'a>>>;
}

/// An anchor to be extended under the bounds of accepted blocks.
#[derive(Clone, Debug)]
pub struct BoundedAnchor {
    /// Where both runs start.
    pub anchor: Anchor,
    /// Target rows that the runs will probably look at, left and right. More are no fault, but cost time.
    pub likely_rows: [u32; 2],
    /// The blocks that count.
    pub confiners: Confiners,
}

/// One unit (target x query sequence x strand) on the device.
pub trait BulkUnit: Send {
    /// Both sides of each anchor without bounds, left first; `None` where the CPU has to do it. Sides have a script only if
    /// `wants_script` says so, given the two sides without it.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn extend(
        &mut self,
        anchors: &[Anchor],
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>>;

    /// The same under the bounds of accepted blocks.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn extend_bounded(
        &mut self,
        anchors: &[BoundedAnchor],
        accepted: &AcceptedBlocks,
        wants_script: &(dyn Fn(&Side, &Side) -> bool + Sync),
    ) -> Result<Vec<Option<(Side, Side)>>> {
        let _ = (accepted, wants_script);
        Ok(vec![None; anchors.len()])
    }

    /// Whether the sides of each anchor together score less than `goal`, whatever accepted blocks, masks and pruning do to
    /// them, and stay within the traceback memory (5.10). `false` where that is not known.
    ///
    /// # Errors
    /// If the device failed and the CPU may not step in.
    fn screen(&mut self, anchors: &[Anchor], goal: i64) -> Result<Vec<bool>> {
        let _ = goal;
        Ok(vec![false; anchors.len()])
    }
}

/// Which anchors need a script: those whose block may reach the threshold, or whose score may rise.
pub(crate) fn wants_script(all_bounds: bool, threshold: i64) -> impl Fn(&Side, &Side) -> bool + Sync {
    // A side without a column may leave a gap at the end of the block, whose score then rises (5.5).
    let is_empty = |side: &Side| side.rows == 0 && side.columns == 0;
    move |left, right| all_bounds || left.score + right.score >= threshold || is_empty(left) || is_empty(right)
}
