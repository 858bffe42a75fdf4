//! A body that a rule may spoil on its way.

mod line;
mod lines;
mod pace;
mod spoilt;

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use self::spoilt::Spoilt;
use crate::{BoxError, ResetSwitch, StreamFault, opaque::Rewriter, seen::UnderWay};

/// The answer's body: the inner one as it is, one made up by a rule, or the inner one spoilt.
///
/// Lines are counted as they pass. Held back is only a line that a fault is about to change, until it is
/// whole.
#[derive(Debug)]
pub struct FaultBody<B> {
    kind: Kind<B>,
    /// Dropped with the body: the request has ended.
    under_way: Option<UnderWay>,
}

#[derive(Debug)]
enum Kind<B> {
    Untouched(Pin<Box<B>>),
    MadeUp(Option<Bytes>),
    Spoilt(Box<Spoilt<B>>),
}

// === impl FaultBody ===

impl<B> FaultBody<B> {
    pub(crate) fn untouched(body: B) -> Self {
        Self {
            kind: Kind::Untouched(Box::pin(body)),
            under_way: None,
        }
    }

    pub(crate) fn made_up(body: Bytes) -> Self {
        Self {
            kind: Kind::MadeUp(Some(body)),
            under_way: None,
        }
    }

    pub(crate) fn spoilt(
        body: B,
        opaque: bool,
        faults: Vec<StreamFault>,
        reset: Option<ResetSwitch>,
    ) -> Self {
        let hiding = opaque.then(Rewriter::hiding);
        Self {
            kind: Kind::Spoilt(Box::new(Spoilt::new(body, hiding, faults, reset))),
            under_way: None,
        }
    }

    /// Says when it has been sent, or given up.
    pub(crate) fn of(mut self, request: Option<UnderWay>) -> Self {
        self.under_way = request;
        self
    }
}

impl<B> Body for FaultBody<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.kind {
            Kind::Untouched(inner) => inner.as_mut().poll_frame(cx).map_err(Into::into),
            Kind::MadeUp(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Kind::Spoilt(spoilt) => spoilt
                .poll_data(cx)
                .map(|data| data.map(|data| data.map(Frame::data))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Untouched(inner) => inner.size_hint(),
            Kind::MadeUp(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Kind::Spoilt(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests;
