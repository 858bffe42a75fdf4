//! What a request asks for, read from its method, path and query.

use std::{borrow::Cow, fmt, str::FromStr};

use http::{Method, Uri};

/// The verb of a request in the words of Kubernetes' authorisation, not of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// GET of one object, or of a path that is no resource.
    Get,
    /// GET of a collection.
    List,
    /// GET of a collection with `watch=true`.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// DELETE of one object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
    /// Any other HTTP method.
    Other,
}

/// What a request is about: the same facts that the real API server's `RequestInfo` holds.
///
/// Path segments and query values are percent-decoded. A list or watch with the field selector
/// `metadata.name=NAME` has its `name` set, as on the real server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestInfo {
    /// The Kubernetes verb.
    pub verb: Verb,
    /// False for discovery, health and everything else outside `/api/V/…` and `/apis/G/V/…`.
    pub is_resource: bool,
    /// The path as it was sent.
    pub path: String,
    /// The API group, empty for the core group.
    pub group: String,
    /// The version, such as `v1`; empty when `is_resource` is false.
    pub version: String,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The plural resource name; empty when `is_resource` is false.
    pub resource: String,
    /// The subresource, such as `scale`.
    pub subresource: Option<String>,
    /// The object's name.
    pub name: Option<String>,
    /// The query's pairs in their order.
    pub query: Vec<(String, String)>,
}

// === impl Verb ===

impl Verb {
    /// The verb's name in Kubernetes' spelling; `other` for [`Verb::Other`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "other",
        }
    }

    /// Whether a request with this verb can change something.
    #[must_use]
    pub const fn is_mutating(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Verb {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        const ALL: [Verb; 8] = [
            Verb::Get,
            Verb::List,
            Verb::Watch,
            Verb::Create,
            Verb::Update,
            Verb::Patch,
            Verb::Delete,
            Verb::DeleteCollection,
        ];
        ALL.into_iter()
            .find(|verb| verb.as_str() == word)
            .ok_or_else(|| {
                let known: Vec<_> = ALL.iter().map(|verb| verb.as_str()).collect();
                format!(
                    "unknown verb `{word}`, expected one of {}",
                    known.join(", ")
                )
            })
    }
}

// === impl RequestInfo ===

impl RequestInfo {
    /// Reads a request's method and URI; it never fails, what is no resource request says so.
    #[must_use]
    pub fn parse(method: &Method, uri: &Uri) -> Self {
        let query: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
                .map(|(key, value)| (key.into_owned(), value.into_owned()))
                .collect();
        let mut info = Self {
            verb: Verb::Other,
            is_resource: false,
            path: uri.path().to_owned(),
            group: String::new(),
            version: String::new(),
            namespace: None,
            resource: String::new(),
            subresource: None,
            name: None,
            query,
        };
        info.verb = plain_verb(method);

        let decoded: Vec<Cow<'_, str>> = uri
            .path()
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| percent_encoding::percent_decode_str(part).decode_utf8_lossy())
            .collect();
        let parts: Vec<&str> = decoded.iter().map(AsRef::as_ref).collect();
        let rest = match parts.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => {
                (*version).clone_into(&mut info.version);
                rest
            }
            ["apis", group, version, rest @ ..] if !rest.is_empty() => {
                (*group).clone_into(&mut info.group);
                (*version).clone_into(&mut info.version);
                rest
            }
            _ => return info,
        };
        info.is_resource = true;
        info.read_parts(rest);
        info.refine_verb();
        info
    }

    /// The first value of a query parameter.
    #[must_use]
    pub fn query(&self, key: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    }

    /// A query parameter read as Go's conversion reads a bool: absent is false, `false` and `0` are false,
    /// everything else, the empty value included, is true.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.query(key)
            .is_some_and(|value| !value.eq_ignore_ascii_case("false") && value != "0")
    }

    /// `RESOURCE` or `RESOURCE/SUBRESOURCE`.
    #[must_use]
    pub fn resource_path(&self) -> String {
        match &self.subresource {
            Some(subresource) => format!("{}/{subresource}", self.resource),
            None => self.resource.clone(),
        }
    }

    fn read_parts(&mut self, parts: &[&str]) {
        let relative = match parts {
            // A namespace's own subresources belong to the Namespace object, not to something inside it.
            ["namespaces", namespace, "status" | "finalize", ..] => {
                self.namespace = Some((*namespace).to_owned());
                parts
            }
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                self.namespace = Some((*namespace).to_owned());
                rest
            }
            ["namespaces", namespace] => {
                self.namespace = Some((*namespace).to_owned());
                parts
            }
            _ => parts,
        };
        let mut relative = relative.iter();
        self.resource = relative
            .next()
            .map(|part| (*part).to_owned())
            .unwrap_or_default();
        self.name = relative.next().map(|part| (*part).to_owned());
        self.subresource = relative.next().map(|part| (*part).to_owned());
    }

    fn refine_verb(&mut self) {
        if self.name.is_some() {
            return;
        }
        match self.verb {
            Verb::Get => {
                self.verb = if self.flag("watch") {
                    Verb::Watch
                } else {
                    Verb::List
                };
                self.name = self.query("fieldSelector").and_then(name_in_field_selector);
            }
            Verb::Delete => self.verb = Verb::DeleteCollection,
            _ => {}
        }
    }
}

fn plain_verb(method: &Method) -> Verb {
    match *method {
        Method::GET | Method::HEAD => Verb::Get,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => Verb::Other,
    }
}

fn name_in_field_selector(selector: &str) -> Option<String> {
    selector.split(',').find_map(|term| {
        let (key, value) = term.split_once('=')?;
        (key.trim() == "metadata.name").then(|| value.trim_start_matches('=').trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &str, uri: &str) -> RequestInfo {
        RequestInfo::parse(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    #[test]
    fn tells_list_watch_and_get_apart() {
        assert_eq!(parse("GET", "/apis/apps/v1/deployments").verb, Verb::List);
        assert_eq!(
            parse("GET", "/apis/apps/v1/deployments?watch=1").verb,
            Verb::Watch
        );
        assert_eq!(
            parse("GET", "/apis/apps/v1/deployments?watch=").verb,
            Verb::Watch
        );
        assert_eq!(
            parse("GET", "/apis/apps/v1/deployments?watch=False").verb,
            Verb::List
        );
        assert_eq!(
            parse("GET", "/apis/apps/v1/namespaces/shop/deployments/web").verb,
            Verb::Get
        );
        assert_eq!(
            parse("DELETE", "/api/v1/namespaces/shop/pods").verb,
            Verb::DeleteCollection
        );
    }

    #[test]
    fn reads_namespace_name_and_subresource() {
        let info = parse(
            "PATCH",
            "/apis/apps/v1/namespaces/shop/deployments/web/scale?dryRun=All",
        );
        assert_eq!(info.verb, Verb::Patch);
        assert_eq!((info.group.as_str(), info.version.as_str()), ("apps", "v1"));
        assert_eq!(info.namespace.as_deref(), Some("shop"));
        assert_eq!(info.name.as_deref(), Some("web"));
        assert_eq!(info.resource_path(), "deployments/scale");
        assert_eq!(info.query("dryRun"), Some("All"));
    }

    #[test]
    fn a_namespace_and_its_status_are_about_the_namespace() {
        let info = parse("GET", "/api/v1/namespaces/shop");
        assert_eq!(
            (info.resource.as_str(), info.name.as_deref()),
            ("namespaces", Some("shop"))
        );
        let info = parse("PATCH", "/api/v1/namespaces/shop/status");
        assert_eq!(info.resource_path(), "namespaces/status");
        assert_eq!(info.name.as_deref(), Some("shop"));
    }

    #[test]
    fn takes_the_name_from_a_field_selector_and_decodes_escapes() {
        let info = parse(
            "GET",
            "/api/v1/pods?fieldSelector=metadata.name%3Dweb&watch=true",
        );
        assert_eq!(info.name.as_deref(), Some("web"));
        assert_eq!(info.verb, Verb::Watch);
        assert_eq!(
            parse("GET", "/api/v1/namespaces/a%2Db/pods")
                .namespace
                .as_deref(),
            Some("a-b")
        );
    }

    #[test]
    fn discovery_and_health_are_no_resources() {
        for path in [
            "/",
            "/api",
            "/api/v1",
            "/apis/apps/v1",
            "/healthz",
            "/version",
        ] {
            let info = parse("GET", path);
            assert!(!info.is_resource, "{path}");
            assert_eq!(info.verb, Verb::Get);
        }
    }
}
