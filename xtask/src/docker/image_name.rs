use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// An image's name and tag, such as `rancher/k3s` and `v1.36.4-k3s1`. A digest is a part of
/// the tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageName {
    name: String,
    tag: String,
}

// === impl ImageName ===

impl ImageName {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }
}

impl FromStr for ImageName {
    type Err = Infallible;

    /// Reads `NAME[:TAG]`; without a tag it is `latest`. The Engine judges the rest.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        // Before the last `/` a colon is a registry's port.
        let last = text.rfind('/').map_or(0, |at| at + 1);
        let (name, tag) = match text[last..].find(':') {
            Some(at) => (&text[..last + at], &text[last + at + 1..]),
            None => (text, "latest"),
        };
        Ok(Self {
            name: name.to_owned(),
            tag: tag.to_owned(),
        })
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_tag_it_is_the_latest() {
        for (text, name, tag) in [
            ("minrep-control-plane", "minrep-control-plane", "latest"),
            ("rancher/k3s:v1.36.4-k3s1", "rancher/k3s", "v1.36.4-k3s1"),
            ("localhost:5000/k3s", "localhost:5000/k3s", "latest"),
            ("localhost:5000/k3s:a", "localhost:5000/k3s", "a"),
            (
                "kindest/node:v1.36.4@sha256:0a",
                "kindest/node",
                "v1.36.4@sha256:0a",
            ),
            ("kindest/node@sha256:0a", "kindest/node@sha256", "0a"),
        ] {
            let Ok(image) = text.parse::<ImageName>();
            assert_eq!((image.name(), image.tag()), (name, tag), "{text}");
        }
    }
}
