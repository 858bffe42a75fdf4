use std::error::Error;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder};

/// 16 MiB: ten times the largest object that etcd stores.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Cuts the body of a watch into lines.
///
/// A line longer than [`LONGEST_LINE`] is skipped as it arrives, without being kept:
/// one absurd object must not cost the memory of the whole process.
pub(crate) struct Lines<B> {
    body: B,
    buffer: BytesMut,
    codec: AnyDelimiterCodec,
}

/// What came next.
#[derive(Debug)]
pub(crate) enum NextLine {
    /// A whole line, without its end. Never empty.
    Line(Bytes),
    /// A line that was too long; the rest of it is skipped too.
    TooLong,
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
    pub(crate) fn new(body: B) -> Self {
        Self::with_longest(body, LONGEST_LINE)
    }

    fn with_longest(body: B, longest: usize) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            codec: AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), longest),
        }
    }

    /// Waits for the next line. Safe to drop: nothing that has arrived is lost.
    pub(crate) async fn next(&mut self) -> NextLine {
        loop {
            match self.codec.decode(&mut self.buffer) {
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => return NextLine::Line(line),
                Ok(None) => {}
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => return NextLine::TooLong,
                Err(AnyDelimiterCodecError::Io(error)) => {
                    return NextLine::Broken(error.into());
                }
            }
            match self.body.frame().await {
                None => return NextLine::End,
                Some(Err(error)) => return NextLine::Broken(error.into()),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    async fn read(chunks: &[&str], longest: usize) -> Vec<String> {
        let frames: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(chunk.as_bytes()))))
            .collect();
        let body = StreamBody::new(stream::iter(frames));
        let mut lines = Lines::with_longest(body, longest);
        let mut words = Vec::new();
        loop {
            match lines.next().await {
                NextLine::Line(line) => words.push(String::from_utf8(line.to_vec()).unwrap()),
                NextLine::TooLong => words.push("too long".to_owned()),
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
        assert_eq!(
            read(&["12345", "6789", "0123", "456\nnext\n"], 8).await,
            ["too long", "next"]
        );
        assert_eq!(read(&["123456789\nnext\n"], 8).await, ["too long", "next"]);
    }
}
