//! A body with faults: what the server sends → hidden versions → its lines → their pace → the end.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use tokio::time::Sleep;

use super::{
    lines::{Flow, Lines},
    pace::Pace,
};
use crate::{
    BoxError, Cut, Ending, ResetSwitch, StreamFault,
    opaque::Rewriter,
    reset::{connection_reset, connection_torn},
};

#[derive(Debug)]
pub(super) struct Spoilt<B> {
    source: Source<B>,
    /// `None` is as fast as it comes.
    pace: Option<Pace>,
    deadline: Option<(Pin<Box<Sleep>>, Ending)>,
    reset: Option<ResetSwitch>,
    end: End,
}

/// The inner body with its lines spoilt.
#[derive(Debug)]
struct Source<B> {
    inner: Pin<Box<B>>,
    /// Hides resourceVersions before anything else is done.
    hiding: Option<Rewriter>,
    lines: Lines,
    /// An error of the inner body, until what came before it was sent.
    failure: Option<BoxError>,
}

#[derive(Debug)]
enum End {
    NotYet,
    /// The server has yet to get a chance to send what came before a reset.
    Unflushed(Ending),
    Flushed(Ending),
    Done,
}

// === impl Spoilt ===

impl<B> Spoilt<B> {
    pub(super) fn new(
        body: B,
        hiding: Option<Rewriter>,
        faults: Vec<StreamFault>,
        reset: Option<ResetSwitch>,
    ) -> Self {
        let deadline = faults.iter().find_map(|fault| match fault {
            StreamFault::Cut(Cut {
                after: Some(after),
                how,
                ..
            }) => Some((Box::pin(tokio::time::sleep(*after)), *how)),
            _ => None,
        });
        let pace = faults.iter().find_map(|fault| match fault {
            StreamFault::Slow { bytes, every } => Some(Pace::new(*bytes, *every)),
            _ => None,
        });
        let lines = Lines::new(faults.into_iter().filter(|fault| fault.place().is_some()));
        Self {
            source: Source {
                inner: Box::pin(body),
                hiding,
                lines,
                failure: None,
            },
            pace,
            deadline,
            reset,
            end: End::NotYet,
        }
    }
}

impl<B> Spoilt<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    pub(super) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BoxError>>> {
        if matches!(self.end, End::NotYet) {
            let ending = match self.poll_deadline(cx) {
                Some(ending) => ending,
                None => match ready!(self.poll_paced(cx)) {
                    Some(Ok(data)) => return Poll::Ready(Some(Ok(data))),
                    Some(Err(error)) => {
                        self.end = End::Done;
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => self.source.ending(),
                },
            };
            self.end = match ending {
                Ending::Clean => End::Done,
                Ending::Reset | Ending::Torn => End::Unflushed(ending),
            };
        }
        match self.end {
            End::NotYet | End::Done => Poll::Ready(None),
            End::Unflushed(ending) => {
                // An error now would take what is buffered along: servers flush when a body has to wait.
                self.end = End::Flushed(ending);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            End::Flushed(ending) => {
                self.end = End::Done;
                if ending == Ending::Torn {
                    return Poll::Ready(Some(Err(connection_torn().into())));
                }
                if let Some(reset) = &self.reset {
                    reset.trip();
                }
                Poll::Ready(Some(Err(connection_reset().into())))
            }
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Option<Ending> {
        let (sleep, ending) = self.deadline.as_mut()?;
        sleep.as_mut().poll(cx).is_ready().then_some(*ending)
    }

    fn poll_paced(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        let source = &mut self.source;
        match &mut self.pace {
            None => source.poll_data(cx),
            Some(pace) => pace.poll(cx, |cx| source.poll_data(cx)),
        }
    }
}

// === impl Source ===

impl<B> Source<B> {
    /// How it ended, once it has.
    fn ending(&self) -> Ending {
        match self.lines.flow() {
            Flow::Ending(ending) => ending,
            Flow::Passing | Flow::Silent => Ending::Clean,
        }
    }

    fn push(&mut self, data: &[u8]) {
        let Some(hiding) = &mut self.hiding else {
            self.lines.push(data);
            return;
        };
        let mut hidden = BytesMut::with_capacity(data.len() + data.len() / 16);
        hiding.push(data, &mut hidden);
        self.lines.push(&hidden);
    }

    fn finish(&mut self) {
        if let Some(hiding) = &mut self.hiding {
            let mut rest = BytesMut::new();
            hiding.finish(&mut rest);
            self.lines.push(&rest);
        }
        self.lines.finish();
    }
}

impl<B> Source<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        loop {
            self.lines.poll_timer(cx);
            if let Some(data) = self.lines.take_out() {
                return Poll::Ready(Some(Ok(data)));
            }
            match self.lines.flow() {
                Flow::Silent => return Poll::Pending,
                Flow::Ending(_) => return Poll::Ready(self.failure.take().map(Err)),
                Flow::Passing => {}
            }
            match ready!(self.inner.as_mut().poll_frame(cx)) {
                None => self.finish(),
                Some(Err(error)) => {
                    self.finish();
                    self.failure = Some(error.into());
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.push(&data);
                    }
                }
            }
        }
    }
}
