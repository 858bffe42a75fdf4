//! Label and field selectors, as the server reads them.
//!
//! This is a parser of its own on purpose. The product has one too, and a product's parser that is judged by
//! itself passes every test.

mod fields;
mod labels;
mod rules;

pub(crate) use fields::FieldSelector;
pub(crate) use labels::LabelSelector;
pub(crate) use rules::{key_problems, value_problem};

use crate::store::Object;

/// Which objects of a kind a list or watch is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    namespace: Option<String>,
    labels: LabelSelector,
    fields: FieldSelector,
}

// === impl Filter ===

impl Filter {
    pub(crate) fn new(
        namespace: Option<String>,
        labels: LabelSelector,
        fields: FieldSelector,
    ) -> Self {
        Self {
            namespace,
            labels,
            fields,
        }
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Whether no selector narrows it (a namespace is no selector).
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|namespace| namespace == object.key.namespace())
            && self.labels.matches(&object.labels)
            && self.fields.matches(object)
    }
}
