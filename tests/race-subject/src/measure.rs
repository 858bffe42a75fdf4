use tokio::time::Duration;

/// How much is timed at least, all repetitions together.
const ENOUGH: Duration = Duration::from_secs(1);

/// One repetition of a case.
pub(crate) struct Repetition {
    /// In the unit of the case.
    pub(crate) value: f64,
    /// How long the timed part took.
    pub(crate) took: Duration,
}

/// Repeats a case until a second was timed, and returns the median. The first repetition
/// warms caches and allocator up, and does not count.
pub(crate) async fn repeat<E>(
    mut once: impl AsyncFnMut() -> Result<Repetition, E>,
) -> Result<f64, E> {
    once().await?;
    let mut values = Vec::new();
    let mut timed = Duration::ZERO;
    while timed < ENOUGH {
        let repetition = once().await?;
        values.push(repetition.value);
        timed += repetition.took;
    }
    Ok(median(&mut values))
}

// === impl Repetition ===

impl Repetition {
    /// So many operations a second.
    pub(crate) fn rate(operations: u64, took: Duration) -> Self {
        Self {
            value: as_float(operations) / took.as_secs_f64(),
            took,
        }
    }

    /// So many nanoseconds an operation.
    pub(crate) fn cost(operations: u64, took: Duration) -> Self {
        Self {
            value: took.as_secs_f64() * 1e9 / as_float(operations),
            took,
        }
    }
}

/// Exact: no count here comes near 2 to the power of 53.
pub(crate) fn as_float(count: u64) -> f64 {
    count as f64
}

/// At least one value is given.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 30.0]), 3.0);
    }

    #[tokio::test]
    async fn the_first_repetition_does_not_count() {
        let mut values = [9.0, 1.0, 2.0].into_iter();
        let measured = repeat(async || {
            Ok::<_, ()>(Repetition {
                value: values.next().expect("two repetitions of 500 ms are enough"),
                took: Duration::from_millis(500),
            })
        });
        assert_eq!(measured.await, Ok(1.5));
        assert_eq!(values.next(), None);
    }

    #[test]
    fn rates_and_costs_are_a_second_and_nanoseconds() {
        let took = Duration::from_millis(500);
        assert_eq!(Repetition::rate(1_000, took).value, 2_000.0);
        assert_eq!(Repetition::cost(1_000, took).value, 500_000.0);
    }
}
