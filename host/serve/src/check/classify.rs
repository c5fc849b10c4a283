//! Classification of compiler messages: misuse of capabilities, for which a program is refused, or warning.
//!
//! A message that also occurs without any module declarations concerns the program alone. One that disappears when
//! functions accept any arguments is about arguments. The rest is about results: missing members and missing `await`s
//! are misuse; a mismatch with types that the program itself declares is not.

use super::any_params::DeclaredTypes;
use super::diagnostic::{Diagnostic, Diagnostics, unknown_name};
use super::message::{Member, NO_PROPERTY_SUGGESTION, is_promise};
use super::missing_await;
use super::output::{CompilerMessage, ProgramOutput};
use agent_spaces_script::Checkable;
use agent_spaces_types::position::Position;
use std::collections::HashSet;

/// Value used as a function, class or list that it is not.
const NOT_USABLE: [u32; 8] = [2349, 2351, 2461, 2488, 2495, 2504, 2548, 2549];

/// Wrong number of arguments, which is ignored for functions of the program itself.
const OTHER_COUNT: [u32; 3] = [2554, 2555, 2794];

/// Hint for a promise whose call is elsewhere.
const AWAIT: &str = "It is a promise: write `await` before the call that returns it.";

/// Maximum number of messages per program that are classified: each needs a position lookup.
const MAX_CLASSIFIED: usize = 500;

/// Findings in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Misuse of capabilities.
    pub misuse: Diagnostics,
    /// Everything else.
    pub warnings: Diagnostics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    LeftOut,
    Warning,
    Misuse,
}

/// Classifies all messages about a program.
pub(super) fn classify(output: &ProgramOutput<'_>, program: &Checkable, declared: &DeclaredTypes) -> Findings {
    let code = program.source();
    let locations = |all: &[CompilerMessage<'_>]| all.iter().map(|error| (error.line, error.column)).collect();
    let full: Vec<&CompilerMessage<'_>> =
        output.full.iter().filter(|error| !error.is_left_out()).take(MAX_CLASSIFIED).collect();
    // Members that the program writes or tests may be read elsewhere.
    let members_at = |positions: &HashSet<_>| {
        let members = full.iter().filter_map(|error| Some((error.position(code), error.missing_member()?)));
        members.filter(|(position, _)| positions.contains(position)).map(|(_, member)| member).collect()
    };
    let classifier = Classifier {
        program,
        declared,
        bare: locations(&output.bare),
        open: locations(&output.open),
        written: members_at(&program.habits.written),
        asked: members_at(&program.habits.asked),
    };
    let (mut misuse, mut warnings) = (Vec::new(), Vec::new());
    for error in &full {
        match classifier.verdict(error) {
            Verdict::LeftOut => {}
            Verdict::Warning => warnings.push(error.diagnostic(code)),
            Verdict::Misuse => {
                let found = classifier.misuse(error);
                if !misuse.contains(&found) {
                    misuse.push(found);
                }
            }
        }
    }
    Findings { misuse: misuse.into_iter().collect(), warnings: Diagnostics::warnings(warnings) }
}

struct Classifier<'a> {
    program: &'a Checkable,
    declared: &'a DeclaredTypes,
    bare: HashSet<(usize, usize)>,
    open: HashSet<(usize, usize)>,
    written: HashSet<Member<'a>>,
    asked: HashSet<Member<'a>>,
}

impl Classifier<'_> {
    /// Builds the diagnostic of a misuse. A promise gets the same message as without a compiler.
    fn misuse(&self, error: &CompilerMessage<'_>) -> Diagnostic {
        let code = self.program.source();
        let is_promise = error.is_of_promise() || error.missing_member().is_some_and(|member| is_promise(member.of));
        if !is_promise {
            let Diagnostic { line, column, code, message } = error.diagnostic(code);
            let message = match self.declared.expected(&message) {
                Some(expected) => format!("{message} {expected}"),
                None => message,
            };
            return Diagnostic::new(Position { line, column }, code, &message);
        }
        let position = error.position(code);
        match self.program.habits.unawaited.iter().find(|taken| taken.place == position || taken.call == position) {
            Some(taken) => missing_await::diagnostic(taken),
            None => {
                let Diagnostic { message, code, .. } = error.diagnostic(code);
                Diagnostic::new(position, code, &format!("{message} {AWAIT}"))
            }
        }
    }

    fn verdict(&self, error: &CompilerMessage<'_>) -> Verdict {
        let location = (error.line, error.column);
        let is_own = self.bare.contains(&location);
        let is_asked_about = |name: &str| self.program.habits.probed.contains(name);
        if error.message.first().and_then(|line| unknown_name(line)).is_some_and(is_asked_about) {
            return Verdict::LeftOut;
        }
        match error.missing_member() {
            Some(member) => self.of_member(error, &member, is_own),
            None if is_own && OTHER_COUNT.contains(&error.number) => Verdict::LeftOut,
            None if is_own => Verdict::Warning,
            None if !self.open.contains(&location) => self.of_argument(error),
            None if error.is_of_promise() || NOT_USABLE.contains(&error.number) => Verdict::Misuse,
            None => Verdict::Warning,
        }
    }

    /// Classifies a message about a missing member.
    fn of_member(&self, error: &CompilerMessage<'_>, member: &Member<'_>, is_own: bool) -> Verdict {
        let is_added = self.written.contains(member) || self.program.habits.given.contains(member.name);
        // `{}` may be filled later; nothing is known of the others, or a type guard excluded them.
        let is_open = ["{}", "never", "unknown", "object"].contains(&member.of);
        let is_of_another = error.is_of_union() && (is_own || self.declared.members.contains(member.name));
        if is_added || is_open || is_of_another {
            return Verdict::LeftOut;
        }
        if is_own {
            return Verdict::Warning;
        }
        let is_asked_about = self.asked.contains(member) && !is_promise(member.of);
        // A misspelling of a name that the program uses nowhere else is misuse even with a fallback value.
        let is_slip =
            error.number == NO_PROPERTY_SUGGESTION && !error.suggestion().is_some_and(|name| self.reads(name));
        if is_asked_about && !is_slip { Verdict::Warning } else { Verdict::Misuse }
    }

    /// Returns true if the program accesses a member of this name.
    fn reads(&self, name: &str) -> bool {
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
        let source = self.program.source();
        source.match_indices(name).any(|(at, _)| {
            let before = source.get(..at).and_then(|text| text.chars().next_back());
            let after = source.get(at + name.len()..).and_then(|text| text.chars().next());
            before.is_some_and(|it| it == '.') && !after.is_some_and(is_name)
        })
    }

    /// Classifies a message about an argument.
    fn of_argument(&self, error: &CompilerMessage<'_>) -> Verdict {
        if error.is_widened(self.declared) || error.is_of_absence() {
            return Verdict::LeftOut;
        }
        let lacking = error.lacking();
        let is_filled = || {
            let rest = error.rest(self.program.source());
            let name = rest.split(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '$')).next();
            name.is_some_and(|name| self.program.habits.filled.contains(name))
        };
        if !lacking.is_empty() && (is_filled() || lacking.iter().all(|member| self.written.contains(member))) {
            return Verdict::LeftOut;
        }
        if error.is_of_vague() { Verdict::Warning } else { Verdict::Misuse }
    }
}
