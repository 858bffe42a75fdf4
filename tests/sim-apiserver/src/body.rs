//! Response bodies: whole, lists that are put together while they are sent, and watches.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http_body::{Body, Frame, SizeHint};

use crate::store::Object;

/// The body of an answer of the simulated server, before faults.
pub struct ApiBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    List(ListBody),
    Watch(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// `head`, the items joined by commas, `tail`; never in memory as a whole.
struct ListBody {
    head: Option<Bytes>,
    items: std::vec::IntoIter<Arc<Object>>,
    left: u64,
    tail: Option<Bytes>,
    first: bool,
}

/// How much of a list is put into one frame.
const CHUNK: usize = 256 * 1024;

// === impl ApiBody ===

impl ApiBody {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(body.into())))
    }

    pub(crate) fn list(head: Bytes, items: Vec<Arc<Object>>, tail: Bytes) -> Self {
        let commas = items.len().saturating_sub(1);
        let bodies: usize = items.iter().map(|object| object.body.len()).sum();
        let left = (head.len() + bodies + commas + tail.len()) as u64;
        Self(Kind::List(ListBody {
            head: Some(head),
            items: items.into_iter(),
            left,
            tail: Some(tail),
            first: true,
        }))
    }

    pub(crate) fn watch(frames: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(Kind::Watch(Box::pin(frames)))
    }
}

impl fmt::Debug for ApiBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Kind::Whole(_) => "whole",
            Kind::List(_) => "list",
            Kind::Watch(_) => "watch",
        };
        f.debug_tuple("ApiBody").field(&kind).finish()
    }
}

impl Body for ApiBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let data = match &mut self.0 {
            Kind::Whole(body) => body.take().filter(|body| !body.is_empty()),
            Kind::List(list) => list.next_chunk(),
            Kind::Watch(frames) => {
                return frames
                    .poll_next_unpin(cx)
                    .map(|f| f.map(|f| Ok(Frame::data(f))));
            }
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Kind::List(list) => SizeHint::with_exact(list.left),
            Kind::Watch(_) => SizeHint::default(),
        }
    }
}

// === impl ListBody ===

impl ListBody {
    fn next_chunk(&mut self) -> Option<Bytes> {
        let size = usize::try_from(self.left)
            .unwrap_or(CHUNK)
            .min(CHUNK + CHUNK / 8);
        let mut chunk = BytesMut::with_capacity(size);
        if let Some(head) = self.head.take() {
            chunk.put(head);
        }
        while chunk.len() < CHUNK
            && let Some(object) = self.items.next()
        {
            if !std::mem::take(&mut self.first) {
                chunk.put_u8(b',');
            }
            chunk.extend_from_slice(&object.body);
        }
        if chunk.len() < CHUNK
            && let Some(tail) = self.tail.take()
        {
            chunk.put(tail);
        }
        self.left = self.left.saturating_sub(chunk.len() as u64);
        (!chunk.is_empty()).then(|| chunk.freeze())
    }
}
