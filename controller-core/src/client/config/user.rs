use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use secrecy::{ExposeSecret, SecretString};

use super::{ConfigError, material};

/// Checks the selected user as client-go does, and returns it with its certificate and
/// key read.
///
/// Refused are: two ways to authenticate beside each other, because servers disagree on
/// which counts; impersonated groups without a user; a certificate without its key; data
/// and file for one thing; a credential helper without command, apiVersion or
/// interactiveMode. A token beside a token file is not: the token counts.
pub(super) fn checked(name: &str, mut user: AuthInfo) -> Result<AuthInfo, ConfigError> {
    drop_empty(&mut user);
    let bad = |problem: String| ConfigError::BadUser {
        user: name.to_owned(),
        problem,
    };

    let mut methods = Vec::new();
    if user.token.is_some() {
        methods.push("token");
    }
    if user.username.is_some() || user.password.is_some() {
        methods.push("username and password");
    }
    if user.client_certificate.is_some() || user.client_certificate_data.is_some() {
        methods.push("client certificate");
    }
    if methods.len() > 1 {
        return Err(bad(format!(
            "it has more than one way to authenticate: {}",
            methods.join(", ")
        )));
    }
    if user.username.is_some() && user.password.is_none() {
        // kube ignores a user name alone; Go sends it with an empty password.
        user.password = Some(SecretString::from(String::new()));
    }
    if user.impersonate.is_none()
        && (user.impersonate_uid.is_some()
            || user.impersonate_groups.is_some()
            || user.impersonate_user_extra.is_some())
    {
        return Err(bad(
            "it impersonates a uid, groups or extra fields without a user (`as`)".into(),
        ));
    }
    if let Some(exec) = &mut user.exec {
        if user.auth_provider.is_some() {
            return Err(bad("it has both `exec` and `auth-provider`".into()));
        }
        check_exec(exec).map_err(bad)?;
    }
    identity(name, &mut user)?;
    Ok(user)
}

/// What is sent to a server without TLS: nothing that could be overheard. As client-go.
pub(super) fn over_plain_http(user: AuthInfo) -> AuthInfo {
    AuthInfo {
        impersonate: user.impersonate,
        impersonate_uid: user.impersonate_uid,
        impersonate_groups: user.impersonate_groups,
        impersonate_user_extra: user.impersonate_user_extra,
        ..AuthInfo::default()
    }
}

/// Generated kubeconfigs have fields that are there and empty: they are not set.
fn drop_empty(user: &mut AuthInfo) {
    for field in [
        &mut user.username,
        &mut user.token_file,
        &mut user.client_certificate,
        &mut user.client_certificate_data,
        &mut user.client_key,
        &mut user.impersonate,
        &mut user.impersonate_uid,
    ] {
        field.take_if(|text| text.is_empty());
    }
    for secret in [
        &mut user.password,
        &mut user.token,
        &mut user.client_key_data,
    ] {
        secret.take_if(|secret| secret.expose_secret().is_empty());
    }
    user.impersonate_groups.take_if(|groups| groups.is_empty());
    user.impersonate_user_extra
        .take_if(|extra| extra.is_empty());
}

/// The rules of `client.authentication.k8s.io`; fills in v1beta1's default.
fn check_exec(exec: &mut ExecConfig) -> Result<(), String> {
    if exec.command.as_deref().unwrap_or_default().is_empty() {
        return Err("its `exec` has no command".into());
    }
    let beta = match exec.api_version.as_deref().unwrap_or_default() {
        "client.authentication.k8s.io/v1" => false,
        "client.authentication.k8s.io/v1beta1" => true,
        "" => return Err("its `exec` has no apiVersion".into()),
        other => {
            return Err(format!(
                "its `exec` has apiVersion {other:?}; \
                 client.authentication.k8s.io/v1 and v1beta1 are understood"
            ));
        }
    };
    if exec.interactive_mode.is_none() {
        if !beta {
            return Err("its `exec` has no interactiveMode".into());
        }
        exec.interactive_mode = Some(ExecInteractiveMode::IfAvailable);
    }
    let nameless = exec
        .env
        .iter()
        .flatten()
        .any(|variable| variable.get("name").is_none_or(String::is_empty));
    if nameless {
        return Err("its `exec` sets a variable without a name".into());
    }
    Ok(())
}

/// Reads certificate and key, so that what is wrong with them is told with their names.
fn identity(name: &str, user: &mut AuthInfo) -> Result<(), ConfigError> {
    let owner = format!("user {name:?}");
    let key_data = user
        .client_key_data
        .as_ref()
        .map(|secret| secret.expose_secret().to_owned());
    for (field, data, file) in [
        (
            "client-certificate",
            user.client_certificate_data.is_some(),
            user.client_certificate.is_some(),
        ),
        ("client-key", key_data.is_some(), user.client_key.is_some()),
    ] {
        if data && file {
            let problem = format!("{field}-data is set too");
            return Err(ConfigError::tls(&owner, field, problem));
        }
    }
    let certificate = material::pem(
        user.client_certificate_data.as_deref(),
        user.client_certificate.as_deref(),
    )
    .map_err(|problem| ConfigError::tls(&owner, "client-certificate", problem))?;
    user.client_certificate = None;
    user.client_certificate_data = None;
    let key_file = user.client_key.take();
    user.client_key_data = None;
    let Some(certificate) = certificate else {
        // A key alone is left over from something: no one asks for it.
        return Ok(());
    };
    material::certificates(&certificate)
        .map_err(|problem| ConfigError::tls(&owner, "client-certificate", problem))?;
    let key = material::pem(key_data.as_deref(), key_file.as_deref())
        .and_then(|key| key.ok_or_else(|| "the client certificate needs one".to_owned()))
        .and_then(|key| material::check_key(&key).map(|()| key))
        .map_err(|problem| ConfigError::tls(&owner, "client-key", problem))?;
    user.client_certificate_data = Some(material::encoded(&certificate));
    user.client_key_data = Some(SecretString::from(material::encoded(&key)));
    Ok(())
}
