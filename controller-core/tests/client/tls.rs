use controller_core::client::{ApiError, ConfigError, TlsFailure, build, fetch};
use rcgen::date_time_ymd;
use serde_json::Value;

use crate::scripted::{list, options};
use crate::server::{Authority, Identity, Server, data, empty_list, load};

/// Lists from a server that shows `identity`, trusting `trusted`.
async fn handshake(identity: &Identity, trusted: &Authority) -> Result<Value, ApiError> {
    let server = Server::https(identity.server(None), empty_list()).await;
    let cluster = format!(
        "server: 'https://{}', certificate-authority-data: {}",
        server.address,
        data(&trusted.pem)
    );
    let (loaded, _directory) = load(&cluster, "token: t");
    let client = build(&loaded, &options()).unwrap();
    fetch(&client, list()).await
}

fn failure(result: Result<Value, ApiError>) -> TlsFailure {
    match result.unwrap_err() {
        ApiError::Tls { server, why } => {
            assert!(server.starts_with("127.0.0.1:"), "{server}");
            why
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_certificate_of_the_clusters_authority_is_trusted() {
    let authority = Authority::new();
    let list = handshake(&authority.issue("127.0.0.1"), &authority).await;
    assert_eq!(list.unwrap(), serde_json::json!({ "items": [] }));
}

/// Also when it has the trusted one's name: a cluster made anew under an old kubeconfig.
#[tokio::test]
async fn an_unknown_issuer_is_named_as_that() {
    let trusted = Authority::named("kubernetes");
    let renewed = Authority::named("kubernetes").issue("127.0.0.1");
    let why = failure(handshake(&renewed, &trusted).await);
    assert_eq!(why, TlsFailure::UnknownIssuer);
    let other = Authority::named("other").issue("127.0.0.1");
    let why = failure(handshake(&other, &trusted).await);
    assert_eq!(why, TlsFailure::UnknownIssuer);
    assert_eq!(
        why.to_string(),
        "its certificate is issued by an unknown authority"
    );
}

#[tokio::test]
async fn a_certificate_for_another_name_says_for_which() {
    let authority = Authority::new();
    let why = failure(handshake(&authority.issue("kube.example"), &authority).await);
    assert_eq!(
        why.to_string(),
        "its certificate is not valid for 127.0.0.1, only for kube.example"
    );
}

#[tokio::test]
async fn an_expired_certificate_says_since_when() {
    let authority = Authority::new();
    let identity = authority.issue_with("127.0.0.1", |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let why = failure(handshake(&identity, &authority).await);
    assert_eq!(
        why.to_string(),
        "its certificate has expired at 2021-01-01T00:00:00Z"
    );
}

#[tokio::test]
async fn a_certificate_from_the_future_is_told_apart() {
    let authority = Authority::new();
    let identity = authority.issue_with("127.0.0.1", |params| {
        params.not_before = date_time_ymd(4000, 1, 1);
        params.not_after = date_time_ymd(4001, 1, 1);
    });
    let why = failure(handshake(&identity, &authority).await);
    assert_eq!(why, TlsFailure::NotYetValid);
}

#[tokio::test]
async fn a_plain_http_port_is_recognised() {
    let server = Server::http(empty_list()).await;
    let cluster = format!("server: 'https://{}'", server.address);
    let (loaded, _directory) = load(&cluster, "token: t");
    let client = build(&loaded, &options()).unwrap();
    assert_eq!(failure(fetch(&client, list()).await), TlsFailure::NotTls);
}

/// Without an authority in the kubeconfig the system's are trusted, and they do not know
/// this server.
#[tokio::test]
async fn without_an_authority_the_system_decides() {
    let server = Server::https(
        Authority::new().issue("127.0.0.1").server(None),
        empty_list(),
    )
    .await;
    let cluster = format!("server: 'https://{}'", server.address);
    let (loaded, _directory) = load(&cluster, "token: t");
    assert_eq!(loaded.config.root_cert, None);
    let client = build(&loaded, &options()).unwrap();
    assert_eq!(
        failure(fetch(&client, list()).await),
        TlsFailure::UnknownIssuer
    );
}

#[tokio::test]
async fn verification_can_be_turned_off_and_the_name_replaced() {
    let authority = Authority::new();
    let identity = authority.issue("kube.example");
    let server = Server::https(identity.server(None), empty_list()).await;
    let address = format!("server: 'https://{}'", server.address);
    let ca = data(&authority.pem);
    for how in [
        "insecure-skip-tls-verify: true".to_owned(),
        format!("tls-server-name: kube.example, certificate-authority-data: {ca}"),
    ] {
        let (loaded, _directory) = load(&format!("{address}, {how}"), "token: t");
        let client = build(&loaded, &options()).unwrap();
        let _: Value = fetch(&client, list()).await.unwrap();
    }
}

/// KC-21.
#[tokio::test]
async fn a_client_certificate_is_shown_and_its_refusal_understood() {
    let authority = Authority::new();
    let identity = authority.issue("127.0.0.1");
    let server = Server::https(identity.server(Some(&authority)), empty_list()).await;
    let cluster = format!(
        "server: 'https://{}', certificate-authority-data: {}",
        server.address,
        data(&authority.pem)
    );
    let user = |identity: &Identity| {
        format!(
            "client-certificate-data: {}, client-key-data: {}",
            data(&identity.certificate),
            data(&identity.key)
        )
    };

    let ana = authority.issue("ana");
    let (loaded, _directory) = load(&cluster, &user(&ana));
    let client = build(&loaded, &options()).unwrap();
    let _: Value = fetch(&client, list()).await.unwrap();

    let renewed = Authority::new().issue("ana");
    let stranger = Authority::named("other").issue("ana");
    for user in [user(&renewed), user(&stranger), "token: t".into()] {
        let (loaded, _directory) = load(&cluster, &user);
        let client = build(&loaded, &options()).unwrap();
        let why = failure(fetch(&client, list()).await);
        assert!(matches!(why, TlsFailure::ClientCertificate(_)), "{why:?}");
    }
}

#[tokio::test]
async fn a_key_that_does_not_fit_its_certificate_is_the_users() {
    let authority = Authority::new();
    let user = format!(
        "client-certificate-data: {}, client-key-data: {}",
        data(&authority.issue("ana").certificate),
        data(&authority.issue("ben").key)
    );
    let (loaded, _directory) = load("server: 'https://127.0.0.1:1'", &user);
    let error = build(&loaded, &options()).err().unwrap();
    let ConfigError::TlsMaterial { owner, field, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((owner.as_str(), *field), (r#"user "ana""#, "client-key"));
}
