//! What becomes of what a compiler says: a program is refused for using capabilities wrongly, and for nothing else.
//!
//! What a compiler also says where nothing is known of the modules is the program's own affair. What it no longer says
//! where functions take anything is about their arguments. The rest is about what is done with results: members that they
//! do not have, and promises that nobody waited for, are mistakes; whether they fit types that the program's author made
//! up is not.

use super::awaits;
use super::diagnostic::{Diagnostic, Diagnostics, unknown_name};
use super::message::{Member, NO_PROPERTY_BUT, is_promise};
use super::output::{Readings, Said};
use super::twin::Declared;
use crate::script::{Checkable, Position};
use std::collections::HashSet;

/// Uses of a value that it does not allow: it is no function, no class, no list.
const NOT_USABLE: [u32; 8] = [2349, 2351, 2461, 2488, 2495, 2504, 2548, 2549];

/// Another number of arguments than a function has parameters, which is the author's to know where the function is theirs.
const OTHER_COUNT: [u32; 3] = [2554, 2555, 2794];

/// What to do about a promise whose call stands elsewhere.
const AWAIT: &str = "It is a promise: write `await` before the call that gives it.";

/// Most that is looked at of what is said of one program: for each its place is looked up. Nobody reads hundreds.
const MAX_JUDGED: usize = 500;

/// What was found in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Capabilities that are used wrongly.
    pub misuse: Diagnostics,
    /// Anything else.
    pub warnings: Diagnostics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    LeftOut,
    Warning,
    Misuse,
}

/// Decides about all that was said of a program.
pub(super) fn judge(readings: &Readings<'_>, program: &Checkable, declared: &Declared) -> Findings {
    let code = program.source();
    let places = |all: &[Said<'_>]| all.iter().map(|said| (said.line, said.column)).collect();
    let full: Vec<&Said<'_>> = readings.full.iter().filter(|said| !said.is_left_out()).take(MAX_JUDGED).collect();
    // A member that a program writes, or asks about, is one that it reads elsewhere.
    let members_at = |places: &HashSet<_>| {
        let members = full.iter().filter_map(|said| Some((said.position(code), said.missing_member()?)));
        members.filter(|(position, _)| places.contains(position)).map(|(_, member)| member).collect()
    };
    let judge = Judge {
        program,
        declared,
        bare: places(&readings.bare),
        open: places(&readings.open),
        written: members_at(&program.habits.written),
        asked: members_at(&program.habits.asked),
    };
    let (mut misuse, mut warnings) = (Vec::new(), Vec::new());
    for said in &full {
        match judge.verdict(said) {
            Verdict::LeftOut => {}
            Verdict::Warning => warnings.push(said.diagnostic(code)),
            Verdict::Misuse => {
                let found = judge.misuse(said);
                if !misuse.contains(&found) {
                    misuse.push(found);
                }
            }
        }
    }
    Findings { misuse: misuse.into_iter().collect(), warnings: Diagnostics::warnings(warnings) }
}

struct Judge<'a> {
    program: &'a Checkable,
    declared: &'a Declared,
    bare: HashSet<(usize, usize)>,
    open: HashSet<(usize, usize)>,
    written: HashSet<Member<'a>>,
    asked: HashSet<Member<'a>>,
}

impl Judge<'_> {
    /// What is said of a wrong use. What concerns a promise is told as it is without a compiler.
    fn misuse(&self, said: &Said<'_>) -> Diagnostic {
        let code = self.program.source();
        let is_promise = said.is_of_promise() || said.missing_member().is_some_and(|member| is_promise(member.of));
        if !is_promise {
            let Diagnostic { line, column, code, message } = said.diagnostic(code);
            let message = match self.declared.expected(&message) {
                Some(expected) => format!("{message} {expected}"),
                None => message,
            };
            return Diagnostic::new(Position { line, column }, code, &message);
        }
        let place = said.position(code);
        match self.program.habits.unawaited.iter().find(|taken| taken.place == place || taken.call == place) {
            Some(taken) => awaits::diagnostic(taken),
            None => {
                let Diagnostic { message, code, .. } = said.diagnostic(code);
                Diagnostic::new(place, code, &format!("{message} {AWAIT}"))
            }
        }
    }

    fn verdict(&self, said: &Said<'_>) -> Verdict {
        let place = (said.line, said.column);
        let is_own = self.bare.contains(&place);
        let is_asked_about = |name: &str| self.program.habits.probed.contains(name);
        if said.message.first().and_then(|line| unknown_name(line)).is_some_and(is_asked_about) {
            return Verdict::LeftOut;
        }
        match said.missing_member() {
            Some(member) => self.of_member(said, &member, is_own),
            None if is_own && OTHER_COUNT.contains(&said.number) => Verdict::LeftOut,
            None if is_own => Verdict::Warning,
            None if !self.open.contains(&place) => self.of_argument(said),
            None if said.is_of_promise() || NOT_USABLE.contains(&said.number) => Verdict::Misuse,
            None => Verdict::Warning,
        }
    }

    /// A member that a type does not have.
    fn of_member(&self, said: &Said<'_>, member: &Member<'_>, is_own: bool) -> Verdict {
        let is_added = self.written.contains(member) || self.program.habits.given.contains(member.name);
        // Objects are filled later; of others nothing is known, or it was ruled out by asking what they are.
        let is_open = ["{}", "never", "unknown", "object"].contains(&member.of);
        let is_of_another = said.is_of_union() && (is_own || self.declared.members.contains(member.name));
        if is_added || is_open || is_of_another {
            return Verdict::LeftOut;
        }
        if is_own {
            return Verdict::Warning;
        }
        let is_asked_about = self.asked.contains(member) && !is_promise(member.of);
        // A slip of a name that the program uses nowhere is a slip, whatever stands in for an absent value.
        let is_slip = said.number == NO_PROPERTY_BUT && !said.suggestion().is_some_and(|name| self.reads(name));
        if is_asked_about && !is_slip { Verdict::Warning } else { Verdict::Misuse }
    }

    /// Whether a member of this name occurs in the program.
    fn reads(&self, name: &str) -> bool {
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
        let source = self.program.source();
        source.match_indices(name).any(|(at, _)| {
            let before = source.get(..at).and_then(|text| text.chars().next_back());
            let after = source.get(at + name.len()..).and_then(|text| text.chars().next());
            before.is_some_and(|it| it == '.') && !after.is_some_and(is_name)
        })
    }

    /// What does not fit a function's parameters.
    fn of_argument(&self, said: &Said<'_>) -> Verdict {
        if said.is_widened(self.declared) || said.is_of_absence() {
            return Verdict::LeftOut;
        }
        let lacking = said.lacking();
        let is_filled = || {
            let rest = said.rest(self.program.source());
            let name = rest.split(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '$')).next();
            name.is_some_and(|name| self.program.habits.filled.contains(name))
        };
        if !lacking.is_empty() && (is_filled() || lacking.iter().all(|member| self.written.contains(member))) {
            return Verdict::LeftOut;
        }
        if said.is_of_vague() { Verdict::Warning } else { Verdict::Misuse }
    }
}
