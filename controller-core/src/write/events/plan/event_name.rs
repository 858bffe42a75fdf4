use k8s_openapi::jiff::Timestamp;
use uuid::Uuid;

use crate::watch::is_subdomain;

/// Gives each event a name that it shares with no other of this process.
pub(super) struct EventNames {
    /// No two names are made of the same nanosecond.
    last: i128,
    new_uuid: fn() -> Uuid,
}

/// The longest name of an object, apimachinery's `DNS1123SubdomainMaxLength`.
const NAME_LIMIT: usize = 253;

// === impl EventNames ===

impl EventNames {
    /// `new_uuid` makes random ones: a random source is no part of a plan.
    pub(super) fn new(new_uuid: fn() -> Uuid) -> Self {
        Self { last: 0, new_uuid }
    }

    /// `<object>.<nanoseconds in hex>`, or a UUID where that is no name that an object may
    /// have: names of some kinds may hold what those of events may not.
    pub(super) fn name(&mut self, object: &str, time: Timestamp) -> String {
        self.last = time.as_nanosecond().max(self.last + 1);
        let name = format!("{object}.{:x}", self.last);
        if name.len() <= NAME_LIMIT && is_subdomain(&name) {
            name
        } else {
            (self.new_uuid)().to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UUID: Uuid = Uuid::from_u128(0x7a0f_0001_0002_4003_8004_0005_0006_0007);

    fn names() -> EventNames {
        EventNames::new(|| UUID)
    }

    fn time(nanoseconds: i128) -> Timestamp {
        Timestamp::from_nanosecond(nanoseconds).unwrap()
    }

    /// EV-25.
    #[test]
    fn a_name_is_the_objects_and_the_time_or_else_a_uuid() {
        let name = |object: &str| names().name(object, time(0x17a_bcde_f012_3456));
        assert_eq!(name("web"), "web.17abcdef0123456");
        assert_eq!(name("web.example.com"), "web.example.com.17abcdef0123456");
        let longest = "w".repeat(253 - 16);
        assert_eq!(name(&longest).len(), 253);
        // Valid names of objects, but not of events: a ClusterRole, and one that is too long.
        for object in [
            "system:node",
            "Upper",
            "under_score",
            "",
            &format!("{longest}w"),
        ] {
            assert_eq!(name(object), UUID.to_string(), "{object}");
        }
    }

    /// Two events of one object in one nanosecond, as a coarse clock makes them.
    #[test]
    fn one_moment_makes_two_names() {
        let mut names = names();
        let made = [5, 5, 4, 9].map(|nanoseconds| names.name("web", time(nanoseconds)));
        assert_eq!(made, ["web.5", "web.6", "web.7", "web.9"]);
    }

    proptest! {
        #[test]
        fn any_object_makes_a_name_that_the_server_takes(object in "[a-zA-Z0-9:_.-]{0,260}") {
            let name = names().name(&object, time(1_700_000_000_000_000_000));
            prop_assert!(name.len() <= NAME_LIMIT && is_subdomain(&name), "{}", name);
        }
    }
}
