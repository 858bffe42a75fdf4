use std::error::Error;
use std::marker::PhantomData;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::task::consume_budget;
use tokio::time::{Duration, Instant, timeout_at};

use super::codec::Codec;
use super::items::{Found, Items, NotJson};
use super::json::api_version;
use super::{ListError, Object, Unreadable};
use crate::client::{ApiError, ResourceType};

/// How long a list may go without a further item, or without its end after the last one.
const SILENCE: Duration = Duration::from_secs(60);

/// Reads one page of a list, item by item, while its bytes arrive.
///
/// Neither the page nor the list is ever held: what is in memory is one frame, and one item
/// where it spans several. There is no limit for the whole, or a list that takes long over a
/// slow line could never be read; but each item is due a minute after the one before.
pub(super) struct Page<B, C, T> {
    body: B,
    items: Items,
    codec: C,
    /// The request line, for errors.
    request: String,
    has_items: bool,
    said: Said,
    object: PhantomData<fn() -> T>,
}

/// What a page brought next.
#[derive(Debug)]
pub(super) enum Part<T> {
    /// What the list says of itself. It may come after the items.
    Meta(ListMeta),
    Item(Result<T, Unreadable>),
}

/// The metadata of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    #[serde(default)]
    pub(super) resource_version: String,
    /// The token for the next page. Empty on the last one.
    #[serde(default, rename = "continue")]
    pub(super) next: String,
}

/// What a page says to be, against what was asked for.
struct Said {
    asked: ResourceType,
    kind: Option<String>,
    api_version: Option<String>,
}

// === impl Page ===

impl<B, C, T> Page<B, C, T>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    C: Codec<T>,
    T: Object,
{
    pub(super) fn new(body: B, codec: C, asked: &ResourceType, request: String) -> Self {
        Self {
            body,
            items: Items::new(),
            codec,
            request,
            has_items: false,
            said: Said {
                asked: asked.clone(),
                kind: None,
                api_version: None,
            },
            object: PhantomData,
        }
    }

    /// The next part; `None` once the page is complete.
    ///
    /// # Errors
    ///
    /// If it is no list, one of another kind, or not a whole one. What it brought so far is
    /// void then: a `Table`, a single object or the start of a page would otherwise be a list
    /// in which everything else is gone.
    pub(super) async fn next(&mut self) -> Result<Option<Part<T>>, ListError> {
        // From now on: what the reader did with the last one is no silence of the server's.
        let due = Instant::now() + SILENCE;
        loop {
            match self.items.next() {
                Ok(Some(found)) => {
                    if let Some(part) = self.read(found)? {
                        return Ok(Some(part));
                    }
                }
                Ok(None) => {
                    // As in a watch: bytes that are always there and never make an item would
                    // keep the thread, and no timer would run.
                    consume_budget().await;
                    match timeout_at(due, self.body.frame()).await {
                        Ok(None) => return self.end(),
                        Ok(Some(Err(error))) => {
                            return Err(ApiError::from_body(&self.request, error.into()).into());
                        }
                        Ok(Some(Ok(frame))) if Instant::now() < due => {
                            self.items.push(frame.into_data().unwrap_or_default());
                        }
                        Ok(Some(Ok(_))) | Err(_) => {
                            return Err(ApiError::Timeout {
                                request: self.request.clone(),
                                after: SILENCE,
                            }
                            .into());
                        }
                    }
                }
                Err(NotJson) => return Err(self.malformed("not JSON")),
            }
        }
    }

    fn read(&mut self, found: Found) -> Result<Option<Part<T>>, ListError> {
        Ok(Some(match found {
            Found::Item(item) => Part::Item(self.codec.item(&item)),
            Found::TooLong(beginning) => Part::Item(Err(self.codec.long_item(&beginning))),
            Found::Meta(meta) => match serde_json::from_slice(&meta) {
                Ok(meta) => Part::Meta(meta),
                Err(_) => return Err(self.malformed("unexpected content")),
            },
            Found::Items => {
                self.has_items = true;
                return Ok(None);
            }
            Found::Kind(kind) => {
                self.said.kind = serde_json::from_slice(&kind).ok();
                self.said.check()?;
                return Ok(None);
            }
            Found::ApiVersion(version) => {
                self.said.api_version = serde_json::from_slice(&version).ok();
                self.said.check()?;
                return Ok(None);
            }
        }))
    }

    fn end(&self) -> Result<Option<Part<T>>, ListError> {
        if !self.items.is_whole() {
            return Err(self.malformed("cut short"));
        }
        if !self.has_items {
            return Err(ListError::NotAList {
                kind: "object without items".to_owned(),
            });
        }
        Ok(None)
    }

    fn malformed(&self, problem: &'static str) -> ListError {
        ApiError::Malformed {
            request: self.request.clone(),
            problem,
            // API servers write a list in one line.
            line: 1,
            column: self.items.seen() + 1,
        }
        .into()
    }
}

// === impl Said ===

impl Said {
    /// An error as soon as what was said so far cannot be a list of what was asked for: an
    /// empty list of another kind would delete everything.
    ///
    /// A list may leave out its kind, or call itself `List`. Else it is `<Kind>List`, under the
    /// apiVersion that was asked for or under none: the items of built-in kinds do not say of
    /// which group they are. There is one exception: whoever defines a custom resource may name
    /// its list as they like. The groups of those have a dot, and there another name passes
    /// under the apiVersion that was asked for, or under none.
    fn check(&self) -> Result<(), ListError> {
        let kind = self.kind.as_deref().unwrap_or_default();
        let Some(of) = kind.strip_suffix("List") else {
            return if kind.is_empty() {
                Ok(())
            } else {
                Err(ListError::NotAList { kind: shown(kind) })
            };
        };
        let said = self.api_version.as_deref().filter(|said| !said.is_empty());
        let is_of_another = said.is_some_and(|said| said != api_version(&self.asked));
        let is_foreign = if of == self.asked.kind {
            is_of_another
        } else {
            !of.is_empty() && (is_of_another || !self.asked.group.contains('.'))
        };
        if !is_foreign {
            return Ok(());
        }
        let kind = match said {
            Some(said) => format!("{} of {}", shown(kind), shown(said)),
            None => shown(kind),
        };
        Err(ListError::OtherKind { kind })
    }
}

/// A kind, or an apiVersion, as it may be repeated in a log.
fn shown(word: &str) -> String {
    word.chars()
        .filter(|&char| char.is_ascii_alphanumeric() || "./-".contains(char))
        .take(63)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::ObjectKey;
    use crate::watch::json::Json;
    use crate::watch::testing::{WIDGETS, Widget, body};

    /// The parts of a page in pieces of `size` bytes, as words.
    async fn read(text: &str, size: usize) -> (Vec<String>, Result<(), String>) {
        let pieces: Vec<_> = text
            .as_bytes()
            .chunks(size)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect();
        let codec = Json::of(&WIDGETS);
        let request = "GET /widgets".to_owned();
        let mut page = Page::<_, _, Widget>::new(body(pieces), codec, &WIDGETS, request);
        let mut words = Vec::new();
        loop {
            words.push(match page.next().await {
                Ok(Some(Part::Meta(meta))) => {
                    format!("at {} next {:?}", meta.resource_version, meta.next)
                }
                Ok(Some(Part::Item(Ok(widget)))) => widget.key().name().to_owned(),
                Ok(Some(Part::Item(Err(bad)))) => {
                    let key = bad.key.as_ref().map_or("?", ObjectKey::name);
                    format!("bad {key}")
                }
                Ok(None) => return (words, Ok(())),
                Err(error) => return (words, Err(error.to_string())),
            });
        }
    }

    #[tokio::test]
    async fn one_bad_item_leaves_the_rest_of_the_page_readable() {
        let text = json!({
            "metadata": {"resourceVersion": "9", "continue": ""},
            "items": [Widget::json("a", "1", 1), {"metadata": {"name": "b"}}, 7,
                      Widget::json("c", "3", 3)],
        })
        .to_string();
        // The names of this text are sorted, as in a list of custom resources.
        let words = ["a", "bad b", "bad ?", "c", "at 9 next \"\""];
        for size in [1, 7, 4096] {
            let (read, end) = read(&text, size).await;
            assert_eq!(end, Ok(()));
            assert_eq!(read, words);
        }
    }

    /// RF-35, and its whole kind: taken for an empty list, each of them would delete
    /// everything.
    #[tokio::test]
    async fn what_is_no_list_is_not_an_empty_one() {
        let table = json!({"kind": "Table", "metadata": {"resourceVersion": "20"}, "rows": []});
        let with_items =
            json!({"kind": "Table", "metadata": {"resourceVersion": "20"}, "items": []});
        let mut told = Vec::new();
        for body in [
            table,
            with_items,
            Widget::json("a", "1", 1),
            json!({}),
            json!([]),
            json!({"items": {}}),
        ] {
            let (_, end) = read(&body.to_string(), 5).await;
            told.push(end.unwrap_err());
        }
        insta::assert_snapshot!(told.join("\n"), @r"
        the answer is no list (Table)
        the answer is no list (Table)
        the answer is no list (object without items)
        the answer is no list (object without items)
        the answer to GET /widgets cannot be read: not JSON at line 1 column 1
        the answer to GET /widgets cannot be read: not JSON at line 1 column 12
        ");
    }

    /// Whoever defines a custom resource names its list; the lists of built-in kinds have
    /// one name.
    #[test]
    fn a_list_says_to_be_one_of_what_was_asked_for() {
        const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
        let passes = |asked: &ResourceType, kind: Option<&str>, version: Option<&str>| {
            let said = Said {
                asked: asked.clone(),
                kind: kind.map(str::to_owned),
                api_version: version.map(str::to_owned),
            };
            said.check().is_ok()
        };
        for asked in [&WIDGETS, &PODS] {
            for version in [None, Some("v1"), Some("example.com/v1")] {
                for kind in [None, Some(""), Some("List")] {
                    assert!(passes(asked, kind, version), "{kind:?} {version:?}");
                }
                assert!(!passes(asked, Some("Table"), version), "{version:?}");
            }
            assert!(!passes(asked, Some("DeploymentList"), Some("apps/v1")));
            // One kind in two groups, or two versions, is two.
            let own = format!("{}List", asked.kind);
            for version in [None, Some(""), Some(&*api_version(asked))] {
                assert!(passes(asked, Some(&own), version), "{version:?}");
            }
            for version in [
                "v2",
                "apps/v1",
                "example.com/v2",
                "v1/example.com",
                "example.com",
            ] {
                assert!(!passes(asked, Some(&own), Some(version)), "{version:?}");
            }
        }
        assert!(!passes(&PODS, Some("NodeList"), Some("v1")));
        assert!(!passes(&PODS, Some("NodeList"), None));
        assert!(passes(
            &WIDGETS,
            Some("WidgetsList"),
            Some("example.com/v1")
        ));
        assert!(passes(&WIDGETS, Some("WidgetsList"), None));
        assert!(!passes(&WIDGETS, Some("PodList"), Some("v1")));
    }

    #[tokio::test]
    async fn a_list_that_is_cut_short_is_none() {
        let text = json!({"items": [Widget::json("a", "1", 1)]}).to_string();
        for length in 0..text.len() {
            let (_, end) = read(&text[..length], 4096).await;
            assert!(end.is_err(), "{}", &text[..length]);
        }
    }

    #[tokio::test]
    async fn a_list_without_items_is_empty() {
        let (words, end) = read(r#"{"metadata":{"resourceVersion":"1"},"items":null}"#, 4096).await;
        assert_eq!((words, end), (vec!["at 1 next \"\"".to_owned()], Ok(())));
    }
}
