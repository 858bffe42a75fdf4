use std::fmt::Display;

/// `1 Deployment`, `2 Deployments`. `one` takes its plural from an `s`.
pub(super) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {one}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_one() {
        let texts = [0, 1, 2, 11].map(|count| counted(count, "Deployment"));
        assert_eq!(
            texts.join(", "),
            "0 Deployments, 1 Deployment, 2 Deployments, 11 Deployments"
        );
    }
}
