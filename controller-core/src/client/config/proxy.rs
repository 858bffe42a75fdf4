//! Which proxy leads to a server. kube's own answer to this is never asked for:
//!
//! | case | kube 5.0 | here and in Go |
//! |---|---|---|
//! | `NO_PROXY` names the server | goes through the proxy | goes directly |
//! | `NO_PROXY` names the proxy, or is `*` | `proxy-url` is ignored | `proxy-url` counts |
//! | a blank entry in `NO_PROXY` | the whole kubeconfig is refused | skipped |
//! | the server is on the loopback | goes through the proxy | goes directly |
//! | `HTTPS_PROXY=host:port` | refused | an http proxy |
//! | in a pod | no proxy | as anywhere else |
use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use super::{ConfigError, Environment};

/// The cluster's `proxy-url`, else the environment's proxy as Go reads it: not for the
/// loopback, nor for what `NO_PROXY` names.
pub(super) fn resolve(
    proxy_url: Option<&str>,
    cluster: &str,
    server: &Uri,
    environment: &Environment,
) -> Result<Option<Uri>, ConfigError> {
    if let Some(text) = proxy_url.filter(|text| !text.is_empty()) {
        let origin = || format!("proxy-url of cluster {cluster:?}");
        return parse(text).map(Some).map_err(|problem| ConfigError::Proxy {
            origin: origin(),
            problem,
        });
    }
    let Some((variable, text)) = from_environment(server, environment) else {
        return Ok(None);
    };
    let excluded = first(environment, &["NO_PROXY", "no_proxy"]);
    if is_loopback(server) || excluded.is_some_and(|(_, list)| excludes(list, server)) {
        return Ok(None);
    }
    let text = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    parse(&text)
        .map(Some)
        .map_err(|problem| ConfigError::Proxy {
            origin: variable.to_owned(),
            problem,
        })
}

/// The variable that is for the server's scheme. `HTTP_PROXY` is not for `https`.
fn from_environment<'a>(
    server: &Uri,
    environment: &'a Environment,
) -> Option<(&'static str, &'a str)> {
    if server.scheme_str() == Some("https") {
        return first(environment, &["HTTPS_PROXY", "https_proxy"]);
    }
    // In a CGI script HTTP_PROXY is the client's `Proxy` header.
    if environment.raw("REQUEST_METHOD").is_some() {
        return None;
    }
    first(environment, &["HTTP_PROXY", "http_proxy"])
}

fn first<'a>(
    environment: &'a Environment,
    names: &[&'static str],
) -> Option<(&'static str, &'a str)> {
    names
        .iter()
        .find_map(|name| Some((*name, environment.text(name)?)))
}

/// The problem never repeats the text: it may hold a password.
fn parse(text: &str) -> Result<Uri, String> {
    let uri: Uri = text
        .parse()
        .map_err(|_| "it is no URL such as http://proxy.example:3128".to_owned())?;
    let scheme = match uri.scheme_str() {
        Some("http") => "http",
        Some("https") => "https",
        // The proxy resolves names with either.
        Some("socks5" | "socks5h") => "socks5",
        Some(other) => {
            return Err(format!(
                "its scheme {other:?} is none of http, https and socks5"
            ));
        }
        None => return Err("it has no scheme such as http://".into()),
    };
    if uri.host().is_none_or(str::is_empty) {
        return Err("it names no host".into());
    }
    let mut parts = uri.into_parts();
    parts.scheme = Some(scheme.parse().map_err(|error| format!("{error}"))?);
    Uri::from_parts(parts).map_err(|error| format!("{error}"))
}

/// A proxy elsewhere could not reach this machine's own servers, such as kind's.
fn is_loopback(server: &Uri) -> bool {
    let host = bare_host(server);
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The matching of names, addresses and networks is hyper-util's. Ports, `*.` and
/// brackets, which Go understands and it does not, are dealt with before.
fn excludes(list: &str, server: &Uri) -> bool {
    let port = server
        .port_u16()
        .unwrap_or_else(|| match server.scheme_str() {
            Some("http") => 80,
            _ => 443,
        });
    let entries: Vec<&str> = list
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .filter_map(|entry| without_port(entry, port))
        .map(|entry| {
            entry
                .strip_prefix('*')
                .filter(|rest| rest.starts_with('.'))
                .unwrap_or(entry)
        })
        .collect();
    // Any proxy at all: what counts is whether the list lets the server through.
    let matcher = Matcher::builder()
        .all("http://proxy.invalid")
        .no(entries.join(","))
        .build();
    matcher.intercept(server).is_none()
}

/// The entry without its port; `None` when it is for another port.
fn without_port(entry: &str, port: u16) -> Option<&str> {
    if entry.parse::<IpAddr>().is_ok() || entry.contains('/') {
        return Some(entry);
    }
    let (host, entry_port) = match entry.rsplit_once(':') {
        Some((host, text)) => (host, text.parse::<u16>().ok()),
        None => (entry, Some(port)),
    };
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    (entry_port == Some(port)).then_some(host)
}

fn bare_host(server: &Uri) -> &str {
    let host = server.host().unwrap_or_default();
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(server: &str, variables: &[(&str, &str)]) -> Option<String> {
        let environment = variables
            .iter()
            .fold(Environment::empty(), |environment, (name, value)| {
                environment.with_variable(name, *value)
            });
        resolve(None, "prod", &server.parse().unwrap(), &environment)
            .unwrap()
            .map(|uri| uri.to_string())
    }

    /// KC-22.
    #[test]
    fn a_proxy_url_has_a_scheme_that_is_known() {
        let server: Uri = "https://10.0.0.5".parse().unwrap();
        let given = |text| resolve(Some(text), "prod", &server, &Environment::empty());
        assert_eq!(given("").unwrap(), None);
        for text in ["http://p:3128/", "https://p/", "socks5://p:1080/"] {
            assert_eq!(given(text).unwrap().unwrap(), text);
        }
        let problems: Vec<String> = ["socks6://p", "p:3128", "user@host", "http://a:s3cret @p"]
            .map(|text| given(text).unwrap_err().to_string())
            .into();
        insta::assert_snapshot!(problems.join("\n"), @r#"
        proxy-url of cluster "prod" is no proxy address: its scheme "socks6" is none of http, https and socks5
        proxy-url of cluster "prod" is no proxy address: it has no scheme such as http://
        proxy-url of cluster "prod" is no proxy address: it has no scheme such as http://
        proxy-url of cluster "prod" is no proxy address: it is no URL such as http://proxy.example:3128
        "#);
    }

    #[test]
    fn a_proxy_url_is_not_subject_to_no_proxy() {
        let environment = Environment::empty().with_variable("NO_PROXY", "*");
        let server = "https://10.0.0.5".parse().unwrap();
        let proxy = resolve(Some("http://p"), "prod", &server, &environment).unwrap();
        assert_eq!(proxy.unwrap(), "http://p/");
    }

    #[test]
    fn the_environment_is_read_as_go_reads_it() {
        let https = "https://10.0.0.5:6443";
        assert_eq!(through(https, &[]), None);
        for (variables, expected) in [
            (vec![("HTTPS_PROXY", "http://up")], Some("http://up/")),
            (vec![("https_proxy", "http://low")], Some("http://low/")),
            (
                vec![("HTTPS_PROXY", "http://up"), ("https_proxy", "http://low")],
                Some("http://up/"),
            ),
            (vec![("HTTPS_PROXY", "p:3128")], Some("http://p:3128/")),
            (vec![("HTTPS_PROXY", "socks5h://p")], Some("socks5://p/")),
            (vec![("HTTP_PROXY", "http://p")], None),
        ] {
            assert_eq!(
                through(https, &variables).as_deref(),
                expected,
                "{variables:?}"
            );
        }
        let http = "http://10.0.0.5";
        assert_eq!(
            through(http, &[("HTTP_PROXY", "http://p")]).as_deref(),
            Some("http://p/")
        );
        let cgi = [("HTTP_PROXY", "http://p"), ("REQUEST_METHOD", "GET")];
        assert_eq!(through(http, &cgi), None);
        for local in [
            "https://localhost:1",
            "https://127.0.0.2:1",
            "https://[::1]:1",
        ] {
            assert_eq!(
                through(local, &[("HTTPS_PROXY", "http://p")]),
                None,
                "{local}"
            );
        }
    }

    #[test]
    fn no_proxy_names_servers_and_not_the_proxy() {
        for (list, server, excluded) in [
            ("*", "https://kube.example", true),
            ("kube.example", "https://kube.example:6443", true),
            ("KUBE.example", "https://kube.example", true),
            ("example", "https://kube.example", true),
            (".example", "https://kube.example", true),
            ("*.example", "https://kube.example", true),
            ("be.example", "https://kube.example", false),
            ("p", "https://kube.example", false),
            ("kube.example:6443", "https://kube.example:6443", true),
            ("kube.example:443", "https://kube.example", true),
            ("kube.example:6443", "https://kube.example:443", false),
            ("10.0.0.0/8", "https://10.9.8.7:6443", true),
            ("10.0.0.0/8", "https://11.9.8.7:6443", false),
            ("10.0.0.5", "https://10.0.0.5", true),
            ("10.0.0.5:6443", "https://10.0.0.5", false),
            ("2001:db8::1", "https://[2001:db8::1]:6443", true),
            ("[2001:db8::1]:6443", "https://[2001:db8::1]:6443", true),
            ("[2001:db8::1]:6443", "https://[2001:db8::1]", false),
            (" , a,,kube.example , ", "https://kube.example", true),
            ("", "https://kube.example", false),
        ] {
            let variables = [("HTTPS_PROXY", "http://p"), ("NO_PROXY", list)];
            let proxy = through(server, &variables);
            assert_eq!(proxy.is_none(), excluded, "{list:?} {server}");
        }
    }
}
