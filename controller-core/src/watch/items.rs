use bytes::{Buf, Bytes, BytesMut};

use super::span::Span;

/// 16 MiB: ten times the largest object that etcd stores.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// Takes a list apart as its bytes arrive: `{"kind": …, "metadata": …, "items": [ … ]}`.
///
/// It holds one item at a time, and that only while its end is still under way; an item
/// within one frame is a slice of it. Everything else of the list is skipped unread. An item
/// over [`LONGEST`] is skipped too, after its beginning.
///
/// The members may come in any order. Typed lists begin with their metadata, those of custom
/// resources with their items: their encoder sorts the names.
#[derive(Debug)]
pub(super) struct Items {
    /// What has arrived and was not looked at yet.
    frame: Bytes,
    /// The beginning of the value that is being collected.
    partial: BytesMut,
    /// Finds the end of the value under way.
    span: Span,
    place: Place,
    longest: usize,
    /// How many bytes have been looked at.
    seen: usize,
}

/// What was found next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The value of `kind`.
    Kind(Bytes),
    /// The value of `apiVersion`.
    ApiVersion(Bytes),
    /// The value of `metadata`.
    Meta(Bytes),
    /// `items` is there: an array, or `null` for none.
    Items,
    /// One item.
    Item(Bytes),
    /// The beginning of an item that is too long; the rest of it is skipped.
    TooLong(Bytes),
}

/// This is no JSON object, from here on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotJson;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the list.
    Start,
    /// Before the first name, or the end of a list without members.
    FirstName,
    /// Before a name.
    Name,
    InName,
    /// Before the colon of a member.
    Colon(Member),
    /// Before the value of a member.
    Value(Member),
    In(Member),
    /// Behind a member: a comma or the end.
    Next,
    /// Before the first item, or the end of none.
    FirstItem,
    /// Before an item.
    Item,
    InItem,
    /// In the rest of an item that was too long.
    InLongItem,
    /// Behind an item: a comma or the end.
    NextItem,
    /// Behind the list.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Kind,
    ApiVersion,
    Meta,
    Items,
    Other,
}

/// How far a value has come.
enum Collected {
    More,
    Whole(Bytes),
    /// It is longer than it may be; this is its beginning, and whether its end was seen.
    TooLong(Bytes, bool),
}

// === impl Items ===

impl Items {
    /// The most that a list says of itself: its kind, its version, its continue token.
    pub(super) const LONGEST_META: usize = 1024 * 1024;

    pub(super) fn new() -> Self {
        Self::with_longest(LONGEST)
    }

    pub(super) fn with_longest(longest: usize) -> Self {
        Self {
            frame: Bytes::new(),
            partial: BytesMut::new(),
            span: Span::default(),
            place: Place::Start,
            longest,
            seen: 0,
        }
    }

    /// Takes the next frame. The last one must have been read to its end.
    pub(super) fn push(&mut self, frame: Bytes) {
        debug_assert!(self.frame.is_empty(), "a frame is read to its end");
        self.frame = frame;
    }

    /// Whether the list is complete.
    pub(super) fn is_whole(&self) -> bool {
        self.place == Place::End
    }

    /// How many bytes have been looked at.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// How many bytes of an unfinished value are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.partial.len()
    }

    /// The next thing in what has arrived; `None` asks for the next frame.
    pub(super) fn next(&mut self) -> Result<Option<Found>, NotJson> {
        loop {
            let collecting = matches!(
                self.place,
                Place::InName | Place::In(_) | Place::InItem | Place::InLongItem
            );
            if !collecting {
                let blank = self.frame.len() - self.frame.trim_ascii_start().len();
                self.advance(blank);
            }
            let Some(&byte) = self.frame.first() else {
                return Ok(None);
            };
            if let Some(found) = self.step(byte)? {
                return Ok(Some(found));
            }
        }
    }

    /// One step on; `byte` is the next one.
    fn step(&mut self, byte: u8) -> Result<Option<Found>, NotJson> {
        let next = match (self.place, byte) {
            (Place::Start, b'{') => Place::FirstName,
            (Place::FirstName | Place::Next, b'}') => Place::End,
            (Place::FirstName | Place::Name, b'"') => return self.begin(Place::InName, byte),
            (Place::Colon(member), b':') => Place::Value(member),
            (Place::Next, b',') => Place::Name,
            (Place::Value(Member::Items), b'[') => {
                self.advance(1);
                self.place = Place::FirstItem;
                return Ok(Some(Found::Items));
            }
            (Place::Value(member), _) => return self.begin(Place::In(member), byte),
            (Place::FirstItem | Place::NextItem, b']') => Place::Next,
            (Place::NextItem, b',') => Place::Item,
            (Place::FirstItem | Place::Item, _) => return self.begin(Place::InItem, byte),
            (Place::InName, _) => return self.name(),
            (Place::In(member), _) => return self.member(member),
            (Place::InItem, _) => return Ok(self.item()),
            (Place::InLongItem, _) => {
                let (length, ended) = self.span.feed(&self.frame);
                self.advance(length);
                if ended {
                    self.place = Place::NextItem;
                }
                return Ok(None);
            }
            _ => return Err(NotJson),
        };
        self.advance(1);
        self.place = next;
        Ok(None)
    }

    fn name(&mut self) -> Result<Option<Found>, NotJson> {
        let member = match self.collect(Self::LONGEST_META) {
            Collected::More => return Ok(None),
            Collected::TooLong(..) => return Err(NotJson),
            Collected::Whole(name) => match &*name {
                br#""kind""# => Member::Kind,
                br#""apiVersion""# => Member::ApiVersion,
                br#""metadata""# => Member::Meta,
                br#""items""# => Member::Items,
                _ => Member::Other,
            },
        };
        self.place = Place::Colon(member);
        Ok(None)
    }

    fn member(&mut self, member: Member) -> Result<Option<Found>, NotJson> {
        if member == Member::Other {
            let (length, ended) = self.span.feed(&self.frame);
            self.advance(length);
            if ended {
                self.place = Place::Next;
            }
            return Ok(None);
        }
        let value = match self.collect(Self::LONGEST_META) {
            Collected::More => return Ok(None),
            Collected::TooLong(..) => return Err(NotJson),
            Collected::Whole(value) => value,
        };
        self.place = Place::Next;
        match member {
            Member::Kind => Ok(Some(Found::Kind(value))),
            Member::ApiVersion => Ok(Some(Found::ApiVersion(value))),
            Member::Meta => Ok(Some(Found::Meta(value))),
            _ if value == "null" => Ok(Some(Found::Items)),
            _ => Err(NotJson),
        }
    }

    fn item(&mut self) -> Option<Found> {
        match self.collect(self.longest) {
            Collected::More => None,
            Collected::Whole(item) => {
                self.place = Place::NextItem;
                Some(Found::Item(item))
            }
            Collected::TooLong(beginning, ended) => {
                self.place = if ended {
                    Place::NextItem
                } else {
                    Place::InLongItem
                };
                Some(Found::TooLong(beginning))
            }
        }
    }

    /// A value begins with `byte`.
    fn begin(&mut self, place: Place, byte: u8) -> Result<Option<Found>, NotJson> {
        if matches!(byte, b'}' | b']' | b',' | b':') {
            return Err(NotJson);
        }
        self.span = Span::default();
        self.place = place;
        Ok(None)
    }

    /// Collects the value under way, of at most `longest` bytes.
    fn collect(&mut self, longest: usize) -> Collected {
        let (length, ended) = self.span.feed(&self.frame);
        let piece = self.frame.split_to(length);
        self.seen += length;
        if self.partial.len() + length > longest {
            let mut beginning = std::mem::take(&mut self.partial);
            let room = longest - beginning.len();
            beginning.extend_from_slice(&piece[..room]);
            return Collected::TooLong(beginning.freeze(), ended);
        }
        if ended && self.partial.is_empty() {
            return Collected::Whole(piece);
        }
        self.partial.extend_from_slice(&piece);
        if !ended {
            return Collected::More;
        }
        // The buffer goes away with the value: a large one costs its memory once.
        Collected::Whole(std::mem::take(&mut self.partial).freeze())
    }

    fn advance(&mut self, length: usize) {
        self.frame.advance(length);
        self.seen += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in `text` in pieces of `size` bytes, as words.
    fn found(text: &str, size: usize) -> Vec<String> {
        let mut items = Items::with_longest(20);
        let mut words = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            items.push(Bytes::copy_from_slice(piece));
            loop {
                let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
                words.push(match items.next() {
                    Ok(None) => break,
                    Ok(Some(Found::Kind(kind))) => format!("kind {}", text(kind)),
                    Ok(Some(Found::ApiVersion(version))) => format!("of {}", text(version)),
                    Ok(Some(Found::Meta(meta))) => format!("meta {}", text(meta)),
                    Ok(Some(Found::Items)) => "items".to_owned(),
                    Ok(Some(Found::Item(item))) => text(item),
                    Ok(Some(Found::TooLong(item))) => format!("{}...", text(item)),
                    Err(NotJson) => {
                        words.push("not JSON".to_owned());
                        return words;
                    }
                });
            }
        }
        if !items.is_whole() {
            words.push("cut".to_owned());
        }
        words
    }

    #[test]
    fn a_list_is_taken_apart_in_the_same_way_however_it_is_cut() {
        let text = r#" {"kind":"PodList", "junk":[{"items":["no"]}],
            "metadata" : {"resourceVersion":"7"},
            "items":[{"a":"]}"}, 5 ,null,
                     {"a":"longer than twenty bytes"},"\"]"]} "#;
        let expected = [
            r#"kind "PodList""#,
            r#"meta {"resourceVersion":"7"}"#,
            "items",
            r#"{"a":"]}"}"#,
            "5",
            "null",
            r#"{"a":"longer than tw..."#,
            r#""\"]""#,
        ];
        for size in 1..=text.len() {
            assert_eq!(found(text, size), expected, "by {size}");
        }
    }

    #[test]
    fn a_list_without_items_is_empty_and_one_that_is_cut_is_told() {
        assert_eq!(found(r#"{"items":null}"#, 99), ["items"]);
        assert_eq!(found(r#"{"items":[]}"#, 99), ["items"]);
        assert_eq!(found("{}", 99), Vec::<String>::new());
        assert_eq!(found(r#"{"items":[1"#, 99), ["items", "cut"]);
        assert_eq!(found("", 99), ["cut"]);
    }

    #[test]
    fn what_is_no_list_is_told_where_that_shows() {
        for text in [
            "<html>",
            "[]",
            r#"{"items":{}}"#,
            r#"{"items":7}"#,
            "{} {}",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a" 1}"#,
            r#"{"a":}"#,
        ] {
            for size in 1..=text.len() {
                let words = found(text, size);
                assert_eq!(words.last().unwrap(), "not JSON", "{text} by {size}");
            }
        }
        assert_eq!(found(r#"{"items":[,]}"#, 99), ["items", "not JSON"]);
        assert_eq!(found(r#"{"items":[1,]}"#, 99), ["items", "1", "not JSON"]);
    }

    /// C-25: the memory of a large item falls back with the item.
    #[test]
    fn a_large_item_leaves_no_large_buffer_behind() {
        let mut items = Items::new();
        items.push(Bytes::from_static(br#"{"items":[""#));
        assert_eq!(items.next(), Ok(Some(Found::Items)));
        assert_eq!(items.next(), Ok(None));
        items.push(Bytes::from("x".repeat(1 << 20)));
        assert_eq!(items.next(), Ok(None));
        items.push(Bytes::from_static(br#"",1"#));
        assert!(matches!(items.next(), Ok(Some(Found::Item(item))) if item.len() > 1 << 20));
        assert_eq!(items.next(), Ok(None));
        assert!(items.partial.capacity() < 1024);
    }
}
