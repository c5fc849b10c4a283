//! What the compiler said, reading by reading.

use super::diagnostic::{Diagnostic, unknown_name};
use super::folder::SETTINGS;
use super::places;
use super::process::Ended;
use super::readings::Reading;
use super::unavailable::Unavailable;
use crate::absent;
use crate::script::Position;
use capability_gen::shown::Shown;

/// Left out, because a program can be right all the same:
/// sums with dates, which are numbers when they have to be;
const ARITHMETIC: [u32; 2] = [2362, 2363];
/// modules that are not declared, which were resolved before;
const MODULES: [u32; 6] = [2307, 2732, 2792, 2834, 2835, 2882];
/// and types that are too complex for the compiler, such as those of much data.
const TOO_COMPLEX: [u32; 3] = [2589, 2590, 2799];

/// Advice for another kind of project follows this.
const ADVICE: &str = " Do you need to ";

/// What a compiler said of programs and of everything else.
pub(super) struct Output<'a> {
    programs: Vec<Readings<'a>>,
    /// The first thing that is not of a program.
    other: Option<Said<'a>>,
    is_success: bool,
    status: &'a str,
}

/// What it said of one program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Readings<'a> {
    pub(super) bare: Vec<Said<'a>>,
    pub(super) open: Vec<Said<'a>>,
    pub(super) full: Vec<Said<'a>>,
}

/// `program.ts(7,13): error TS2551: Property … does not exist`
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said<'a> {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) number: u32,
    pub(super) message: Vec<&'a str>,
}

impl<'a> Output<'a> {
    /// Reads what was said of so many programs.
    pub(super) fn read(ended: &'a Ended, programs: usize) -> Output<'a> {
        let programs = (0..programs).map(|_| Readings::default()).collect();
        let mut output = Output { programs, other: None, is_success: ended.is_success, status: &ended.status };
        let mut last = None;
        for line in ended.output.lines() {
            // What explains another line is indented, and may quote anything.
            if let Some((file, said)) = Said::read(line).filter(|_| !line.starts_with(' ')) {
                last = Reading::of_file(file);
                match output.reading(last) {
                    Some(reading) => reading.push(said),
                    // What is wrong with other files is not for programs to say.
                    None if file.is_empty() || file == SETTINGS => output.other = output.other.or(Some(said)),
                    None => {}
                }
            } else if line.starts_with(' ')
                && let Some(said) = output.reading(last).and_then(|reading| reading.last_mut())
            {
                said.message.push(line);
            }
        }
        output
    }

    fn reading(&mut self, of: Option<(Reading, usize)>) -> Option<&mut Vec<Said<'a>>> {
        let (reading, program) = of?;
        let readings = self.programs.get_mut(program)?;
        Some(match reading {
            Reading::Bare => &mut readings.bare,
            Reading::Open => &mut readings.open,
            Reading::Full => &mut readings.full,
        })
    }

    /// What it said of each program.
    pub(super) fn programs(self) -> Result<Vec<Readings<'a>>, Unavailable> {
        if let Some(other) = &self.other
            && matches!(other.number, 5000..=6999)
        {
            return Err(Unavailable::Unfit(other.text()));
        }
        let all = || self.programs.iter().flat_map(|it| it.bare.iter().chain(&it.open).chain(&it.full));
        if !self.is_success && all().next().is_none() {
            return Err(Unavailable::NoAnswer(self.status.to_owned()));
        }
        // It is our parser that decides what is valid. A compiler that stopped there has not looked at the types.
        if all().next().is_some() && all().all(Said::is_syntax) {
            return Err(Unavailable::Unread);
        }
        Ok(self.programs)
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

    /// Whether it says nothing of any program.
    pub(super) fn is_left_out(&self) -> bool {
        let number = &self.number;
        // The line before the program's first is ours.
        let is_ours = self.line < 2;
        // Whatever has a type that nobody wrote is `any`.
        let is_implicit = matches!(self.number, 7000..=7999);
        // Functions without parameters take an empty object.
        let is_empty_object = self.number == 2554 && self.text() == "Expected 0 arguments, but got 1.";
        let lists: [&[u32]; 3] = [&ARITHMETIC, &MODULES, &TOO_COMPLEX];
        let is_listed = lists.iter().any(|list| list.contains(number));
        is_ours || is_implicit || is_empty_object || self.is_syntax() || is_listed
    }

    /// The message, of which nothing acts on who reads it.
    pub(super) fn text(&self) -> String {
        let mut lines = self.message.iter().map(|line| line.split(ADVICE).next().unwrap_or_default());
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            text.push('\n');
            text.push_str(line);
        }
        Shown::text(&text, usize::MAX).into()
    }

    /// Where it is in the program.
    pub(super) fn position(&self, code: &str) -> Position {
        places::place(code, self.line.saturating_sub(1), self.column)
    }

    /// The program from there on.
    pub(super) fn rest<'c>(&self, code: &'c str) -> &'c str {
        places::rest(code, self.line.saturating_sub(1), self.column)
    }

    pub(super) fn diagnostic(&self, code: &str) -> Diagnostic {
        let text = self.text();
        Diagnostic::new(self.position(code), format!("TS{}", self.number), absent_name(&text).as_ref().unwrap_or(&text))
    }
}

/// What is said of a name that the sandbox does not have: the same as at the end of a run that uses it.
fn absent_name(message: &str) -> Option<String> {
    if let Some(name) = unknown_name(message) {
        return Some(format!("Cannot find name '{name}'. {}", absent::global(name, absent::Position::Script)?));
    }
    let (name, rest) = message.strip_prefix("Property '")?.split_once("' does not exist on type '")?;
    let (kind, _) = rest.split_once('\'')?;
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
    use super::*;

    #[test]
    fn names_that_the_sandbox_lacks_have_the_hint_of_the_run() {
        let said = |message: &str| read(&format!("program.ts(2,1): error TS2591: {message}"), false).unwrap().remove(0);
        let buffer = said("Cannot find name 'Buffer'. Do you need to install type definitions for node?");
        assert!(buffer.starts_with("1:1 TS2591 Cannot find name 'Buffer'. There is no Buffer here: use"), "{buffer}");
        assert!(said("Cannot find name 'require'. Did you mean 'x'?").contains("Scripts are ES modules"));
        assert!(said("Property 'sign' does not exist on type 'SubtleCrypto'.").contains("crypto.hmac"));
        assert!(said("Property 'process' does not exist on type 'typeof globalThis'.").contains("no process"));
        assert_eq!(said("Cannot find name 'misspelt'."), "1:1 TS2591 Cannot find name 'misspelt'.");
    }

    fn read(output: &str, is_success: bool) -> Result<Vec<String>, Unavailable> {
        let ended = Ended { output: output.to_owned(), is_success, status: "exit status 2".to_owned() };
        let programs = Output::read(&ended, 2).programs()?;
        let told = |readings: &Readings<'_>| {
            let all = readings.full.iter().filter(|said| !said.is_left_out());
            all.map(|said| said.diagnostic("a\nb\nc")).collect::<Vec<_>>()
        };
        let all = programs.iter().flat_map(told);
        Ok(all.map(|it| format!("{}:{} {} {}", it.line, it.column, it.code, it.message)).collect())
    }

    #[test]
    fn places_numbers_and_explanations_are_read() {
        let said = "program-1.ts(4,2): error TS2304: Cannot find name 'thing'. Do you need to install type definitions for node?\nprogram.ts(2,1): error TS2322: Type (a, b): error TS1: c\n  Because.\n\n";
        assert_eq!(
            read(said, false).unwrap(),
            ["1:1 TS2322 Type (a, b): error TS1: c\n  Because.", "3:2 TS2304 Cannot find name 'thing'."]
        );
    }

    #[test]
    fn readings_and_programs_are_kept_apart() {
        let lines = ["bare.ts(2,1)", "bare-1.ts(2,1)", "open.ts(3,1)", "program-1.ts(2,1)", "program-2.ts(2,1)"];
        let said: String = lines.iter().map(|line| format!("{line}: error TS2304: x\n  y\n")).collect();
        let ended = Ended { output: said, is_success: false, status: String::new() };
        let programs = Output::read(&ended, 2).programs().unwrap();
        let counts = programs.iter().map(|it| (it.bare.len(), it.open.len(), it.full.len()));
        assert_eq!(counts.collect::<Vec<_>>(), [(1, 1, 0), (1, 0, 1)]);
        assert_eq!(programs[1].full[0].message, ["x", "  y"]);
    }

    #[test]
    fn what_says_nothing_of_a_program_is_left_out() {
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
    fn what_a_program_says_in_its_types_is_not_taken_for_a_diagnostic() {
        let said = "program.ts(2,7): error TS2322: Type '\"x\"' is not assignable.\n  Type '\"a(1,1): error TS5000: x\"' is not assignable.\n  ): error TS5000: y\n";
        assert_eq!(read(said, false).unwrap().len(), 1);
        assert_eq!(read(&format!("other.ts(1,1): error TS5000: x\n{said}"), false).unwrap().len(), 1);
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
