//! The kubeconfig of a server.

use std::{fs, io, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::SimApiServer;

// === impl SimApiServer ===

impl SimApiServer {
    /// A kubeconfig with the context, cluster and user `sim` and the namespace `default`.
    ///
    /// With [`require_token`](crate::Builder::require_token) the user has the first token, with TLS the cluster
    /// has the authority's certificate.
    #[must_use]
    pub fn kubeconfig(&self) -> String {
        let authority = self
            .authority()
            .map(|pem| format!("    certificate-authority-data: {}\n", STANDARD.encode(pem)))
            .unwrap_or_default();
        let token = self
            .shared
            .tokens
            .read()
            .as_ref()
            .and_then(|tokens| tokens.first().cloned());
        let user = token.map_or_else(
            || " {}".to_owned(),
            |token| format!("\n    token: \"{token}\""),
        );
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: sim\nclusters:\n- name: sim\n  cluster:\n    server: {}\n\
             {authority}contexts:\n- name: sim\n  context:\n    cluster: sim\n    user: sim\n    namespace: default\n\
             users:\n- name: sim\n  user:{user}\n",
            self.url()
        )
    }

    /// Writes [`kubeconfig`](Self::kubeconfig) to a file.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub fn write_kubeconfig(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.kubeconfig())
    }
}
