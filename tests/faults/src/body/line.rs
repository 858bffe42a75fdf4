//! One line of a body: what it is, and what can be made of it.

use bytes::{BufMut, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Counted;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Event,
    Bookmark,
}

/// How many lines have passed, for every way to count them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    events: u64,
    bookmarks: u64,
}

/// The beginning of a line, as much of it as tells what it is.
#[derive(Debug, Default)]
pub(super) struct LineHead(Vec<u8>);

/// As much of a list as tells where its items are.
#[derive(Deserialize)]
struct Items<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

const BOOKMARK: &[u8] = br#"{"type":"BOOKMARK""#;

// === impl LineKind ===

impl LineKind {
    pub(super) fn of(line: &[u8]) -> Self {
        if line.starts_with(BOOKMARK) {
            Self::Bookmark
        } else {
            Self::Event
        }
    }

    pub(super) fn is_counted(self, of: Counted) -> bool {
        match of {
            Counted::Lines => true,
            Counted::Events => self == Self::Event,
            Counted::Bookmarks => self == Self::Bookmark,
        }
    }
}

// === impl Counts ===

impl Counts {
    pub(super) fn add(&mut self, kind: LineKind) {
        match kind {
            LineKind::Event => self.events += 1,
            LineKind::Bookmark => self.bookmarks += 1,
        }
    }

    pub(super) fn of(&self, counted: Counted) -> u64 {
        match counted {
            Counted::Lines => self.events + self.bookmarks,
            Counted::Events => self.events,
            Counted::Bookmarks => self.bookmarks,
        }
    }
}

// === impl LineHead ===

impl LineHead {
    pub(super) fn extend(&mut self, piece: &[u8]) {
        let missing = BOOKMARK.len() - self.0.len();
        self.0.extend_from_slice(&piece[..missing.min(piece.len())]);
    }

    /// What the line was.
    pub(super) fn kind(&self) -> LineKind {
        LineKind::of(&self.0)
    }
}

/// Ends a line that had no newline because the body ended, so that another can come behind it.
pub(super) fn terminate(line: &mut BytesMut) {
    if !line.ends_with(b"\n") {
        line.put_u8(b'\n');
    }
}

/// The line with whitespace behind its opening brace.
pub(super) fn oversize(line: &[u8], bytes: usize) -> BytesMut {
    let length = line.len() - usize::from(line.ends_with(b"\n"));
    let missing = match line.first() {
        Some(b'{') => bytes.saturating_sub(length),
        _ => 0,
    };
    let (brace, rest) = line.split_at(line.len().min(1));
    let mut out = BytesMut::with_capacity(line.len() + missing);
    out.put_slice(brace);
    out.put_bytes(b' ', missing);
    out.put_slice(rest);
    out
}

/// The list with `with` in place of the item that so many others come before; `None` if it has no such item.
pub(super) fn replace_item(list: &[u8], after_items: usize, with: &str) -> Option<BytesMut> {
    let items = serde_json::from_slice::<Items<'_>>(list).ok()?.items;
    let item = items.get(after_items)?.get();
    // The item is a part of the list.
    let start = item.as_ptr().addr() - list.as_ptr().addr();
    let mut out = BytesMut::with_capacity(list.len() + with.len());
    out.put_slice(&list[..start]);
    out.put_slice(with.as_bytes());
    out.put_slice(&list[start + item.len()..]);
    Some(out)
}
