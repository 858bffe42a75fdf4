//! One request about a resource.

use bytes::Bytes;
use faults::RequestInfo;
use http::{HeaderMap, Request, header};
use serde_json::Value;

use super::{
    api::Shared,
    expected::{Expected, Mismatch},
    field_validation::{self, Twice, Warnings},
};
use crate::{
    decode::{Document, MediaType},
    kinds::{Kind, Served},
    lifecycle::WriteOptions,
    status::{ApiStatus, FieldError},
    store::{AsOf, Key},
    view::View,
};

/// A request with what its path means.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) shared: &'a Shared,
    pub(super) info: RequestInfo,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
    pub(super) served: Served,
    pub(super) kind: &'a Kind,
    /// Which state a read shows; writes go to the present one.
    pub(super) as_of: AsOf,
}

/// Why a body could not be decoded.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It was not looked at.
    Status(ApiStatus),
    /// In the words of a decoder.
    Undecodable(String),
}

/// The real server's limit for request bodies.
const MAX_BODY: usize = 3 * 1024 * 1024;

// === impl Call ===

impl<'a> Call<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        info: RequestInfo,
        request: &'a Request<Bytes>,
        served: Served,
        as_of: AsOf,
    ) -> Self {
        let kind = shared.kinds.get(served.id);
        Self {
            shared,
            info,
            headers: request.headers(),
            body: request.body(),
            served,
            kind,
            as_of,
        }
    }

    /// The messages of a resource that two groups serve name the one that was asked.
    pub(super) fn in_group(&self, status: ApiStatus) -> ApiStatus {
        match self.served.group == self.kind.group {
            true => status,
            false => status.in_group(self.kind.plural, self.served.group),
        }
    }

    /// The namespace in the path; empty for cluster-scoped kinds.
    pub(super) fn namespace(&self) -> &str {
        if self.kind.namespaced {
            self.info.namespace.as_deref().unwrap_or_default()
        } else {
            ""
        }
    }

    pub(super) fn name(&self) -> &str {
        self.info.name.as_deref().unwrap_or_default()
    }

    pub(super) fn key(&self) -> Key {
        Key::new(self.namespace(), self.name())
    }

    pub(super) fn view(&self) -> Result<View, ApiStatus> {
        View::negotiate(
            *self.kind,
            self.served,
            self.headers,
            self.info.query("includeObject"),
        )
    }

    /// The content type in small letters and without its parameters; empty if there is none.
    pub(super) fn content_type(&self) -> String {
        let value = self
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        value
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    }

    pub(super) fn body(&self) -> Result<&'a [u8], ApiStatus> {
        if self.body.len() > MAX_BODY {
            return Err(ApiStatus::too_large(MAX_BODY));
        }
        Ok(self.body)
    }

    /// The object in the body, in the stored version, without the fields that its kind does not have.
    pub(super) fn object_body(&self, warnings: &mut Warnings) -> Result<Value, ApiStatus> {
        let mut value = self.typed_body(&self.expected(), warnings)?;
        if let Some(also) = self.served.also {
            (also.to_stored)(&mut value);
        }
        Ok(value)
    }

    /// The kind that is served here, in the version of the path.
    pub(super) fn expected(&self) -> Expected {
        Expected {
            group: self.served.group,
            version: self.served.version,
            kind: self.kind.kind,
        }
    }

    /// The body as an object of a kind, without the fields that the kind does not have.
    pub(super) fn typed_body(
        &self,
        expected: &Expected,
        warnings: &mut Warnings,
    ) -> Result<Value, ApiStatus> {
        let document = self.document(expected).map_err(|refusal| match refusal {
            Refusal::Status(status) => status,
            Refusal::Undecodable(why) => unrecognized(expected.kind, &why, self.body),
        })?;
        let or = |given: &str, default: &str| {
            let given = Some(given).filter(|given| !given.is_empty());
            given.unwrap_or(default).to_owned()
        };
        let api_version = or(&document.api_version, &expected.api_version());
        let kind = or(&document.kind, expected.kind);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let undecodable = |why: String| {
            let name = expected.kind;
            ApiStatus::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {name}: {why}"
            ))
        };
        expected
            .check(&api_version, &kind)
            .map_err(|mismatch| match mismatch {
                Mismatch::Version(why) => ApiStatus::bad_request(why),
                Mismatch::Kind(why) => undecodable(why),
            })?;
        let twice = Twice::of(&document);
        let mut value = document.object(expected.type_name()).map_err(undecodable)?;
        expected.conform(&mut value).map_err(undecodable)?;
        field_validation::apply(self, expected.type_name(), &mut value, &twice, warnings)
            .map_err(undecodable)?;
        Ok(value)
    }

    /// The body, decoded as far as it can be.
    pub(super) fn document(&self, expected: &Expected) -> Result<Document<'a>, Refusal> {
        let built_in = expected.type_name().is_some();
        let media_type = MediaType::parse(&self.content_type(), built_in)
            .map_err(|accepted| Refusal::Status(ApiStatus::unsupported_media_type(accepted)))?;
        let body = self.body().map_err(Refusal::Status)?;
        Document::read(media_type, body).map_err(Refusal::Undecodable)
    }

    /// `dryRun` and `fieldManager`, and a check of `fieldValidation` and of `force`, which only server-side
    /// apply takes. `options` is the kind that the real server names in its refusal.
    pub(super) fn write_options(&self, options: &str) -> Result<WriteOptions, ApiStatus> {
        let dry_run = self.query_values("dryRun");
        let validation = self.info.query("fieldValidation").unwrap_or_default();
        let forced = options == "PatchOptions" && self.info.query("force").is_some();
        let errors: Vec<FieldError> = forced
            .then(|| FieldError::forbidden("force", "may not be specified for non-apply patch"))
            .into_iter()
            .chain(self.info.query("fieldManager").and_then(check_manager))
            .chain(check_dry_run(&dry_run))
            .chain(field_validation::check(validation))
            .collect();
        if !errors.is_empty() {
            return Err(ApiStatus::invalid_options(options, &errors));
        }
        Ok(WriteOptions {
            dry_run: !dry_run.is_empty(),
            manager: self.manager(),
            api_version: self.served.api_version(),
        })
    }

    /// Every value of a parameter that may be there more than once.
    pub(super) fn query_values(&self, name: &str) -> Vec<&str> {
        let values = self.info.query.iter().filter(|(key, _)| key == name);
        values.map(|(_, value)| value.as_str()).collect()
    }

    /// The field manager: the parameter, else the first word of the user agent.
    fn manager(&self) -> String {
        match self.info.query("fieldManager") {
            Some(manager) if !manager.is_empty() => manager.to_owned(),
            _ => {
                let agent = self
                    .headers
                    .get(header::USER_AGENT)
                    .and_then(|value| value.to_str().ok());
                let agent = agent.unwrap_or("unknown");
                agent.split(['/', ' ']).next().unwrap_or(agent).to_owned()
            }
        }
    }
}

/// What is wrong with the values of `dryRun`; the refusal shows all of them.
pub(super) fn check_dry_run(given: &[&str]) -> Option<FieldError> {
    let all = || given.iter().map(|value| format!("{value:?}"));
    let unknown = given.iter().any(|value| *value != "All");
    unknown.then(|| {
        let shown = format!("[{}]", all().collect::<Vec<_>>().join(","));
        FieldError::not_supported("dryRun", shown, &["All"])
    })
}

fn check_manager(manager: &str) -> Option<FieldError> {
    const LONGEST: usize = 128;
    if manager.len() > LONGEST {
        return Some(FieldError::too_long("fieldManager", LONGEST));
    }
    let (at, bad) = manager.char_indices().find(|(_, c)| c.is_control())?;
    let why = format!(
        "invalid character U+{:04X} (at position {at})",
        u32::from(bad)
    );
    // As Go quotes what cannot be printed.
    let shown: String = manager
        .chars()
        .map(|c| match c {
            c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    Some(FieldError::invalid(
        "fieldManager",
        format!("\"{shown}\""),
        why,
    ))
}

/// A body that does not even say what it is.
fn unrecognized(kind: &str, why: &str, body: &[u8]) -> ApiStatus {
    const SHOWN: usize = 30;
    let (start, more) = match body.get(..SHOWN) {
        Some(start) if body.len() > SHOWN => (start, " ..."),
        _ => (body, ""),
    };
    let shown = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    ApiStatus::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({shown}{more})"
    ))
}
