use super::error::QueueError;
use super::keys::Keys;
use super::{contended, delayed, filled, memory};

/// Runs a case, and returns the unit and the value.
pub(crate) async fn run(case: &str) -> Result<(&'static str, f64), QueueError> {
    let ten_thousand = || Keys::new(100, 100);
    let hundred_thousand = || Keys::new(100, 1_000);
    let million = || Keys::new(1_000, 1_000);
    Ok(match case {
        "unique-add" => ("keys/s", filled::unique_add(&hundred_thousand()).await?),
        "unique-add-1m" => ("keys/s", filled::unique_add(&million()).await?),
        "get-done" => ("keys/s", filled::get_done(&hundred_thousand()).await?),
        "2p1w" => ("keys/s", contended::recycle(ten_thousand(), 1).await?),
        "2p2w" => ("keys/s", contended::recycle(ten_thousand(), 2).await?),
        "2p8w" => ("keys/s", contended::recycle(ten_thousand(), 8).await?),
        "dedup-add" => ("adds/s", filled::dedup_add(&Keys::new(10, 100)).await?),
        "delayed-100k" => ("ms", delayed::lateness(hundred_thousand()).await?),
        "bytes-per-key" => ("bytes", memory::bytes_per_key(&million()).await?),
        "growth" => ("x", filled::growth().await?),
        _ => return Err(QueueError::UnknownCase(case.to_owned())),
    })
}
