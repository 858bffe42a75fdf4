//! A body that a rule may spoil on its way.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::{BoxError, Cut, Ending, ResetSwitch, StreamFault, reset::connection_reset};

/// The answer's body: the inner one as it is, one made up by a rule, or the inner one spoilt.
///
/// Nothing is buffered beyond one frame of the inner body: lines are counted as they pass.
#[derive(Debug)]
pub struct FaultBody<B> {
    kind: Kind<B>,
}

#[derive(Debug)]
enum Kind<B> {
    Untouched(Pin<Box<B>>),
    MadeUp(Option<Bytes>),
    Spoilt(Box<Spoilt<B>>),
}

#[derive(Debug)]
struct Spoilt<B> {
    inner: Pin<Box<B>>,
    faults: VecDeque<StreamFault>,
    deadline: Option<(Pin<Box<Sleep>>, Ending)>,
    reset: Option<ResetSwitch>,
    /// Whole lines that have passed.
    lines: u64,
    state: State,
    pending: BytesMut,
    /// Whether the server had a chance to send what came before a reset.
    flushed: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Passing,
    /// A line was replaced; its original is dropped up to the newline.
    Skipping,
    Silent,
    Ending(Ending),
    Done,
}

// === impl FaultBody ===

impl<B> FaultBody<B> {
    pub(crate) fn untouched(body: B) -> Self {
        Self {
            kind: Kind::Untouched(Box::pin(body)),
        }
    }

    pub(crate) fn made_up(body: Bytes) -> Self {
        Self {
            kind: Kind::MadeUp(Some(body)),
        }
    }

    pub(crate) fn spoilt(body: B, faults: Vec<StreamFault>, reset: Option<ResetSwitch>) -> Self {
        let deadline = faults.iter().find_map(|fault| match fault {
            StreamFault::Cut(Cut {
                after: Some(after),
                how,
                ..
            }) => Some((deadline(*after), *how)),
            _ => None,
        });
        let spoilt = Spoilt {
            inner: Box::pin(body),
            faults: faults.into_iter().filter(counts_lines).collect(),
            deadline,
            reset,
            lines: 0,
            state: State::Passing,
            pending: BytesMut::new(),
            flushed: false,
        };
        Self {
            kind: Kind::Spoilt(Box::new(spoilt)),
        }
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
            Kind::Spoilt(spoilt) => spoilt.poll_frame(cx),
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

// === impl Spoilt ===

impl<B> Spoilt<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            if let Some((sleep, how)) = &mut self.deadline
                && sleep.as_mut().poll(cx).is_ready()
            {
                self.state = State::Ending(*how);
                self.deadline = None;
            }
            self.act_at_line_start();
            if !self.pending.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(self.pending.split().freeze()))));
            }
            match self.state {
                State::Silent => return Poll::Pending,
                State::Done => return Poll::Ready(None),
                State::Ending(Ending::Clean) => {
                    self.state = State::Done;
                    return Poll::Ready(None);
                }
                State::Ending(Ending::Reset) if !self.flushed => {
                    // An error now would take what is buffered along: servers flush when a body has to wait.
                    self.flushed = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                State::Ending(Ending::Reset) => {
                    self.state = State::Done;
                    if let Some(reset) = &self.reset {
                        reset.trip();
                    }
                    return Poll::Ready(Some(Err(connection_reset().into())));
                }
                State::Passing | State::Skipping => {}
            }
            match ready!(self.inner.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.take(&data);
                    }
                }
            }
        }
    }

    /// Passes a frame on, line by line, until a fault ends it.
    fn take(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            self.act_at_line_start();
            let end = data
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(data.len(), |at| at + 1);
            let (line, rest) = data.split_at(end);
            match self.state {
                State::Passing => {
                    if self.truncates_here() {
                        self.pending.extend_from_slice(&line[..line.len() / 2]);
                        self.state = State::Ending(Ending::Clean);
                        return;
                    }
                    self.pending.extend_from_slice(line);
                }
                State::Skipping => {}
                State::Silent | State::Ending(_) | State::Done => return,
            }
            if line.ends_with(b"\n") {
                if self.state == State::Skipping {
                    self.state = State::Passing;
                }
                self.lines += 1;
            }
            data = rest;
        }
    }

    fn truncates_here(&self) -> bool {
        matches!(self.faults.front(), Some(StreamFault::Truncate { after_events }) if *after_events == self.lines)
    }

    /// Carries out the next fault if its line has come; called only between lines or before the first.
    fn act_at_line_start(&mut self) {
        if self.state != State::Passing {
            return;
        }
        let Some(fault) = self.faults.front() else {
            return;
        };
        match fault {
            StreamFault::Cut(cut) if cut.after_events.unwrap_or(0) <= self.lines => {
                self.state = State::Ending(cut.how);
            }
            StreamFault::Expired { after_events } if *after_events <= self.lines => {
                self.pending.extend_from_slice(EXPIRED_EVENT.as_bytes());
                self.state = State::Ending(Ending::Clean);
            }
            StreamFault::HalfOpen { after_events } if *after_events <= self.lines => {
                self.state = State::Silent;
            }
            StreamFault::Malformed { after_events, line } if *after_events <= self.lines => {
                self.pending.extend_from_slice(line.as_bytes());
                self.pending.extend_from_slice(b"\n");
                self.state = State::Skipping;
            }
            _ => return,
        }
        self.faults.pop_front();
    }
}

/// The event by which the real server's watch cache says that it no longer knows that far back.
const EXPIRED_EVENT: &str = concat!(
    r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
    r#""message":"too old resource version: 1 (2)","reason":"Expired","code":410}}"#,
    "\n"
);

fn deadline(after: Duration) -> Pin<Box<Sleep>> {
    Box::pin(tokio::time::sleep_until(Instant::now() + after))
}

/// A cut that is only limited in time has its deadline and no line.
fn counts_lines(fault: &StreamFault) -> bool {
    !matches!(
        fault,
        StreamFault::Cut(Cut {
            after_events: None,
            after: Some(_),
            ..
        })
    )
}
