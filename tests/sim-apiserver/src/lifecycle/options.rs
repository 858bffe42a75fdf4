//! What a write says beside its body.

/// Options that every write has.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    /// Do everything but store.
    pub(crate) dry_run: bool,
    /// Who writes, for `managedFields`.
    pub(crate) manager: String,
    /// In which version, for `managedFields`.
    pub(crate) api_version: String,
}
