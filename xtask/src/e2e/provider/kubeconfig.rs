use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::{Value, json};

/// Reads a kubeconfig and puts `server` into each of its clusters: `https://HOST:PORT`.
///
/// A certificate is valid for loopback, and for whatever else its maker knew of. A host that
/// is neither is asked for the certificate of `localhost`.
pub(super) fn with_server(text: &str, host: &str, port: u16) -> Result<Value, String> {
    let mut config = parse(text)?;
    for cluster in each(&mut config, "clusters", "cluster")? {
        cluster["server"] = json!(format!("https://{host}:{port}"));
        if !is_loopback(host) {
            cluster["tls-server-name"] = json!("localhost");
        }
    }
    Ok(config)
}

/// Reads a kubeconfig and puts `namespace` into each of its contexts.
pub(super) fn with_namespace(text: &str, namespace: &str) -> Result<Value, String> {
    let mut config = parse(text)?;
    for context in each(&mut config, "contexts", "context")? {
        context["namespace"] = json!(namespace);
    }
    Ok(config)
}

/// Writes it for its owner only. JSON is YAML.
pub(super) fn write(path: &Path, config: &Value) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(config.to_string().as_bytes())
}

fn parse(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| format!("not a kubeconfig: {error}"))
}

/// What stands below `key` in each entry of the list `list`.
fn each<'a>(
    config: &'a mut Value,
    list: &str,
    key: &'a str,
) -> Result<impl Iterator<Item = &'a mut Value>, String> {
    let entries = config.get_mut(list).and_then(Value::as_array_mut);
    let entries = entries.ok_or_else(|| format!("a kubeconfig without {list}"))?;
    let inner = entries
        .iter_mut()
        .filter_map(move |entry| entry.get_mut(key));
    Ok(inner.filter(|inner| inner.is_object()))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const K3S: &str = "
apiVersion: v1
kind: Config
clusters:
- name: default
  cluster: {server: 'https://127.0.0.1:6443', certificate-authority-data: QQ==}
contexts:
- name: default
  context: {cluster: default, user: default}
current-context: default
users:
- name: default
  user: {client-key-data: Qg==}
";

    #[test]
    fn the_published_port_takes_the_place_of_the_inner_one() {
        let config = with_server(K3S, "127.0.0.1", 32768).unwrap();
        assert_eq!(
            config["clusters"][0]["cluster"],
            json!({"server": "https://127.0.0.1:32768", "certificate-authority-data": "QQ=="})
        );
        assert_eq!(config["users"][0]["user"]["client-key-data"], "Qg==");
    }

    #[test]
    fn another_host_answers_for_localhost() {
        let config = with_server(K3S, "docker.example", 1).unwrap();
        assert_eq!(
            config["clusters"][0]["cluster"]["tls-server-name"],
            "localhost"
        );
    }

    #[test]
    fn the_namespace_stands_in_the_context() {
        let config = with_namespace(K3S, "mine").unwrap();
        assert_eq!(
            config["contexts"][0]["context"],
            json!({"cluster": "default", "user": "default", "namespace": "mine"})
        );
    }

    #[test]
    fn what_is_no_kubeconfig_is_refused() {
        assert!(with_server("[]", "h", 1).is_err());
        assert!(with_namespace("a: [", "n").is_err());
        assert!(with_namespace("contexts: {}", "n").is_err());
    }

    #[test]
    fn only_the_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        write(&path, &json!({"kind": "Config"})).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            r#"{"kind":"Config"}"#
        );
    }
}
