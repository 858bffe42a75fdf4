use std::error::Error;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use memchr::memchr;
use tokio::task::consume_budget;

use super::items::LONGEST;

/// Cuts the body of a watch into lines.
///
/// A line within one frame is a slice of it; one that spans frames is put together in a
/// buffer that goes away with it, so that a large object costs its memory once and not for
/// the life of the watch.
///
/// Of a line longer than [`LONGEST`] the beginning is handed out and the rest skipped as it
/// arrives: one absurd object must not cost the memory of the whole process.
pub(super) struct Lines<B> {
    body: B,
    /// What has arrived and was not looked at yet.
    frame: Bytes,
    /// The beginning of a line whose end has not arrived.
    partial: BytesMut,
    /// In the rest of a line that was too long.
    skipping: bool,
    longest: usize,
}

/// What came next.
#[derive(Debug)]
pub(super) enum NextLine {
    /// A whole line, without its end. Never empty.
    Line(Bytes),
    /// The beginning of a line that was too long; the rest of it is skipped.
    TooLong(Bytes),
    /// The body ended. A line that was cut in the middle is dropped: the next watch
    /// brings it again.
    End,
    /// The connection broke.
    Broken(Box<dyn Error + Send + Sync>),
}

// === impl Lines ===

impl<B> Lines<B>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    pub(super) fn new(body: B) -> Self {
        Self::with_longest(body, LONGEST)
    }

    pub(super) fn with_longest(body: B, longest: usize) -> Self {
        Self {
            body,
            frame: Bytes::new(),
            partial: BytesMut::new(),
            skipping: false,
            longest,
        }
    }

    /// Waits for the next line. Safe to drop: nothing that has arrived is lost.
    pub(super) async fn next(&mut self) -> NextLine {
        loop {
            if let Some(line) = self.cut() {
                return line;
            }
            // A line that never ends, in a body that always has more of it ready, would keep the
            // thread, and every timer with it.
            consume_budget().await;
            match self.body.frame().await {
                None => return NextLine::End,
                Some(Err(error)) => return NextLine::Broken(error.into()),
                Some(Ok(frame)) => self.frame = frame.into_data().unwrap_or_default(),
            }
        }
    }

    /// The next line of what has arrived. `None` leaves no frame behind.
    fn cut(&mut self) -> Option<NextLine> {
        while !self.frame.is_empty() {
            let end = memchr(b'\n', &self.frame);
            let piece = self.frame.split_to(end.unwrap_or(self.frame.len()));
            if end.is_some() {
                // The line's end itself.
                let _ = self.frame.split_to(1);
            }
            if self.skipping {
                self.skipping = end.is_none();
                continue;
            }
            if self.partial.len() + piece.len() > self.longest {
                self.skipping = end.is_none();
                return Some(NextLine::TooLong(self.join(&piece)));
            }
            if end.is_none() {
                self.partial.extend_from_slice(&piece);
                continue;
            }
            let line = if self.partial.is_empty() {
                piece
            } else {
                self.join(&piece)
            };
            if !line.trim_ascii().is_empty() {
                return Some(NextLine::Line(line));
            }
        }
        None
    }

    /// What was kept of a line and its last piece, no longer than the longest line.
    fn join(&mut self, piece: &Bytes) -> Bytes {
        let mut line = std::mem::take(&mut self.partial);
        let room = self.longest - line.len();
        line.extend_from_slice(&piece[..piece.len().min(room)]);
        line.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::body;

    async fn read(chunks: &[&str], longest: usize) -> Vec<String> {
        let mut lines = Lines::with_longest(body(chunks.iter().copied()), longest);
        let mut words = Vec::new();
        loop {
            match lines.next().await {
                NextLine::Line(line) => words.push(String::from_utf8(line.to_vec()).unwrap()),
                NextLine::TooLong(start) => {
                    words.push(format!("{}...", String::from_utf8_lossy(&start)));
                }
                NextLine::End => return words,
                NextLine::Broken(error) => panic!("{error}"),
            }
        }
    }

    /// C-25: characters and lines may be cut anywhere.
    #[tokio::test]
    async fn lines_are_put_together_from_any_pieces() {
        assert_eq!(
            read(&["a", "b\nc", "\n\n", "d\ne\n"], 99).await,
            ["ab", "c", "d", "e"]
        );
    }

    #[tokio::test]
    async fn a_line_that_is_cut_by_the_end_is_dropped() {
        assert_eq!(read(&["whole\n", "{\"type\":\"ADD"], 99).await, ["whole"]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let expected = ["12345678...", "next"];
        assert_eq!(
            read(&["12345", "6789", "0123", "4\nnext\n"], 8).await,
            expected
        );
        assert_eq!(read(&["123456789\nnext\n"], 8).await, expected);
        assert_eq!(read(&["12345", "6789\nnext\n"], 8).await, expected);
        assert_eq!(read(&["12345678\n"], 8).await, ["12345678"]);
    }

    /// C-25: the memory of a large line falls back with the line.
    #[tokio::test]
    async fn a_large_line_leaves_no_large_buffer_behind() {
        let large = "x".repeat(1 << 20);
        let mut lines = Lines::new(body([&large[..], "\n", "small\n", "sm", "all\n"]));
        assert!(matches!(lines.next().await, NextLine::Line(line) if line.len() == 1 << 20));
        for _ in 0..2 {
            assert!(matches!(lines.next().await, NextLine::Line(line) if line == "small"));
            assert!(lines.partial.capacity() < 1024);
        }
    }
}
