//! Everything outside the resources: health, version, and which resources there are.

use std::collections::BTreeMap;

use bytes::Bytes;
use faults::RequestInfo;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::{Value, json as object};

use super::{
    api::{Shared, answer_with, json, page_not_found, plain_text, refusal, text},
    openapi,
};
use crate::{
    body::ApiBody,
    kinds::{Kind, Served},
    status::ApiStatus,
    view::UNKNOWN_FORM,
};

/// The content type of the discovery document that holds all groups at once.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub(super) fn answer(
    shared: &Shared,
    info: &RequestInfo,
    request: &Request<Bytes>,
) -> Response<ApiBody> {
    let document = document(shared, info, request.headers());
    let any_method = ["/healthz", "/livez", "/readyz"];
    let any_method = any_method.iter().any(|path| info.path.starts_with(path));
    if request.method() == Method::GET || any_method || !document.status().is_success() {
        return document;
    }
    refusal(&ApiStatus::method_not_allowed())
}

fn document(shared: &Shared, info: &RequestInfo, headers: &HeaderMap) -> Response<ApiBody> {
    let aggregated = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.split(',').any(|range| range.trim() == AGGREGATED));
    if !aggregated && matches!(info.path.as_str(), "/api" | "/apis") && !takes_json(headers) {
        return refusal(&ApiStatus::not_acceptable_form(UNKNOWN_FORM.to_owned()));
    }
    let parts: Vec<&str> = info
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let document = match parts.as_slice() {
        [endpoint @ ("healthz" | "livez" | "readyz"), check @ ..] => {
            return health(endpoint, check, info.query("verbose").is_some());
        }
        [] => object!({"paths": paths(shared)}),
        ["version"] => version(),
        ["api" | "apis"] if aggregated => {
            let document = aggregated_groups(shared, parts == ["api"]);
            let mut response = answer_with(
                StatusCode::OK,
                HeaderValue::from_static(AGGREGATED),
                ApiBody::whole(document.to_string()),
            );
            let headers = response.headers_mut();
            let public = HeaderValue::from_static("public");
            headers.insert(header::CACHE_CONTROL, public);
            headers.insert(header::VARY, HeaderValue::from_static("Accept"));
            return response;
        }
        ["api"] => object!({"kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": []}),
        ["apis"] => {
            let groups = in_order(groups(shared));
            let named = groups.iter().filter(|(name, _)| !name.is_empty());
            let groups: Vec<Value> = named.map(|(name, group)| group.document(name)).collect();
            object!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["openapi", "v2"] => return openapi::v2(headers),
        ["openapi", "v3", rest @ ..] => return openapi::v3(shared, info, rest),
        ["api", version] => return resources(shared, "", version),
        ["apis", group] => match groups(shared).get(group).filter(|_| !group.is_empty()) {
            Some(found) => {
                let mut document = found.document(group);
                document["kind"] = "APIGroup".into();
                document["apiVersion"] = "v1".into();
                document
            }
            None => return page_not_found(),
        },
        ["apis", group, version] => return resources(shared, group, version),
        _ => return page_not_found(),
    };
    json(StatusCode::OK, document.to_string())
}

/// Whether an `Accept` header has a place for JSON in no particular form.
fn takes_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept
        .and_then(|value| value.to_str().ok())
        .unwrap_or("*/*");
    accept.split(',').any(|range| !range.contains(";as="))
}

/// What the server says it looks at; all of it is always well.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];

fn health(endpoint: &str, check: &[&str], verbose: bool) -> Response<ApiBody> {
    match check {
        [] if verbose => {
            let lines = CHECKS.map(|check| format!("[+]{check} ok\n")).concat();
            let body = ApiBody::whole(format!("{lines}{endpoint} check passed\n"));
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            answer_with(StatusCode::OK, plain, body)
        }
        [] => text(StatusCode::OK, "ok"),
        [check] if CHECKS.contains(check) => plain_text(StatusCode::OK, "ok"),
        _ => page_not_found(),
    }
}

/// The paths that `/` names.
fn paths(shared: &Shared) -> Vec<String> {
    let mut paths: Vec<String> = ["/api", "/api/v1", "/apis", "/healthz", "/livez"]
        .into_iter()
        .chain(["/openapi/v2", "/openapi/v3", "/readyz", "/version"])
        .map(ToOwned::to_owned)
        .collect();
    for (group, versions) in groups(shared).iter().filter(|(group, _)| !group.is_empty()) {
        paths.push(format!("/apis/{group}"));
        paths.extend(
            versions
                .0
                .iter()
                .map(|(version, _)| format!("/apis/{group}/{version}")),
        );
    }
    paths.sort();
    paths
}

/// The versions of a group with what is served in each, the preferred one first.
#[derive(Default)]
struct Group<'a>(Vec<(&'static str, Vec<(Served, &'a Kind)>)>);

// === impl Group ===

impl Group<'_> {
    fn document(&self, name: &str) -> Value {
        let versions: Vec<Value> = self
            .0
            .iter()
            .map(|(version, _)| object!({"groupVersion": format!("{name}/{version}"), "version": version}))
            .collect();
        object!({"name": name, "versions": versions, "preferredVersion": versions[0]})
    }

    fn aggregated(&self, name: &str) -> Value {
        let versions: Vec<Value> = self
            .0
            .iter()
            .map(|(version, kinds)| {
                let resources: Vec<Value> = kinds
                    .iter()
                    .map(|(served, kind)| aggregated_resource(*served, kind))
                    .collect();
                object!({"version": version, "resources": resources, "freshness": "Current"})
            })
            .collect();
        let mut group = object!({"metadata": {"name": name}, "versions": versions});
        if name.is_empty() {
            group["metadata"] = object!({});
        }
        group
    }
}

fn groups(shared: &Shared) -> BTreeMap<&'static str, Group<'_>> {
    let mut groups: BTreeMap<&'static str, Group<'_>> = BTreeMap::new();
    for (served, kind) in shared.kinds.served() {
        let group = groups.entry(served.group).or_default();
        match group
            .0
            .iter_mut()
            .find(|(version, _)| *version == served.version)
        {
            Some((_, kinds)) => kinds.push((served, kind)),
            None => group.0.push((served.version, vec![(served, kind)])),
        }
    }
    groups
}

/// The groups that come first, by the priorities that the real server gives them.
const FIRST: [&str; 8] = [
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "policy",
    "coordination.k8s.io",
];

fn in_order<'a>(groups: BTreeMap<&'static str, Group<'a>>) -> Vec<(&'static str, Group<'a>)> {
    let mut groups: Vec<_> = groups.into_iter().collect();
    let place = |name: &str| FIRST.iter().position(|first| *first == name);
    groups.sort_by_key(|(name, _)| (place(name).unwrap_or(FIRST.len()), *name));
    groups
}

/// The legacy document of one group and version.
fn resources(shared: &Shared, group: &str, version: &str) -> Response<ApiBody> {
    let kinds: Vec<(Served, &Kind)> = shared
        .kinds
        .served()
        .filter(|(served, _)| served.group == group && served.version == version)
        .collect();
    let Some((first, _)) = kinds.first() else {
        return match shared.kinds.serves_group(group) {
            true => refusal(&ApiStatus::no_such_resource()),
            false => page_not_found(),
        };
    };
    let mut resources = Vec::new();
    for (_, kind) in &kinds {
        let mut resource = object!({
            "name": kind.plural,
            "singularName": kind.singular(),
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": kind.verbs(),
        });
        add_names(&mut resource, kind);
        resources.push(resource);
        for (subresource, scale) in subresources(kind) {
            let mut entry = object!({
                "name": format!("{}/{subresource}", kind.plural),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": if scale { "Scale" } else { kind.kind },
                "verbs": SUBRESOURCE_VERBS,
            });
            if scale {
                entry["group"] = "autoscaling".into();
                entry["version"] = "v1".into();
            }
            resources.push(entry);
        }
    }
    let mut list = object!({"kind": "APIResourceList", "groupVersion": first.api_version(),
        "resources": resources});
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    json(StatusCode::OK, list.to_string())
}

const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

fn aggregated_groups(shared: &Shared, core: bool) -> Value {
    let groups = in_order(groups(shared));
    let items: Vec<Value> = groups
        .iter()
        .filter(|(name, _)| name.is_empty() == core)
        .map(|(name, group)| group.aggregated(name))
        .collect();
    object!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": items})
}

fn aggregated_resource(served: Served, kind: &Kind) -> Value {
    // A built-in kind is of the group and version under which it stands.
    let own = match kind.is_custom() {
        true => (served.group, served.version),
        false => ("", ""),
    };
    let subresources: Vec<Value> = subresources(kind)
        .map(|(name, scale)| {
            let (group, version, kind) = match scale {
                true => ("autoscaling", "v1", "Scale"),
                false => (own.0, own.1, kind.kind),
            };
            object!({"subresource": name, "verbs": SUBRESOURCE_VERBS,
                "responseKind": {"group": group, "version": version, "kind": kind}})
        })
        .collect();
    let mut resource = object!({
        "resource": kind.plural,
        "responseKind": {"group": own.0, "version": own.1, "kind": kind.kind},
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular(),
        "verbs": kind.verbs(),
    });
    add_names(&mut resource, kind);
    if !subresources.is_empty() {
        resource["subresources"] = subresources.into();
    }
    resource
}

fn add_names(resource: &mut Value, kind: &Kind) {
    if !kind.short_names.is_empty() {
        resource["shortNames"] = object!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = object!(kind.categories);
    }
}

/// A kind's subresources; the flag marks `scale`, which has a type of its own.
fn subresources(kind: &Kind) -> impl Iterator<Item = (&'static str, bool)> + use<> {
    let scale = kind.scale.then_some(("scale", true));
    let status = kind.status.then_some(("status", false));
    scale.into_iter().chain(status)
}

fn version() -> Value {
    object!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.1+sim",
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}
