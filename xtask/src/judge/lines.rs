use bytes::BytesMut;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;

use super::answer::{Content, End};
use super::script::Until;

/// The events of an open watch, a line each.
pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
}

// === impl Lines ===

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
        }
    }

    /// Reads events until there are enough, or the server ends the stream.
    pub(super) async fn read(&mut self, until: Until) -> Result<Content, String> {
        let mut events = Vec::new();
        loop {
            if until == Until::Events(events.len()) {
                let end = End::Enough;
                return Ok(Content::Events { events, end });
            }
            match self.next().await? {
                Some(event) => events.push(event),
                None => {
                    let end = End::Closed;
                    return Ok(Content::Events { events, end });
                }
            }
        }
    }

    async fn next(&mut self) -> Result<Option<Value>, String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                let event = serde_json::from_slice(&line);
                return event
                    .map(Some)
                    .map_err(|error| format!("an event: {error}"));
            }
            match self.body.frame().await {
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err("the watch ended within a line".to_owned()),
                Some(Err(error)) => return Err(format!("the watch broke: {error}")),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.buffer.extend_from_slice(data);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &'static str) -> Lines {
        Lines::new(Body::from(text.as_bytes().to_vec()))
    }

    #[tokio::test]
    async fn a_watch_is_read_as_far_as_it_is_asked_for() {
        let mut lines = of("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
        let events = |numbers: &[u8], end| Content::Events {
            events: numbers.iter().map(|number| json!({"a": number})).collect(),
            end,
        };
        let read = lines.read(Until::Events(2)).await.unwrap();
        assert_eq!(read, events(&[1, 2], End::Enough));
        let read = lines.read(Until::End).await.unwrap();
        assert_eq!(read, events(&[3], End::Closed));
        let read = lines.read(Until::Events(1)).await.unwrap();
        assert_eq!(read, events(&[], End::Closed));
    }

    #[tokio::test]
    async fn half_an_event_is_an_error() {
        let read = of("{\"a\":1}\n{\"a\"").read(Until::End).await;
        assert_eq!(read.unwrap_err(), "the watch ended within a line");
        let read = of("nonsense\n").read(Until::End).await;
        assert!(read.unwrap_err().starts_with("an event: "));
    }
}
