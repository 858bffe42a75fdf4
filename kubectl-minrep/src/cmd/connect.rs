use std::panic::resume_unwind;
use std::time::Duration;

use controller_core::client::{ClientOptions, Loaded, Loader, Scope, build, user_agent};
use controller_core::controllers::min_replicas::HpaPolicy;
use tokio::task::spawn_blocking;

use crate::cli::{GlobalArgs, Rule};
use crate::error::{Place, Report, explain_config};
use crate::out::Io;

/// How long a connection may take: longer than any handshake, shorter than the patience
/// of who mistyped an address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client, and what it is connected to.
pub(super) struct Connection {
    pub(super) client: kube::Client,
    pub(super) scope: Scope,
    /// Where objects that were named are, whatever the scope.
    pub(super) namespace: String,
    pub(super) place: Place,
}

/// Finds the configuration and makes a client of it. Nothing is sent yet, but a
/// credential helper may run.
pub(super) async fn connect(
    global: &GlobalArgs,
    rule: &Rule,
    command: &'static str,
    io: &Io,
) -> Result<Connection, Report> {
    for note in &rule.notes {
        io.talk(note);
    }
    let namespace = global.explicit_namespace().map(str::to_owned);
    let typed = namespace.is_some();
    let loader = Loader {
        kubeconfig: global.kubeconfig.clone(),
        context: global.context.clone(),
        namespace,
        ..Loader::new()
    };
    let loaded = loader
        .load()
        .map_err(|error| explain_config(&error, typed))?;
    let mut options = ClientOptions::new(user_agent(
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
    ));
    options.request_timeout = global.deadline();
    options.connect_timeout = CONNECT_TIMEOUT;
    // A credential helper may wait for a person; signals must be heard meanwhile.
    let (client, loaded) = spawn_blocking(move || (build(&loaded, &options), loaded))
        .await
        .unwrap_or_else(|panicked| resume_unwind(panicked.into_panic()));
    let client = client.map_err(|error| explain_config(&error, typed))?;
    let scope = match rule.all_namespaces {
        true => Scope::All,
        false => Scope::Namespace(loaded.namespace.clone()),
    };
    let namespace = loaded.namespace.clone();
    let mut place = place(global, &scope, loaded, command);
    place.raises_min = rule.settings.hpa == HpaPolicy::RaiseMin;
    Ok(Connection {
        client,
        scope,
        namespace,
        place,
    })
}

fn place(global: &GlobalArgs, scope: &Scope, loaded: Loaded, command: &'static str) -> Place {
    Place {
        context: loaded.context,
        cluster: loaded.cluster,
        user: loaded.user,
        server: loaded.server,
        namespace: match scope {
            Scope::All => None,
            Scope::Namespace(namespace) => Some(namespace.clone()),
        },
        kubeconfig: global
            .kubeconfig
            .as_ref()
            .map(|file| file.display().to_string()),
        has_authority: loaded.config.root_cert.is_some(),
        raises_min: false,
        command,
    }
}
