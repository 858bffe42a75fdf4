use crate::server::Server;

/// With ConfigMaps of these names.
pub(super) async fn server(names: &[&str]) -> Server {
    let server = Server::start().await;
    for name in names {
        server.put(name, "1").await;
    }
    server
}
