use std::time::Duration;

use bytes::BytesMut;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;
use tokio::time::timeout;

use super::answer::{Content, End};
use super::script::Until;

/// The events of an open watch, a line each.
pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
}

/// Longer than any watch in a script lasts by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is no event is shown as it came.
fn event(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_else(|_| String::from_utf8_lossy(line).into())
}

// === impl Lines ===

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
        }
    }

    /// Reads events until there are enough, the server ends the stream, or nothing comes.
    pub(super) async fn read(&mut self, until: Until) -> Result<Content, String> {
        let mut events = Vec::new();
        loop {
            if until == Until::Events(events.len()) {
                let end = End::Enough;
                return Ok(Content::Events { events, end });
            }
            let end = match timeout(PATIENCE, self.next()).await {
                Ok(Ok(Some(event))) => {
                    events.push(event);
                    continue;
                }
                Ok(Ok(None)) => End::Closed,
                Ok(Err(why)) => return Err(why),
                Err(_) => End::Silent,
            };
            return Ok(Content::Events { events, end });
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
                None => return Ok(Some(event(&self.buffer.split()))),
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
    async fn what_is_no_event_is_told_as_it_came() {
        let read = of("{\"a\":1}\n{\"a\"").read(Until::End).await.unwrap();
        let events = vec![json!({"a": 1}), json!("{\"a\"")];
        let end = End::Closed;
        assert_eq!(read, Content::Events { events, end });
    }
}
