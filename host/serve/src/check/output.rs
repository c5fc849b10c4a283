//! Parser of the compiler's output, by program and pass.

use super::diagnostic::{Diagnostic, unknown_name};
use super::folder::TSCONFIG;
use super::message::{Member, missing_member};
use super::passes::Pass;
use super::positions;
use super::process::CompilerRun;
use super::unavailable::Unavailable;
use agent_spaces_script::absent;
use agent_spaces_types::position::Position;
use agent_spaces_types::shown::Shown;

/// Codes that are ignored, because the program can be right: arithmetic with dates;
const ARITHMETIC: [u32; 2] = [2362, 2363];
/// modules without declarations, which were resolved before;
const MODULES: [u32; 6] = [2307, 2732, 2792, 2834, 2835, 2882];
/// types that are too complex for the compiler, such as those of large literals.
const TOO_COMPLEX: [u32; 3] = [2589, 2590, 2799];

/// Start of advice that does not apply here, such as to install type definitions.
const ADVICE: &str = " Do you need to ";

/// Parsed output of the compiler.
pub(super) struct Output<'a> {
    programs: Vec<ProgramOutput<'a>>,
    /// First message that is not about a program.
    other: Option<CompilerMessage<'a>>,
    is_success: bool,
    status: &'a str,
}

/// Messages about one program, by pass.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramOutput<'a> {
    pub(super) bare: Vec<CompilerMessage<'a>>,
    pub(super) open: Vec<CompilerMessage<'a>>,
    pub(super) full: Vec<CompilerMessage<'a>>,
}

/// `program.ts(7,13): error TS2551: Property … does not exist`
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompilerMessage<'a> {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) number: u32,
    pub(super) message: Vec<&'a str>,
}

impl<'a> Output<'a> {
    /// Parses the output for a number of programs.
    pub(super) fn read(run: &'a CompilerRun, programs: usize) -> Output<'a> {
        let programs = (0..programs).map(|_| ProgramOutput::default()).collect();
        let mut output = Output { programs, other: None, is_success: run.is_success, status: &run.status };
        let mut last = None;
        for line in run.output.lines() {
            // Explanations are indented, and may quote anything.
            if let Some((file, error)) = CompilerMessage::read(line).filter(|_| !line.starts_with(' ')) {
                last = Pass::of_file(file);
                match output.messages_of(last) {
                    Some(messages) => messages.push(error),
                    // Messages about declarations are ignored.
                    None if file.is_empty() || file == TSCONFIG => output.other = output.other.or(Some(error)),
                    None => {}
                }
            } else if line.starts_with(' ')
                && let Some(error) = output.messages_of(last).and_then(|messages| messages.last_mut())
            {
                error.message.push(line);
            }
        }
        output
    }

    fn messages_of(&mut self, of: Option<(Pass, usize)>) -> Option<&mut Vec<CompilerMessage<'a>>> {
        let (pass, program) = of?;
        let output = self.programs.get_mut(program)?;
        Some(match pass {
            Pass::Bare => &mut output.bare,
            Pass::Open => &mut output.open,
            Pass::Full => &mut output.full,
        })
    }

    /// Returns the messages of each program, or the reason why there are none.
    pub(super) fn programs(self) -> Result<Vec<ProgramOutput<'a>>, Unavailable> {
        if let Some(other) = &self.other
            && matches!(other.number, 5000..=6999)
        {
            return Err(Unavailable::Unfit(other.text()));
        }
        let all = || self.programs.iter().flat_map(|it| it.bare.iter().chain(&it.open).chain(&it.full));
        if !self.is_success && all().next().is_none() {
            return Err(Unavailable::NoAnswer(self.status.to_owned()));
        }
        // Our parser accepted the program. A compiler that stopped at its syntax has not checked the types.
        if all().next().is_some() && all().all(CompilerMessage::is_syntax) {
            return Err(Unavailable::Unread);
        }
        Ok(self.programs)
    }
}

impl<'a> CompilerMessage<'a> {
    /// Parses the first line of a message. Returns its file, empty if it has none.
    fn read(line: &'a str) -> Option<(&'a str, CompilerMessage<'a>)> {
        let (place, rest) = match line.strip_prefix("error TS") {
            Some(rest) => ("", rest),
            None => line.split_once("): error TS")?,
        };
        let (file, at) = place.split_once('(').unwrap_or_default();
        let (line, column) = at.split_once(',').unwrap_or_default();
        let (number, message) = rest.split_once(": ")?;
        let number = number.parse().ok()?;
        let (line, column) = (line.parse().unwrap_or(0), column.parse().unwrap_or(0));
        Some((file, CompilerMessage { line, column, number, message: vec![message] }))
    }

    fn is_syntax(&self) -> bool {
        matches!(self.number, 1000..=1999)
    }

    /// Returns true if the message is ignored.
    pub(super) fn is_left_out(&self) -> bool {
        let number = &self.number;
        // The line before the program's first is generated.
        let is_ours = self.line < 2;
        // Implicit `any` is allowed.
        let is_implicit = matches!(self.number, 7000..=7999);
        // Functions without parameters accept an empty object.
        let is_empty_object = self.number == 2554 && self.text() == "Expected 0 arguments, but got 1.";
        let lists: [&[u32]; 3] = [&ARITHMETIC, &MODULES, &TOO_COMPLEX];
        let is_listed = lists.iter().any(|list| list.contains(number));
        is_ours || is_implicit || is_empty_object || self.is_syntax() || is_listed
    }

    /// Returns the message, safe to display and without advice.
    pub(super) fn text(&self) -> String {
        let mut lines = self.message.iter().map(|line| line.split(ADVICE).next().unwrap_or_default());
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            text.push('\n');
            text.push_str(line);
        }
        Shown::text(&text, usize::MAX).into()
    }

    /// Returns its position in the program.
    pub(super) fn position(&self, code: &str) -> Position {
        positions::position(code, self.line.saturating_sub(1), self.column)
    }

    /// Returns the program text from its position on.
    pub(super) fn rest<'c>(&self, code: &'c str) -> &'c str {
        positions::rest(code, self.line.saturating_sub(1), self.column)
    }

    pub(super) fn diagnostic(&self, code: &str) -> Diagnostic {
        let text = self.text();
        Diagnostic::new(self.position(code), format!("TS{}", self.number), absent_name(&text).as_ref().unwrap_or(&text))
    }
}

/// Returns the message for a name that the sandbox lacks, with the same hint as the runtime error.
fn absent_name(message: &str) -> Option<String> {
    if let Some(name) = unknown_name(message) {
        return Some(format!("Cannot find name '{name}'. {}", absent::global(name, absent::Position::Script)?));
    }
    let Member { name, of: kind } = missing_member(message.lines().next()?)?;
    let instead = match kind {
        "SubtleCrypto" => absent::subtle_method(name)?,
        "typeof globalThis" => absent::global(name, absent::Position::Script)?.to_owned(),
        "typeof Intl" => absent::intl_member(name)?.to_owned(),
        _ => return None,
    };
    Some(format!("Property '{name}' does not exist on type '{kind}'. {instead}"))
}

#[cfg(test)]
mod tests {
    use crate::check::output::*;

    #[test]
    fn names_that_the_sandbox_lacks_have_the_hint_of_the_runtime_error() {
        let said = |message: &str| read(&format!("program.ts(2,1): error TS2591: {message}"), false).unwrap().remove(0);
        let buffer = said("Cannot find name 'Buffer'. Do you need to install type definitions for node?");
        assert!(buffer.starts_with("1:1 TS2591 Cannot find name 'Buffer'. There is no Buffer here: use"), "{buffer}");
        assert!(said("Cannot find name 'require'. Did you mean 'x'?").contains("Scripts are ES modules"));
        assert!(said("Property 'sign' does not exist on type 'SubtleCrypto'.").contains("crypto.hmac"));
        assert!(said("Property 'process' does not exist on type 'typeof globalThis'.").contains("no process"));
        assert_eq!(said("Cannot find name 'misspelt'."), "1:1 TS2591 Cannot find name 'misspelt'.");
    }

    fn read(output: &str, is_success: bool) -> Result<Vec<String>, Unavailable> {
        let run = CompilerRun { output: output.to_owned(), is_success, status: "exit status 2".to_owned() };
        let programs = Output::read(&run, 2).programs()?;
        let diagnostics = |output: &ProgramOutput<'_>| {
            let all = output.full.iter().filter(|said| !said.is_left_out());
            all.map(|said| said.diagnostic("a\nb\nc")).collect::<Vec<_>>()
        };
        let all = programs.iter().flat_map(diagnostics);
        Ok(all.map(|it| format!("{}:{} {} {}", it.line, it.column, it.code, it.message)).collect())
    }

    #[test]
    fn positions_codes_and_explanations_are_parsed() {
        let said = "program-1.ts(4,2): error TS2304: Cannot find name 'thing'. Do you need to install type definitions for node?\nprogram.ts(2,1): error TS2322: Type (a, b): error TS1: c\n  Because.\n\n";
        assert_eq!(
            read(said, false).unwrap(),
            ["1:1 TS2322 Type (a, b): error TS1: c\n  Because.", "3:2 TS2304 Cannot find name 'thing'."]
        );
    }

    #[test]
    fn passes_and_programs_are_separate() {
        let lines = ["bare.ts(2,1)", "bare-1.ts(2,1)", "open.ts(3,1)", "program-1.ts(2,1)", "program-2.ts(2,1)"];
        let said: String = lines.iter().map(|line| format!("{line}: error TS2304: x\n  y\n")).collect();
        let run = CompilerRun { output: said, is_success: false, status: String::new() };
        let programs = Output::read(&run, 2).programs().unwrap();
        let counts = programs.iter().map(|it| (it.bare.len(), it.open.len(), it.full.len()));
        assert_eq!(counts.collect::<Vec<_>>(), [(1, 1, 0), (1, 0, 1)]);
        assert_eq!(programs[1].full[0].message, ["x", "  y"]);
    }

    #[test]
    fn ignored_codes_are_left_out() {
        let lines = [
            "program.ts(1,1): error TS2300: Ours.",
            "program.ts(2,1): error TS7006: Parameter 'a' implicitly has an 'any' type.",
            "program.ts(2,1): error TS2307: Cannot find module '---'.",
            "program.ts(2,1): error TS2590: Expression produces a union type that is too complex to represent.",
        ];
        assert_eq!(read(&lines.join("\n"), false), Ok(Vec::new()));
        assert_eq!(read("program.ts(2,1): error TS2339: Property 'x'.", false).unwrap().len(), 1);
        assert_eq!(read("", true), Ok(Vec::new()));
    }

    #[test]
    fn quoted_text_in_types_is_not_parsed_as_a_message() {
        let said = "program.ts(2,7): error TS2322: Type '\"x\"' is not assignable.\n  Type '\"a(1,1): error TS5000: x\"' is not assignable.\n  ): error TS5000: y\n";
        assert_eq!(read(said, false).unwrap().len(), 1);
        assert_eq!(read(&format!("other.ts(1,1): error TS5000: x\n{said}"), false).unwrap().len(), 1);
    }

    #[test]
    fn a_compiler_failure_differs_from_a_clean_result() {
        let option = "error TS5023: Unknown compiler option 'libReplacement'.\n";
        let unfit = Unavailable::Unfit("Unknown compiler option 'libReplacement'.".to_owned());
        assert_eq!(read(option, false), Err(unfit.clone()));
        assert_eq!(read(&format!("tsconfig.json(1,2): {option}"), false), Err(unfit));
        let silent = Err(Unavailable::NoAnswer("exit status 2".to_owned()));
        assert_eq!(read("panic: out of memory\n", false), silent);
        assert_eq!(read("error TS2318: Cannot find global type 'Array'.\n", false), silent);
        assert_eq!(read("program.ts(2,1): error TS1005: ';' expected.", false), Err(Unavailable::Unread));
    }
}
