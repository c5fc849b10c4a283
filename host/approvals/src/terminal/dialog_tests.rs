use super::super::screen::{Screen, Stop};
use super::{ask, closing_line};
use crate::decision::{Decision, Lasts};
use agent_spaces_types::shown::Shown;
use std::collections::VecDeque;
use std::time::Duration;

/// Fake terminal whose user types these lines, some before the prompt can be read.
struct Typist {
    early: bool,
    lines: VecDeque<&'static str>,
    shown: String,
    discarded: Vec<Duration>,
}

impl Typist {
    fn new(lines: &[&'static str]) -> Typist {
        Typist { early: false, lines: lines.iter().copied().collect(), shown: String::new(), discarded: Vec::new() }
    }
}

impl Screen for Typist {
    fn width(&self) -> usize {
        80
    }

    fn show(&mut self, text: &Shown) -> Result<(), Stop> {
        self.shown.push_str(text);
        Ok(())
    }

    fn discard(&mut self, after: Duration) -> Result<bool, Stop> {
        self.discarded.push(after);
        Ok(std::mem::take(&mut self.early))
    }

    fn line(&mut self) -> Result<String, Stop> {
        self.lines.pop_front().map(str::to_owned).ok_or(Stop::Ended)
    }

    fn close(&mut self, text: &'static str) {
        self.shown.push_str(text);
    }
}

fn answer(line: &'static str) -> Option<Decision> {
    ask(&mut Typist::new(&[line]), &"".into(), Duration::ZERO).ok()
}

#[test]
fn each_key_gives_the_documented_decision() {
    let approve = |lasts| Some(Decision::approve("terminal").lasting(lasts));
    assert_eq!(answer("y"), approve(Lasts::Once));
    assert_eq!(answer(" YES \r"), approve(Lasts::Once));
    assert_eq!(answer("r"), approve(Lasts::Run));
    assert_eq!(answer("a"), approve(Lasts::Arguments));
    assert_eq!(answer("n"), Some(Decision::deny("terminal", None)));
    assert_eq!(answer("n  not on Fridays "), Some(Decision::deny("terminal", Some("not on Fridays".into()))));
}

#[test]
fn invalid_answers_are_asked_again() {
    for line in ["", " ", "yy", "y please", "ja", "always", "run", "q", "\u{1b}[A", "ny", "ｙ"] {
        assert_eq!(answer(line), None, "{line:?}");
        let mut typist = Typist::new(&[line, "y"]);
        assert!(ask(&mut typist, &"".into(), Duration::ZERO).is_ok());
        assert!(typist.shown.ends_with("Please answer y, r, a or n: "), "{}", typist.shown);
        assert_eq!(typist.discarded.len(), 2, "what was pasted with it is not an answer");
    }
}

#[test]
fn keys_typed_too_early_are_ignored() {
    let mut typist = Typist { early: true, ..Typist::new(&["n"]) };
    ask(&mut typist, &"TEXT\n".into(), Duration::from_millis(7)).unwrap();
    assert_eq!(typist.discarded, [Duration::from_millis(7)]);
    assert_eq!(
        typist.shown,
        "\nTEXT\nYour answer (y, r, a or n): Keys typed before this prompt could be read are ignored.\nYour answer (y, r, a or n): "
    );
}

#[test]
fn the_closing_line_matches_the_ending() {
    assert_eq!(closing_line(&Ok(Decision::approve("terminal"))), "Allowed, this once.\n");
    assert_eq!(closing_line(&Ok(Decision::deny("terminal", None).lasting(Lasts::Run))), "Denied.\n");
    assert!(closing_line(&Err(Stop::Expired)).contains("Expired"));
    assert!(matches!(ask(&mut Typist::new(&[]), &"".into(), Duration::ZERO), Err(Stop::Ended)));
}
