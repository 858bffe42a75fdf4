use controller_core::queue::WorkQueue;

use super::error::QueueError;
use super::keys::Keys;
use super::tally::expect_each_once_in_line;
use crate::measure::as_float;
use crate::resident::resident;

/// Bytes by which the resident set grows for a key in line, the key itself not counted: it is
/// there before, and the queue shares it. Taken once, for a process does not give all back.
pub(super) async fn bytes_per_key(keys: &Keys) -> Result<f64, QueueError> {
    let before = resident().map_err(QueueError::Resident)?;
    let queue = WorkQueue::new("race");
    for key in &keys.keys {
        queue.add(key.clone());
    }
    let after = resident().map_err(QueueError::Resident)?;
    expect_each_once_in_line(&queue, keys).await?;
    Ok(as_float(after.saturating_sub(before)) / as_float(keys.count()))
}
