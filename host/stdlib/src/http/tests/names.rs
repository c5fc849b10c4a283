//! Fake resolver.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns one list of addresses after another, and the last one from then on.
pub(super) struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(super) fn always(addresses: &[&str]) -> Names {
        Names::in_turn(&[addresses])
    }

    pub(super) fn in_turn(answers: &[&[&str]]) -> Names {
        let list = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Names { answers: answers.iter().map(list).collect(), asked: AtomicUsize::new(0) }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve(&self, _: Name) -> Resolving {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        let addresses: Vec<_> = self.answers[turn].iter().map(|address| SocketAddr::new(*address, 0)).collect();
        Box::pin(async move {
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}
