//! Pending answers and timers of a script, in the order of a recorded run.

use agent_spaces_calls::journal::Delivery;
use std::collections::{BTreeMap, HashMap};

/// Priority queue of pending answers and timers. Each step takes logarithmic time: a script may wait for thousands of
/// calls at once.
#[derive(Debug)]
pub(crate) struct DeliveryOrder {
    /// Places in the recorded order.
    places: HashMap<Delivery, usize>,
    /// By place, then in the order in which the script began to wait: those that were not recorded come last.
    waiting: BTreeMap<(usize, u64), Delivery>,
    /// Number of those that the script ever waited for.
    added: u64,
}

impl DeliveryOrder {
    /// Orders by these recorded deliveries.
    pub(crate) fn new(recorded: &[Delivery]) -> DeliveryOrder {
        let mut places = HashMap::with_capacity(recorded.len());
        for (place, delivery) in recorded.iter().enumerate() {
            // The first time counts.
            places.entry(*delivery).or_insert(place);
        }
        DeliveryOrder { places, waiting: BTreeMap::new(), added: 0 }
    }

    /// Adds an answer or timer that the script waits for.
    pub(crate) fn add(&mut self, delivery: Delivery) {
        let place = self.places.get(&delivery).copied().unwrap_or(usize::MAX);
        self.waiting.insert((place, self.added), delivery);
        self.added += 1;
    }

    /// Takes the next one.
    pub(crate) fn take_next(&mut self) -> Option<Delivery> {
        self.waiting.pop_first().map(|(_, delivery)| delivery)
    }
}

#[cfg(test)]
mod tests {
    use super::DeliveryOrder;
    use agent_spaces_calls::journal::Delivery::{self, Call, Timer};
    use std::time::{Duration, Instant};

    fn taken(order: &mut DeliveryOrder) -> Vec<Delivery> {
        std::iter::from_fn(|| order.take_next()).collect()
    }

    #[test]
    fn recorded_ones_come_in_their_order_and_others_last() {
        let mut order = DeliveryOrder::new(&[Call(2), Timer(1), Call(1), Call(2)]);
        for delivery in [Timer(9), Call(1), Timer(8), Call(2), Timer(1)] {
            order.add(delivery);
        }
        assert_eq!(order.take_next(), Some(Call(2)));
        // One that the script waits for only now is passed over until then.
        order.add(Call(7));
        assert_eq!(taken(&mut order), [Timer(1), Call(1), Timer(9), Timer(8), Call(7)]);
        assert_eq!(order.take_next(), None);
    }

    #[test]
    fn many_at_once_take_time_in_proportion() {
        const COUNT: u64 = 100_000;
        let recorded: Vec<Delivery> = (0..COUNT).rev().map(Call).collect();
        let begun = Instant::now();
        let mut order = DeliveryOrder::new(&recorded);
        (0..COUNT).for_each(|call| order.add(Call(call)));
        for expected in recorded {
            assert_eq!(order.take_next(), Some(expected));
            assert!(begun.elapsed() < Duration::from_secs(30), "each one looks at all others");
        }
    }
}
