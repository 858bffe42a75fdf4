//! Slow bytes.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use tokio::time::Sleep;

use crate::BoxError;

/// Lets no more than so many bytes through in so much time.
#[derive(Debug)]
pub(super) struct Pace {
    bytes: usize,
    every: Duration,
    /// What has come and was not sent; never much more than `bytes`.
    stock: BytesMut,
    ended: Option<Result<(), BoxError>>,
    pause: Option<Pin<Box<Sleep>>>,
}

// === impl Pace ===

impl Pace {
    pub(super) fn new(bytes: usize, every: Duration) -> Self {
        Self {
            bytes: bytes.max(1),
            every,
            stock: BytesMut::new(),
            ended: None,
            pause: None,
        }
    }

    /// The next bytes of `source`, in time.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut source: impl FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>>,
    ) -> Poll<Option<Result<Bytes, BoxError>>> {
        // Small frames are put together: what counts is how many bytes there are, not how they came.
        while self.ended.is_none() && self.stock.len() < self.bytes {
            match source(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => self.ended = Some(Ok(())),
                Poll::Ready(Some(Err(error))) => self.ended = Some(Err(error)),
                Poll::Ready(Some(Ok(data))) => self.stock.extend_from_slice(&data),
            }
        }
        if !self.stock.is_empty() {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
            }
            self.pause = Some(Box::pin(tokio::time::sleep(self.every)));
            let chunk = self.stock.split_to(self.bytes.min(self.stock.len()));
            return Poll::Ready(Some(Ok(chunk.freeze())));
        }
        match self.ended.take() {
            None => Poll::Pending,
            Some(Ok(())) => {
                self.ended = Some(Ok(()));
                Poll::Ready(None)
            }
            Some(Err(error)) => {
                self.ended = Some(Ok(()));
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}
