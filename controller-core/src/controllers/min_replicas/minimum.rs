use std::fmt;

use super::deployment::Deployment;
use super::settings::Settings;

/// Annotation: the minimum of this Deployment alone, a whole number from `"1"` to
/// [`Settings::max_min`].
pub const MIN: &str = "minrep.dev/min";

/// How much of a rejected value is shown: an annotation may be 256 KiB long.
const SHOWN: usize = 40;

/// The minimum that holds for one Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimum {
    /// The number of replicas below which it is raised.
    pub replicas: i32,
    /// What its annotation says instead, if that is no minimum.
    pub rejected: Option<RejectedMin>,
}

/// An annotation [`MIN`] that was not understood: the default applies, and somebody
/// should hear of it, for the Deployment is not kept where its owner thinks it is.
///
/// ```
/// use controller_core::controllers::min_replicas::RejectedMin;
///
/// let rejected = RejectedMin { value: "3.0".into(), max: 100, applied: 2 };
/// assert_eq!(
///     rejected.to_string(),
///     "annotation minrep.dev/min is \"3.0\", which is no whole number from 1 to 100: \
///      the minimum of 2 applies",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedMin {
    /// What the annotation holds, cut if it is long.
    pub value: String,
    /// The highest minimum that an annotation may ask for.
    pub max: i32,
    /// The minimum that applies instead.
    pub applied: i32,
}

/// The minimum of this Deployment: its annotation's, or else the default.
///
/// The annotation counts either way, above the default or below. It is read strictly: the
/// digits of a number and nothing else. ` 3`, `+3`, `03` and `3.0` may all mean 3, and a
/// number that decides how much runs is not to be guessed at.
pub fn minimum(deployment: &Deployment, settings: &Settings) -> Minimum {
    let Some(text) = deployment.annotation(MIN) else {
        return Minimum {
            replicas: settings.min,
            rejected: None,
        };
    };
    match parsed(text).filter(|min| (1..=settings.max_min).contains(min)) {
        Some(replicas) => Minimum {
            replicas,
            rejected: None,
        },
        None => Minimum {
            replicas: settings.min,
            rejected: Some(RejectedMin {
                value: shown(text),
                max: settings.max_min,
                applied: settings.min,
            }),
        },
    }
}

fn parsed(text: &str) -> Option<i32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !text.starts_with('0'))
        .then(|| text.parse().ok())
        .flatten()
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

// === impl RejectedMin ===

impl fmt::Display for RejectedMin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "annotation {MIN} is {:?}, which is no whole number from 1 to {}: \
             the minimum of {} applies",
            self.value, self.max, self.applied
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn annotated(value: &str) -> Deployment {
        serde_json::from_value(json!({
            "metadata": {
                "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7",
                "annotations": {MIN: value},
            },
        }))
        .unwrap()
    }

    fn minimum_of(value: &str) -> Minimum {
        minimum(&annotated(value), &Settings::default())
    }

    #[test]
    fn an_annotation_overrides_the_default_either_way() {
        for (value, replicas) in [("1", 1), ("2", 2), ("3", 3), ("100", 100)] {
            let expected = Minimum {
                replicas,
                rejected: None,
            };
            assert_eq!(minimum_of(value), expected);
        }
    }

    #[test]
    fn whatever_else_it_says_the_default_applies_and_is_told() {
        let values = [
            "",
            "0",
            "-1",
            "101",
            "2147483648",
            "99999999999999999999",
            "3.0",
            " 3",
            "3 ",
            "+3",
            "03",
            "0x3",
            "3e0",
            "three",
            "٣",
            "true",
            "3\n",
        ];
        for value in values {
            let found = minimum_of(value);
            assert_eq!(found.replicas, 2, "{value:?}");
            assert_eq!(found.rejected.unwrap().value, value);
        }
        insta::assert_snapshot!(
            minimum_of("3.0").rejected.unwrap(),
            @r#"annotation minrep.dev/min is "3.0", which is no whole number from 1 to 100: the minimum of 2 applies"#
        );
    }

    #[test]
    fn the_highest_is_a_setting_and_does_not_bind_the_default() {
        let settings = Settings {
            min: 7,
            max_min: 5,
            ..Settings::default()
        };
        assert_eq!(minimum(&annotated("5"), &settings).replicas, 5);
        let beyond = minimum(&annotated("6"), &settings);
        assert_eq!((beyond.replicas, beyond.rejected.unwrap().max), (7, 5));
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let rejected = minimum_of(&"あ".repeat(1000)).rejected.unwrap();
        assert_eq!(rejected.value.chars().count(), SHOWN + 1);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_minimum_within_bounds(text in any::<String>()) {
            let found = minimum_of(&text);
            prop_assert!((1..=100).contains(&found.replicas));
            if found.rejected.is_none() {
                prop_assert_eq!(found.replicas.to_string(), text);
            }
        }
    }
}
