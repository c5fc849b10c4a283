//! What the compiler said, and what of it is told.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::folder::{PROGRAM, SETTINGS};
use super::places::place;
use super::process::Ended;
use super::unavailable::Unavailable;
use capability_gen::shown::Shown;

/// Left out, because a program can be right all the same:
/// values that may be absent, where the program is sure that they are there;
const MAY_BE_ABSENT: [u32; 9] = [2531, 2532, 2533, 2721, 2722, 2723, 18047, 18048, 18049];
/// sums with dates, which are numbers when they have to be;
const ARITHMETIC: [u32; 2] = [2362, 2363];
/// modules that are not declared, which were resolved before;
const MODULES: [u32; 6] = [2307, 2732, 2792, 2834, 2835, 2882];
/// and types that are too complex for the compiler, such as those of much data.
const TOO_COMPLEX: [u32; 3] = [2589, 2590, 2799];

/// Advice for another kind of project follows this.
const ADVICE: &str = " Do you need to ";

/// What a compiler said of a program and of everything else.
pub(super) struct Output<'a> {
    program: Vec<Said<'a>>,
    /// The first thing that is not of the program.
    other: Option<Said<'a>>,
    is_success: bool,
    status: &'a str,
}

/// `program.ts(7,13): error TS2551: Property … does not exist`
#[derive(Debug, PartialEq, Eq)]
struct Said<'a> {
    line: usize,
    column: usize,
    number: u32,
    message: Vec<&'a str>,
}

impl<'a> Output<'a> {
    pub(super) fn read(ended: &'a Ended) -> Output<'a> {
        let mut output =
            Output { program: Vec::new(), other: None, is_success: ended.is_success, status: &ended.status };
        let mut is_of_program = false;
        for line in ended.output.lines() {
            // What explains another line is indented, and may quote anything.
            if let Some((file, said)) = Said::read(line).filter(|_| !line.starts_with(' ')) {
                is_of_program = file == PROGRAM;
                match is_of_program {
                    true => output.program.push(said),
                    // What is wrong with other files is not for programs to say.
                    false if file.is_empty() || file == SETTINGS => output.other = output.other.or(Some(said)),
                    false => {}
                }
            } else if is_of_program
                && line.starts_with(' ')
                && let Some(said) = output.program.last_mut()
            {
                said.message.push(line);
            }
        }
        output
    }

    /// What of it is told.
    pub(super) fn diagnostics(self, code: &str) -> Result<Diagnostics, Unavailable> {
        if let Some(other) = &self.other
            && matches!(other.number, 5000..=6999)
        {
            return Err(Unavailable::Unfit(other.text()));
        }
        if !self.is_success && self.program.is_empty() {
            return Err(Unavailable::NoAnswer(self.status.to_owned()));
        }
        let told: Vec<&Said<'_>> = self.program.iter().filter(|said| !said.is_left_out()).collect();
        // It is our parser that decides what is valid. A compiler that stopped there has not looked at the types.
        if told.is_empty() && self.program.iter().any(Said::is_syntax) {
            return Err(Unavailable::Unread);
        }
        Ok(told.into_iter().map(|said| said.diagnostic(code)).collect())
    }
}

impl<'a> Said<'a> {
    /// A line that begins one, and the file that it is about; none where it is about no file.
    fn read(line: &'a str) -> Option<(&'a str, Said<'a>)> {
        let (place, rest) = match line.strip_prefix("error TS") {
            Some(rest) => ("", rest),
            None => line.split_once("): error TS")?,
        };
        let (file, at) = place.split_once('(').unwrap_or_default();
        let (line, column) = at.split_once(',').unwrap_or_default();
        let (number, message) = rest.split_once(": ")?;
        let number = number.parse().ok()?;
        let (line, column) = (line.parse().unwrap_or(0), column.parse().unwrap_or(0));
        Some((file, Said { line, column, number, message: vec![message] }))
    }

    fn is_syntax(&self) -> bool {
        matches!(self.number, 1000..=1999)
    }

    fn is_left_out(&self) -> bool {
        let number = &self.number;
        // The line before the program's first is ours.
        let is_ours = self.line < 2;
        // Whatever has a type that nobody wrote is `any`.
        let is_implicit = matches!(self.number, 7000..=7999);
        // Objects that are filled later.
        let is_filled = self.number == 2339 && self.text().ends_with("does not exist on type '{}'.");
        // Functions without parameters take an empty object.
        let is_empty_object = self.number == 2554 && self.text() == "Expected 0 arguments, but got 1.";
        let lists: [&[u32]; 4] = [&MAY_BE_ABSENT, &ARITHMETIC, &MODULES, &TOO_COMPLEX];
        is_ours
            || is_implicit
            || is_filled
            || is_empty_object
            || self.is_syntax()
            || lists.iter().any(|list| list.contains(number))
    }

    /// The message, of which nothing acts on who reads it.
    fn text(&self) -> String {
        let mut lines = self.message.iter().map(|line| line.split(ADVICE).next().unwrap_or_default());
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            text.push('\n');
            text.push_str(line);
        }
        Shown::text(&text, usize::MAX).into()
    }

    fn diagnostic(&self, code: &str) -> Diagnostic {
        let position = place(code, self.line.saturating_sub(1), self.column);
        Diagnostic::new(position, format!("TS{}", self.number), &self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str, is_success: bool) -> Result<Diagnostics, Unavailable> {
        let ended = Ended { output: output.to_owned(), is_success, status: "exit status 2".to_owned() };
        Output::read(&ended).diagnostics("a\nb\nc")
    }

    fn messages(output: &str) -> Vec<String> {
        let all = read(output, false).unwrap().list;
        all.into_iter().map(|it| format!("{}:{} {} {}", it.line, it.column, it.code, it.message)).collect()
    }

    #[test]
    fn places_numbers_and_explanations_are_read() {
        let said = "program.ts(2,1): error TS2322: Type (a, b): error TS1: c\n  Because.\n\nprogram.ts(4,2): error TS2304: Cannot find name 'process'. Do you need to install type definitions for node?\n";
        assert_eq!(
            messages(said),
            ["1:1 TS2322 Type (a, b): error TS1: c\n  Because.", "3:2 TS2304 Cannot find name 'process'."]
        );
    }

    #[test]
    fn what_says_nothing_of_a_program_is_left_out() {
        let lines = [
            "program.ts(1,1): error TS2300: Ours.",
            "program.ts(2,1): error TS2532: Object is possibly 'undefined'.",
            "program.ts(2,1): error TS7006: Parameter 'a' implicitly has an 'any' type.",
            "program.ts(2,1): error TS2307: Cannot find module '---'.",
            "program.ts(2,1): error TS2590: Expression produces a union type that is too complex to represent.",
            "program.ts(2,1): error TS2339: Property 'x' does not exist on type '{}'.",
        ];
        assert_eq!(messages(&lines.join("\n")), Vec::<String>::new());
        assert_eq!(messages("program.ts(2,1): error TS2339: Property 'x' does not exist on type 'A'.").len(), 1);
        assert_eq!(read("", true), Ok(Diagnostics::default()));
    }

    #[test]
    fn what_a_program_says_in_its_types_is_not_taken_for_a_diagnostic() {
        let said = "program.ts(2,7): error TS2322: Type '\"x\"' is not assignable.\n  Type '\"a(1,1): error TS5000: x\"' is not assignable.\n  ): error TS5000: y\n";
        assert_eq!(read(said, false).unwrap().list.len(), 1);
        assert_eq!(read(&format!("other.ts(1,1): error TS5000: x\n{said}"), false).unwrap().list.len(), 1);
    }

    #[test]
    fn a_compiler_that_gives_no_answer_is_told_from_one_that_finds_nothing() {
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
