use std::net::Ipv6Addr;

use http::Uri;

/// Reads a cluster's address as client-go does: kept as it is, with a scheme put before
/// it where it has none. `secure` says which.
///
/// An IPv6 address without brackets is understood: what follows its last colon is the
/// port where the rest is an address too. That reads `::1:6443` as port 6443 of `::1`,
/// as Go does, although the whole is an address as well.
///
/// The error is a fragment that continues "… is no address: ".
pub(super) fn parse(text: &str, secure: bool) -> Result<Uri, String> {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None if secure => ("https", text),
        None => ("http", text),
    };
    if !matches!(scheme, "http" | "https") {
        return Err(format!("its scheme {scheme:?} is neither http nor https"));
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.is_empty() {
        return Err("it names no host".into());
    }
    if authority.contains('@') {
        return Err("it must not hold a user name or password".into());
    }
    let address = format!("{scheme}://{}{path}", bracketed(authority));
    let uri: Uri = address.parse().map_err(|error| format!("{error}"))?;
    let port = uri.authority().and_then(|authority| {
        let (_, port) = authority.as_str().rsplit_once(':')?;
        (!port.ends_with(']')).then_some(port)
    });
    if let Some(port) = port
        && port.parse::<u16>().is_err()
    {
        return Err(format!("its port {port:?} is no number up to 65535"));
    }
    Ok(uri)
}

/// The address as a person knows it, without the slash that `Uri` adds.
pub(super) fn shown(uri: &Uri) -> String {
    let text = uri.to_string();
    text.strip_suffix('/').unwrap_or(&text).to_owned()
}

fn bracketed(authority: &str) -> String {
    if authority.starts_with('[') || authority.matches(':').count() < 2 {
        return authority.to_owned();
    }
    if let Some((host, port)) = authority.rsplit_once(':')
        && host.parse::<Ipv6Addr>().is_ok()
        && port.parse::<u16>().is_ok()
    {
        return format!("[{host}]:{port}");
    }
    if authority.parse::<Ipv6Addr>().is_ok() {
        return format!("[{authority}]");
    }
    authority.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KC-24, C-46.
    #[test]
    fn addresses_are_read_as_by_client_go() {
        for (given, secure, expected) in [
            ("https://10.0.0.5:6443", false, "https://10.0.0.5:6443"),
            (
                "https://h/k8s/clusters/c-1/",
                false,
                "https://h/k8s/clusters/c-1",
            ),
            ("http://localhost:8080/", true, "http://localhost:8080"),
            ("10.0.0.5:6443", true, "https://10.0.0.5:6443"),
            ("10.0.0.5:6443", false, "http://10.0.0.5:6443"),
            ("kube.example", true, "https://kube.example"),
            (" https://h ", true, "https://h"),
            ("https://[::1]:6443", true, "https://[::1]:6443"),
            ("https://::1:6443", true, "https://[::1]:6443"),
            (
                "https://2001:db8::7:8:443/x",
                true,
                "https://[2001:db8::7:8]:443/x",
            ),
            ("https://2001:db8::", true, "https://[2001:db8::]"),
            (
                "https://2001:db8:1:2:3:4:5:6",
                true,
                "https://[2001:db8:1:2:3:4:5:6]",
            ),
        ] {
            assert_eq!(
                parse(given, secure).map(|uri| shown(&uri)),
                Ok(expected.into())
            );
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        let problems: Vec<String> = [
            "",
            "https://",
            "ftp://h",
            "https://h:99999",
            "https://h:abc",
            "https://user:secret@h",
            "https://a b",
        ]
        .iter()
        .map(|text| parse(text, true).unwrap_err())
        .collect();
        insta::assert_snapshot!(problems.join("\n"), @r#"
        it names no host
        it names no host
        its scheme "ftp" is neither http nor https
        its port "99999" is no number up to 65535
        its port "abc" is no number up to 65535
        it must not hold a user name or password
        invalid uri character
        "#);
    }
}
