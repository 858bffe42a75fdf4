//! Which requests, when, and what goes wrong with them.

use std::{ops::Range, time::Duration};

use crate::{Action, Attempts, Pattern, RequestInfo, Verb};

/// One rule of a script.
///
/// A rule counts every request that its matcher fits within its window, whether or not an earlier rule has
/// already acted on it; `attempts` picks from that count. Of the rules that pick a request only the first, in
/// the script's order, acts; [`Action::OpaqueRevisions`] alone acts beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// A name for reports and for [`Faults::fired_named`](crate::Faults::fired_named).
    pub name: Option<String>,
    /// The line of its file on which it begins; `None` for a rule that was built in Rust.
    pub line: Option<u64>,
    /// Which requests.
    pub matcher: Matcher,
    /// Which of them.
    pub attempts: Attempts,
    /// Whether attempts are counted for each object (namespace and name) on its own.
    pub per_object: bool,
    /// When, measured from the script's start.
    pub window: Window,
    /// What goes wrong, in this order.
    pub actions: Vec<Action>,
}

/// What a request must be like; everything left out fits every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher {
    /// One of these verbs; empty is any.
    pub verbs: Vec<Verb>,
    /// The API group; the empty pattern is the core group.
    pub group: Option<Pattern>,
    /// `RESOURCE` (without subresources), `RESOURCE/SUBRESOURCE`, `RESOURCE/*` (only subresources), `*`.
    pub resource: Option<Pattern>,
    /// The namespace; a request without one does not fit.
    pub namespace: Option<Pattern>,
    /// The object's name; a request without one does not fit.
    pub name: Option<Pattern>,
    /// The path, for requests that are no resources.
    pub path: Option<Pattern>,
    /// Query parameters that must be there and fit.
    pub query: Vec<(String, Pattern)>,
    /// Query parameters that must not be there.
    pub without: Vec<String>,
}

/// A span of time since the script's start: from the first, until just before the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The beginning.
    pub from: Duration,
    /// The end; `None` is for ever.
    pub until: Option<Duration>,
}

// === impl Rule ===

impl Rule {
    /// A rule for every request.
    #[must_use]
    pub fn new(action: impl Into<Action>) -> Self {
        Self {
            name: None,
            line: None,
            matcher: Matcher::default(),
            attempts: Attempts::ALL,
            per_object: false,
            window: Window::default(),
            actions: vec![action.into()],
        }
    }

    /// Adds an action after those there are.
    #[must_use]
    pub fn then(mut self, action: impl Into<Action>) -> Self {
        self.actions.push(action.into());
        self
    }

    /// Names the rule.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a verb that fits.
    #[must_use]
    pub fn verb(mut self, verb: Verb) -> Self {
        self.matcher.verbs.push(verb);
        self
    }

    /// Sets the API group.
    #[must_use]
    pub fn group(mut self, group: impl Into<Pattern>) -> Self {
        self.matcher.group = Some(group.into());
        self
    }

    /// Sets the resource; see [`Matcher::resource`].
    #[must_use]
    pub fn resource(mut self, resource: impl Into<Pattern>) -> Self {
        self.matcher.resource = Some(resource.into());
        self
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Pattern>) -> Self {
        self.matcher.namespace = Some(namespace.into());
        self
    }

    /// Sets the object's name.
    #[must_use]
    pub fn object(mut self, name: impl Into<Pattern>) -> Self {
        self.matcher.name = Some(name.into());
        self
    }

    /// Sets the path.
    #[must_use]
    pub fn path(mut self, path: impl Into<Pattern>) -> Self {
        self.matcher.path = Some(path.into());
        self
    }

    /// Demands a query parameter; `*` as value demands only that it is there.
    #[must_use]
    pub fn query(mut self, key: impl Into<String>, value: impl Into<Pattern>) -> Self {
        self.matcher.query.push((key.into(), value.into()));
        self
    }

    /// Demands that a query parameter is not there.
    #[must_use]
    pub fn without(mut self, key: impl Into<String>) -> Self {
        self.matcher.without.push(key.into());
        self
    }

    /// Picks attempts, counted from 1: a number or a range.
    #[must_use]
    pub fn attempts(mut self, attempts: impl Into<Attempts>) -> Self {
        self.attempts = attempts.into();
        self
    }

    /// Counts attempts for each object on its own.
    #[must_use]
    pub const fn per_object(mut self) -> Self {
        self.per_object = true;
        self
    }

    /// Whether it changes how the server speaks, beside whatever rule acts.
    pub(crate) fn acts_beside(&self) -> bool {
        !self.actions.is_empty()
            && self
                .actions
                .iter()
                .all(|action| matches!(action, Action::OpaqueRevisions))
    }

    /// Limits the rule to a span of time since the script's start.
    #[must_use]
    pub const fn window(mut self, window: Range<Duration>) -> Self {
        self.window = Window {
            from: window.start,
            until: Some(window.end),
        };
        self
    }
}

// === impl Matcher ===

impl Matcher {
    /// Whether a request fits.
    #[must_use]
    pub fn matches(&self, info: &RequestInfo) -> bool {
        let fits = |pattern: &Option<Pattern>, text: Option<&str>| match pattern {
            None => true,
            Some(pattern) => text.is_some_and(|text| pattern.matches(text)),
        };
        let is_resource = info.is_resource;
        (self.verbs.is_empty() || self.verbs.contains(&info.verb))
            && fits(&self.group, is_resource.then_some(info.group.as_str()))
            && fits(
                &self.resource,
                is_resource.then(|| info.resource_path()).as_deref(),
            )
            && fits(&self.namespace, info.namespace.as_deref())
            && fits(&self.name, info.name.as_deref())
            && fits(&self.path, Some(&info.path))
            && self
                .query
                .iter()
                .all(|(key, pattern)| info.query(key).is_some_and(|v| pattern.matches(v)))
            && self.without.iter().all(|key| info.query(key).is_none())
    }
}

// === impl Window ===

impl Window {
    /// Whether a moment, measured from the script's start, lies in the window.
    #[must_use]
    pub fn contains(self, since_start: Duration) -> bool {
        self.from <= since_start && self.until.is_none_or(|until| since_start < until)
    }
}
