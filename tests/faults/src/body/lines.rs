//! The faults that are about lines, carried out in turn.

use std::{
    collections::VecDeque,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use tokio::time::Sleep;

use super::line::{Counts, LineHead, LineKind, oversize, replace_item, terminate};
use crate::{Counted, Cut, Ending, StreamFault};

/// Bytes in, bytes out. However the bytes are split, what comes out is the same.
#[derive(Debug)]
pub(super) struct Lines {
    /// Only the first may act; the others wait until it is done.
    faults: VecDeque<StreamFault>,
    counts: Counts,
    arriving: Arriving,
    /// The first of two lines that change places.
    waiting: Option<Waiting>,
    out: BytesMut,
    flow: Flow,
}

/// Whether anything more comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Passing,
    /// Nothing, and no end.
    Silent,
    Ending(Ending),
}

/// The line that is arriving.
#[derive(Debug)]
enum Arriving {
    Nothing,
    /// It is no fault's business.
    Passing(LineHead),
    /// A fault may be about it, so it is kept until it is whole.
    Held(BytesMut),
}

#[derive(Debug)]
struct Waiting {
    line: BytesMut,
    of: Counted,
    until: Pin<Box<Sleep>>,
}

/// The event by which the real server's watch cache says that it no longer knows that far back.
const EXPIRED_EVENT: &str = concat!(
    r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
    r#""message":"too old resource version: 1 (2)","reason":"Expired","code":410}}"#,
    "\n"
);

// === impl Lines ===

impl Lines {
    pub(super) fn new(faults: impl IntoIterator<Item = StreamFault>) -> Self {
        let mut lines = Self {
            faults: faults.into_iter().collect(),
            counts: Counts::default(),
            arriving: Arriving::Nothing,
            waiting: None,
            out: BytesMut::new(),
            flow: Flow::Passing,
        };
        lines.act_between_lines();
        lines
    }

    pub(super) fn flow(&self) -> Flow {
        self.flow
    }

    /// What is ready to be sent.
    pub(super) fn take_out(&mut self) -> Option<Bytes> {
        (!self.out.is_empty()).then(|| self.out.split().freeze())
    }

    /// Takes in what the server sent.
    pub(super) fn push(&mut self, data: &[u8]) {
        if self.faults.is_empty()
            && matches!(self.arriving, Arriving::Nothing | Arriving::Passing(_))
        {
            self.out.extend_from_slice(data);
            return;
        }
        let mut rest = data;
        while !rest.is_empty() && self.flow == Flow::Passing {
            let end = rest.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let (piece, behind) = rest.split_at(end.unwrap_or(rest.len()));
            self.push_piece(piece);
            if end.is_some() {
                self.finish_line();
            }
            rest = behind;
        }
    }

    /// The server's body is at its end.
    pub(super) fn finish(&mut self) {
        if !matches!(self.arriving, Arriving::Nothing) {
            self.finish_line();
        }
        self.release_waiting();
        if self.flow == Flow::Passing {
            self.flow = Flow::Ending(Ending::Clean);
        }
    }

    /// Gives up a line that has waited long enough for the one that it should change places with.
    pub(super) fn poll_timer(&mut self, cx: &mut Context<'_>) {
        if let Some(waiting) = &mut self.waiting
            && let Poll::Ready(()) = waiting.until.as_mut().poll(cx)
        {
            self.release_waiting();
        }
    }

    fn push_piece(&mut self, piece: &[u8]) {
        if matches!(self.arriving, Arriving::Nothing) {
            self.arriving = if self.waiting.is_some() || self.due().is_some() {
                Arriving::Held(BytesMut::new())
            } else {
                Arriving::Passing(LineHead::default())
            };
        }
        match &mut self.arriving {
            Arriving::Nothing => {}
            Arriving::Passing(head) => {
                head.extend(piece);
                self.out.extend_from_slice(piece);
            }
            Arriving::Held(line) => line.extend_from_slice(piece),
        }
    }

    fn finish_line(&mut self) {
        let kind = match mem::replace(&mut self.arriving, Arriving::Nothing) {
            Arriving::Nothing => return,
            Arriving::Passing(head) => head.kind(),
            Arriving::Held(line) => {
                let kind = LineKind::of(&line);
                self.act_on_line(line, kind);
                kind
            }
        };
        self.counts.add(kind);
        self.act_between_lines();
    }

    /// The first fault, if its place has come.
    fn due(&self) -> Option<&StreamFault> {
        let fault = self.faults.front()?;
        let at = fault.place()?;
        (at.after <= self.counts.of(at.of)).then_some(fault)
    }

    /// Carries out what needs no line to act on.
    fn act_between_lines(&mut self) {
        if self.flow != Flow::Passing {
            return;
        }
        self.flow = match self.due() {
            Some(StreamFault::Cut(Cut { how, .. })) => Flow::Ending(*how),
            Some(StreamFault::Expired(_)) => {
                self.out.extend_from_slice(EXPIRED_EVENT.as_bytes());
                Flow::Ending(Ending::Clean)
            }
            Some(StreamFault::HalfOpen(_)) => Flow::Silent,
            _ => Flow::Passing,
        };
    }

    fn act_on_line(&mut self, mut line: BytesMut, kind: LineKind) {
        if let Some(waiting) = self.waiting.take_if(|waiting| kind.is_counted(waiting.of)) {
            terminate(&mut line);
            self.out.unsplit(line);
            self.out.unsplit(waiting.line);
            self.faults.pop_front();
            return;
        }
        let about_it = self.waiting.is_none()
            && (self.due().and_then(StreamFault::place)).is_some_and(|at| kind.is_counted(at.of));
        if !about_it {
            self.out.unsplit(line);
            return;
        }
        let Some(fault) = self.faults.pop_front() else {
            return;
        };
        match fault {
            StreamFault::Truncate(_) => {
                self.out.extend_from_slice(&line[..line.len() / 2]);
                self.flow = Flow::Ending(Ending::Clean);
            }
            StreamFault::Malformed { line, .. } => {
                self.out.extend_from_slice(line.as_bytes());
                self.out.extend_from_slice(b"\n");
            }
            StreamFault::Duplicated(_) => {
                let mut first = line.clone();
                terminate(&mut first);
                self.out.unsplit(first);
                self.out.unsplit(line);
            }
            StreamFault::Reordered { at, within } => {
                self.waiting = Some(Waiting {
                    line,
                    of: at.of,
                    until: Box::pin(tokio::time::sleep(within)),
                });
                // It stays the first until it is done, so that no other acts meanwhile.
                self.faults
                    .push_front(StreamFault::Reordered { at, within });
            }
            StreamFault::Oversized { bytes, .. } => self.out.unsplit(oversize(&line, bytes)),
            StreamFault::SpoiltItem { after_items, item } => {
                let spoilt = replace_item(&line, after_items, &item);
                self.out.unsplit(spoilt.unwrap_or(line));
            }
            StreamFault::Dropped { at, lines } => {
                if lines > 1 {
                    let lines = lines - 1;
                    self.faults.push_front(StreamFault::Dropped { at, lines });
                }
            }
            // These act between lines.
            StreamFault::Cut(_)
            | StreamFault::Expired(_)
            | StreamFault::HalfOpen(_)
            | StreamFault::Slow { .. } => self.out.unsplit(line),
        }
    }

    fn release_waiting(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.out.unsplit(waiting.line);
            self.faults.pop_front();
            self.act_between_lines_if_none_arrives();
        }
    }

    /// A fault that waited for the one that is done may be due; not in the middle of a line.
    fn act_between_lines_if_none_arrives(&mut self) {
        if matches!(self.arriving, Arriving::Nothing) {
            self.act_between_lines();
        }
    }
}
