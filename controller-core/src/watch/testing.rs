//! A small kind for the tests of this stage and the next two.

use std::convert::Infallible;

use bytes::Bytes;
use futures::stream;
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use serde::Deserialize;

use super::Object;
use crate::client::{ObjectKey, ResourceType};

pub(crate) const WIDGETS: ResourceType =
    ResourceType::namespaced("example.com", "v1", "widgets", "Widget");

/// A made-up kind with one number in it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Widget {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: String,
    #[serde(default)]
    uid: String,
    resource_version: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Spec {
    size: i64,
}

/// A body of these frames.
pub(crate) fn body<'a>(
    frames: impl IntoIterator<Item = &'a str>,
) -> impl Body<Data = Bytes, Error = Infallible> + Unpin + Send {
    let frames: Vec<_> = frames
        .into_iter()
        .map(|frame| Ok(Frame::data(Bytes::copy_from_slice(frame.as_bytes()))))
        .collect();
    StreamBody::new(stream::iter(frames))
}

// === impl Widget ===

impl Widget {
    pub(crate) fn json(name: &str, resource_version: &str, size: i64) -> serde_json::Value {
        serde_json::json!({
            "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
                         "resourceVersion": resource_version},
            "spec": {"size": size},
        })
    }

    /// `shop/NAME` with uid `uid-NAME`.
    pub(crate) fn new(name: &str, resource_version: &str) -> Self {
        serde_json::from_value(Self::json(name, resource_version, 0)).unwrap()
    }

    pub(crate) fn with_uid(mut self, uid: &str) -> Self {
        uid.clone_into(&mut self.metadata.uid);
        self
    }

    pub(crate) fn with_size(mut self, size: i64) -> Self {
        self.spec.size = size;
        self
    }

    pub(crate) fn size(&self) -> i64 {
        self.spec.size
    }
}

impl Object for Widget {
    fn key(&self) -> ObjectKey {
        ObjectKey::namespaced(&self.metadata.namespace, &self.metadata.name)
    }

    fn uid(&self) -> &str {
        &self.metadata.uid
    }

    fn resource_version(&self) -> &str {
        &self.metadata.resource_version
    }
}
