//! The form of `cases/*.http`.
//!
//! ```text
//! # A comment. A file begins with the words that it uses in paths and bodies:
//! web = /apis/apps/v1/namespaces/{{ns}}/deployments/web
//!
//! == A group has a namespace of its own, {{ns}}
//!
//! 201 POST /apis/apps/v1/namespaces/{{ns}}/deployments @made
//! < deployment {"metadata": {"name": "web"}}
//!
//! ## A title, where the request does not say what it is about
//! 409 MERGE {{web}}/scale
//! > Accept: application/json
//! {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 3}}
//!
//! 200 WATCH 2 {{web}}s?resourceVersion={{made.metadata.resourceVersion}}
//! ```
//!
//! A request starts with the status that the real server answers: a mistyped path must not
//! pass because both know nothing of it. `@made` keeps the answer, each server's its own,
//! and `{{made.path.to.field}}` is a part of it. Then come, in any order:
//!
//! | line | what it is |
//! |---|---|
//! | `> Name: value` | a header; `Authorization` makes it a request without a certificate |
//! | `< name {…}` | the body: an object of `fixtures.yaml`, and a merge patch of it |
//! | `! subset why` | groups, versions and resources that the simulated server lacks are not compared |
//! | `! head why` | the body is not compared |
//! | `! size N` | the body is N bytes of JSON |
//! | anything else | the body, up to the next empty line |
//!
//! `MERGE`, `STRATEGIC`, `JSONPATCH` and `APPLY` are a PATCH of that type. `WATCH N path`
//! reads N events, `WATCH end path` all, until the server ends it. `OPEN path @w` opens a
//! watch that `READ N @w` or `READ end @w` reads later. `COMPACT` makes both servers forget
//! their past.

mod parse;

use http::Method;

use super::media;

/// Requests that build on each other, in a namespace of their own.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) title: String,
    pub(super) cases: Vec<Case>,
}

/// One step, the same on both servers.
#[derive(Debug)]
pub(super) struct Case {
    /// File and line, from 1.
    pub(super) place: String,
    pub(super) title: String,
    /// What the real server answers.
    pub(super) status: u16,
    pub(super) step: Step,
    /// Not yet filled in; empty for a step that sends nothing.
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    /// Not yet filled in.
    pub(super) body: String,
    /// The name by which later steps know the answer, or the watch.
    pub(super) name: Option<String>,
    pub(super) scope: Scope,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Request(Method),
    Watch(Until),
    /// Opens a watch and leaves it open.
    Open,
    /// Reads a watch that is open.
    Read(Until),
    /// Makes the server forget its past.
    Compact,
}

/// How far a watch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    Events(usize),
    End,
}

/// How much of the answers is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    #[default]
    Whole,
    Subset,
    Head,
}

// === impl Group ===

impl Group {
    /// Whether it makes the servers forget what was before.
    pub(super) fn forgets(&self) -> bool {
        self.cases.iter().any(|case| case.step == Step::Compact)
    }
}

// === impl Case ===

impl Case {
    /// What every group begins with.
    pub(super) fn namespace() -> Self {
        Self {
            place: "every group".to_owned(),
            title: "its namespace".to_owned(),
            status: 201,
            step: Step::Request(Method::POST),
            target: "/api/v1/namespaces".to_owned(),
            headers: vec![("Content-Type".to_owned(), media::JSON.to_owned())],
            body: r#"{"metadata": {"name": "{{ns}}"}}"#.to_owned(),
            name: None,
            scope: Scope::Whole,
        }
    }

    /// What `kept.yaml` and a report call it.
    pub(super) fn id(&self, group: &Group) -> String {
        format!("{}: {}", group.title, self.title)
    }
}
