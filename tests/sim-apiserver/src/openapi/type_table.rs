//! The types of the built-in kinds, read from `type_table.txt`.

use std::{collections::BTreeMap, sync::LazyLock};

/// What a field, an item of a list or a value of a map is made of, as `type_table.txt` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeName(&'static str);

/// A type name taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    List(TypeName),
    Map(TypeName),
    /// A JSON type and its format, which may be empty.
    Scalar(&'static str, &'static str),
    /// A type with a name of its own.
    Named,
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(super) required: bool,
    pub(crate) kind: TypeName,
    /// Where Protobuf has it; `None` for `apiVersion` and `kind`, which stand in the envelope.
    pub(crate) number: Option<FieldNumber>,
    /// Whether a zero is a value, and not an absent one.
    pub(crate) keeps_zero: bool,
    /// The field by which a strategic merge patch tells a list's items apart.
    pub(super) merge_key: Option<&'static str>,
    pub(super) patch_strategy: Option<&'static str>,
}

/// A field's number in Protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldNumber {
    /// The field whose message holds it, where JSON inlines that message.
    pub(crate) within: Option<u32>,
    pub(crate) number: u32,
}

const TEXT: &str = include_str!("type_table.txt");

static TYPES: LazyLock<BTreeMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let mut types: BTreeMap<&'static str, Vec<Field>> = BTreeMap::new();
    let mut current = "";
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(field) => types.entry(current).or_default().push(Field::parse(field)),
            None => {
                current = line;
                types.entry(current).or_default();
            }
        }
    }
    types
});

/// The type of a built-in kind; `None` for a kind that a test has added, of which nothing is known.
pub(crate) fn type_of(group: &str, version: &str, kind: &str) -> Option<TypeName> {
    let group = match group {
        "" => "core",
        other => other.strip_suffix(".k8s.io").unwrap_or(other),
    };
    let name = format!("{group}.{version}.{kind}");
    TYPES
        .get_key_value(name.as_str())
        .map(|(name, _)| TypeName(name))
}

// === impl TypeName ===

impl TypeName {
    pub(crate) fn text(self) -> &'static str {
        self.0
    }

    pub(crate) fn shape(self) -> Shape {
        if let Some(item) = self.0.strip_prefix("[]") {
            Shape::List(Self(item))
        } else if let Some(value) = self.0.strip_prefix("{}") {
            Shape::Map(Self(value))
        } else if self.0.contains('.') {
            Shape::Named
        } else {
            let (kind, format) = self.0.split_once('/').unwrap_or((self.0, ""));
            Shape::Scalar(kind, format)
        }
    }

    /// The fields of a type with a name; `None` if it has none of its own.
    pub(crate) fn fields(self) -> Option<&'static [Field]> {
        TYPES.get(self.0).map(Vec::as_slice)
    }
}

// === impl Field ===

impl Field {
    /// Whether JSON leaves the field's map or list out when there is nothing in it, as Go's `omitempty` does. An
    /// object without fields is a value, and an empty list of managers a wish: to forget them.
    pub(crate) fn omits_empty(&self) -> bool {
        let collection = matches!(self.kind.shape(), Shape::List(_) | Shape::Map(_));
        collection && !self.required && !self.keeps_zero && self.name != "managedFields"
    }

    /// Whether a strategic merge patch merges the field's list, and does not replace it.
    pub(crate) fn is_merged(&self) -> bool {
        self.has_strategy("merge")
    }

    /// Whether a strategic merge patch replaces the field's object, and does not merge it.
    pub(crate) fn is_replaced(&self) -> bool {
        self.has_strategy("replace")
    }

    /// The field by which a strategic merge patch tells a list's items apart; `None` for plain values.
    pub(crate) fn merge_key(&self) -> Option<&'static str> {
        self.merge_key
    }

    fn has_strategy(&self, wanted: &str) -> bool {
        let strategies = self.patch_strategy.unwrap_or_default();
        strategies.split(',').any(|strategy| strategy == wanted)
    }

    fn parse(line: &'static str) -> Self {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let kind = TypeName(words.next().unwrap_or_default());
        let (mut merge_key, mut patch_strategy) = (None, None);
        let (mut number, mut keeps_zero) = (None, false);
        for word in words {
            match word.split_once('=') {
                Some(("key", key)) => merge_key = Some(key),
                Some(("strategy", strategy)) => patch_strategy = Some(strategy),
                _ => {
                    number = FieldNumber::parse(word.trim_end_matches('*'));
                    keeps_zero = word.ends_with('*');
                }
            }
        }
        Self {
            name: name.trim_end_matches('!'),
            required: name.ends_with('!'),
            kind,
            number,
            keeps_zero,
            merge_key,
            patch_strategy,
        }
    }
}

// === impl FieldNumber ===

impl FieldNumber {
    fn parse(text: &str) -> Option<Self> {
        let (within, number) = match text.split_once('.') {
            Some((within, number)) => (Some(within.parse().ok()?), number),
            None => (None, text),
        };
        let number = number.parse().ok()?;
        Some(Self { within, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Kinds;

    #[test]
    fn every_built_in_kind_has_a_type_with_metadata() {
        for (served, kind) in Kinds::standard().served() {
            let found = type_of(served.group, served.version, kind.kind);
            let found = found.unwrap_or_else(|| panic!("{} has no type", kind.kind));
            let fields = found.fields().expect("fields");
            assert!(fields.iter().any(|field| field.name == "metadata"));
        }
        assert_eq!(type_of("keda.sh", "v1alpha1", "ScaledObject"), None);
    }

    #[test]
    fn every_type_that_a_field_names_has_fields_or_is_known_to_have_none() {
        let mut without = Vec::new();
        for field in TYPES.values().flatten() {
            let mut kind = field.kind;
            while let Shape::List(inner) | Shape::Map(inner) = kind.shape() {
                kind = inner;
            }
            if kind.shape() == Shape::Named && kind.fields().is_none() {
                without.push(kind.text());
            }
        }
        without.sort_unstable();
        without.dedup();
        assert_eq!(
            without,
            [
                "api.resource.Quantity",
                "meta.v1.FieldsV1",
                "meta.v1.MicroTime",
                "meta.v1.Time",
                "util.intstr.IntOrString"
            ]
        );
    }

    #[test]
    fn every_field_has_a_number_of_its_own_but_those_of_the_envelope() {
        for (kind, fields) in &*TYPES {
            let mut seen = Vec::new();
            for field in fields {
                match field.number {
                    Some(number) => {
                        assert!(!seen.contains(&number), "{kind}.{}", field.name);
                        seen.push(number);
                    }
                    None => assert!(["apiVersion", "kind"].contains(&field.name), "{kind}"),
                }
            }
        }
    }

    /// The recursion over types, of every decoder and check, ends because of this.
    #[test]
    fn no_type_holds_itself() {
        fn visit(kind: TypeName, above: &mut Vec<&'static str>) {
            match kind.shape() {
                Shape::List(inner) | Shape::Map(inner) => visit(inner, above),
                Shape::Scalar(..) => {}
                Shape::Named => {
                    assert!(!above.contains(&kind.text()), "{above:?}");
                    above.push(kind.text());
                    for field in kind.fields().unwrap_or_default() {
                        visit(field.kind, above);
                    }
                    above.pop();
                }
            }
        }
        for kind in TYPES.keys() {
            visit(TypeName(kind), &mut Vec::new());
        }
    }

    #[test]
    fn a_field_is_read_with_what_a_patch_does_with_it() {
        let pod_spec = TypeName("core.v1.PodSpec").fields().expect("fields");
        let containers = pod_spec.iter().find(|field| field.name == "containers");
        let containers = containers.expect("containers");
        assert!(containers.required);
        assert_eq!(containers.merge_key, Some("name"));
        assert_eq!(containers.patch_strategy, Some("merge"));
        assert_eq!(
            containers.kind.shape(),
            Shape::List(TypeName("core.v1.Container"))
        );
        let deployment = TypeName("apps.v1.DeploymentSpec").fields().expect("fields");
        let zeros = |name| deployment.iter().find(|field| field.name == name);
        assert!(zeros("replicas").is_some_and(|field| field.keeps_zero));
        assert!(zeros("minReadySeconds").is_some_and(|field| !field.keeps_zero));
        let volume = TypeName("core.v1.Volume").fields().expect("fields");
        let secret = volume.iter().find(|field| field.name == "secret");
        let inlined = FieldNumber {
            within: Some(2),
            number: 6,
        };
        assert_eq!(secret.and_then(|field| field.number), Some(inlined));
    }
}
