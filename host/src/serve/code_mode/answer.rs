//! What a run gave, as an agent reads it.

use super::pages::{self, More, PAGE, Page};
use crate::absent::NO_PACKAGES;
use crate::error_report::{Cause, Location, RunError};
use crate::limits::{Limit, SOURCE_LIMIT};
use crate::mcp::SWITCHED_OFF;
use crate::program::Program;
use crate::script::{IMPORT_UNKNOWN, Position, ScriptError, code_frame};
use crate::serve::caller::Client;
use crate::serve::cards::{Card, cut};
use crate::serve::check::{Diagnostic, Diagnostics};
use crate::serve::offer::Offered;
use crate::serve::runs::{Ended, ServedRun};
use crate::space::{NO_FILES, STANDARD_FILES};
use crate::standard::SPECIFIER;
use capability_gen::shown::Shown;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Most lines of a console.
const MAX_LINES: usize = 200;

/// Most characters of an error's message and details beside the text, which has all of it part by part.
const MAX_BESIDE: usize = 2_000;

/// Most modules that a hint names.
const MAX_MODULES: usize = 20;
/// Most characters of an error's name or code.
const MAX_NAME: usize = 128;

/// The answer to a run that is over: this part of it.
pub(super) fn of_ended(run: &ServedRun, ended: &Ended, number: usize) -> Option<CallToolResult> {
    let mut structured = json!({
        "status": if ended.outcome.is_ok() { "done" } else { "failed" },
        "runId": run.id, "usage": ended.usage,
    });
    let text = match &ended.outcome {
        Ok(kept) => {
            structured["value"] = json!(kept.value);
            kept.text.clone()
        }
        Err(error) => {
            let error = advised(error.clone());
            let frame = error.location.as_ref().and_then(|location| run.program.code_frame(location));
            structured["error"] = json!(beside(&error));
            failed(&error, frame)
        }
    };
    let console: Vec<&str> = ended.console.iter().map(|line| line.text.as_str()).take(MAX_LINES).collect();
    let mut text = text + &printed(&console, ended.console.len());
    let warnings = match &ended.outcome {
        Ok(_) => Cow::Borrowed(run.warnings.as_str()),
        Err(error) => without(&run.warnings, &said(error)),
    };
    if !warnings.is_empty() {
        let _ = write!(text, "\n\nwarnings:\n{warnings}");
        structured["warnings"] = json!(cut(&warnings, MAX_BESIDE));
    }
    let Page { text, more } = pages::page(&text, number, PAGE)?;
    // Who reads the structure alone reads the same: all of it, or this part.
    if number == 1 && more.is_none() {
        structured["console"] = json!(console);
    } else {
        structured["value"].take();
        structured["part"] = json!(text);
    }
    let mut shown = text.to_owned();
    if let Some(more) = more {
        let _ = write!(shown, "\n{}", cut_note(&run.id, more));
    }
    let mut content = vec![ContentBlock::text(shown)];
    if let (1, Ok(kept)) = (number, &ended.outcome) {
        content.extend(kept.images.iter().cloned().map(|(data, kind)| ContentBlock::image(data, kind)));
    }
    if let Some(more) = more {
        structured["resume"] = json!(handle(&run.id, more.next));
    }
    let mut result = CallToolResult::success(content);
    result.is_error = Some(ended.outcome.is_err());
    result.structured_content = Some(structured);
    Some(result)
}

/// A program that was refused before it ran.
pub(super) fn of_refused(error: &RunError, frame: Option<String>) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(failed(error, frame))]);
    result.structured_content = Some(json!({ "status": "failed", "error": beside(error) }));
    result
}

/// What is wrong with imports that a program does not use.
pub(super) fn of_imports(program: &Program, seen: &Seen<'_>) -> Diagnostics {
    let warnings = program.warnings().iter().map(|warning| {
        // Of what there is the agent learns what it may see; what would give a module is for the operator.
        let hint = warning.hint.as_ref().filter(|hint| warning.code == IMPORT_UNKNOWN && !seen.names_hidden(hint));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        let file = if warning.file == program.name() { String::new() } else { format!("{}: ", warning.file) };
        // Another file's lines are not the program's.
        let position = warning.position.filter(|_| file.is_empty()).unwrap_or(Position { line: 1, column: 1 });
        Diagnostic::new(position, warning.code, &format!("{file}{}{hint}", warning.message))
    });
    Diagnostics::warnings(warnings)
}

/// A program that uses capabilities wrongly.
pub(super) fn of_misuse(misuse: &Diagnostics, warnings: &Diagnostics, name: &str, code: &str) -> CallToolResult {
    let mut text = format!("The program was not run: it does not fit its declarations.\n{}", misuse.text(name, code));
    let error = RunError::new("script.types", "it does not fit its declarations");
    let mut structured = json!({ "status": "failed", "error": error, "diagnostics": misuse.list });
    if !warnings.is_empty() {
        let warnings = warnings.text(name, code);
        let _ = write!(text, "\nwarnings:\n{warnings}");
        structured["warnings"] = json!(cut(&warnings, MAX_BESIDE));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// The same of a program that cannot run as it is.
pub(super) fn of_script(error: ScriptError, name: &str, code: &str, seen: &Seen<'_>) -> CallToolResult {
    let frame = error.position.filter(|_| error.file == name).map(|position| code_frame(code, position, None));
    let is_withheld = error.specifier.is_some();
    let mut error = RunError::of_script(error);
    match error.code.as_str() {
        // What would give the module is for the operator; what is not up yet concerns the agent.
        "import.denied" if is_withheld => {
            // Nothing that comes up later changes one that is switched off.
            let is_awaited = !error.message.ends_with(SWITCHED_OFF);
            let notes = if is_awaited { seen.offered.notes(seen.client) } else { Vec::new() };
            error.hint = (!notes.is_empty()).then(|| notes.join("; "));
        }
        // Of what there is it learns what it may see.
        "import.unknown" => {
            let is_package = error.hint.as_ref().is_some_and(|hint| hint.starts_with(NO_PACKAGES));
            // The policy may deny all that `fs` does.
            if !seen.has_files() && error.hint.as_ref().is_some_and(|hint| hint.contains(STANDARD_FILES)) {
                error.hint = Some(NO_FILES.into());
            }
            // An agent has no command line.
            let is_for_agents = |hint: &String| !hint.contains("--workspace") && !seen.names_hidden(hint);
            error.hint = match error.hint.filter(is_for_agents).or_else(|| seen.modules()) {
                Some(hint) if is_package && !hint.starts_with(NO_PACKAGES) => Some(format!("{NO_PACKAGES}; {hint}")),
                None if is_package => Some(NO_PACKAGES.to_owned()),
                hint => hint,
            };
        }
        // Nor a configuration.
        SOURCE_LIMIT => error.hint = Some("keep data in workspace files and read them".to_owned()),
        _ => {}
    }
    of_refused(&error, frame)
}

/// What a client may see.
pub(super) struct Seen<'a> {
    pub(super) offered: &'a Offered,
    pub(super) client: &'a Client,
}

impl Seen<'_> {
    /// Whether a text names something that the client may not see.
    fn names_hidden(&self, text: &str) -> bool {
        let is_visible = |card: &Card| self.offered.is_visible(card, self.client.caller());
        let seen: BTreeSet<&str> =
            self.offered.catalogue.cards(is_visible).flat_map(|card| [card.module.as_str(), card.export()]).collect();
        // Modules that nobody accepted are not even in the catalogue.
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '@' | '/' | '_' | '-');
        let mut modules = text.split(|letter| !is_word(letter)).filter(|word| word.starts_with('@'));
        if modules.any(|module| !seen.contains(module)) {
            return true;
        }
        let mut hidden = self.offered.catalogue.cards(|card| !is_visible(card));
        hidden.any(|card| {
            [card.module.as_str(), card.export()].into_iter().any(|it| !seen.contains(it) && text.contains(it))
        })
    }

    /// Whether the client's programs have files.
    fn has_files(&self) -> bool {
        let is_visible = |card: &Card| self.offered.is_visible(card, self.client.caller());
        self.offered.catalogue.cards(is_visible).any(|card| card.module == SPECIFIER && card.export() == "fs")
    }

    fn modules(&self) -> Option<String> {
        let is_visible = |card: &Card| self.offered.is_visible(card, self.client.caller());
        let modules = self.offered.catalogue.modules(is_visible);
        let first: Vec<&str> = modules.into_iter().take(MAX_MODULES).collect();
        (!first.is_empty()).then(|| format!("there are {}; search for others", first.join(", ")))
    }
}

/// What an agent names the next part by.
fn handle(id: &str, number: usize) -> String {
    format!("{id}/{number}")
}

fn cut_note(id: &str, more: More) -> String {
    let More { characters, next } = more;
    format!(
        "[… {characters} more characters: call run_code with {{\"resume\": \"{}\"}}, or return less]",
        handle(id, next)
    )
}

/// An error as it stands beside the text.
fn beside(error: &RunError) -> RunError {
    let mut error = error.clone();
    error.message = cut(&error.message, MAX_BESIDE);
    error.stack = error.stack.map(|stack| cut(&stack, MAX_BESIDE));
    error.causes.iter_mut().for_each(|cause| cause.message = cut(&cause.message, MAX_BESIDE / 16));
    error.details = error.details.filter(|details| details.to_string().len() <= MAX_BESIDE);
    error
}

/// An error as an agent can act on it: what, where, and what to do.
fn failed(error: &RunError, frame: Option<String>) -> String {
    let name = error.name.as_deref().map(|name| format!("{}: ", Shown::line(name, MAX_NAME))).unwrap_or_default();
    let mut text = format!("{name}{} [{}]", error.message, Shown::line(&error.code, MAX_NAME));
    if let Some(function) = error.unnamed_function() {
        let _ = write!(text, " in {function}");
    }
    if let Some(frame) = frame {
        let _ = write!(text, "\n{frame}");
    } else if let Some(location) = &error.location {
        let _ = write!(text, "\n  at {}:{}:{}", location.file, location.line, location.column);
    }
    text.push_str(&own_frames(error));
    for Cause { message, location } in &error.causes {
        let _ = write!(text, "\ncaused by: {message}");
        if let Some(Location { file, line, column }) = location {
            let _ = write!(text, " ({file}:{line}:{column})");
        }
    }
    if let Some(details) = &error.details {
        let _ = write!(text, "\ndetails: {details}");
    }
    if let Some(hint) = &error.hint {
        let _ = write!(text, "\nhint: {hint}");
    }
    text
}

/// What a warning need not say besides an error: its hint, and the name that is not there.
fn said(error: &RunError) -> Vec<String> {
    let is_unknown = error.name.as_deref() == Some("ReferenceError");
    let name = error.message.strip_suffix(" is not defined").filter(|_| is_unknown);
    let unknown = name.map(|name| format!("Cannot find name '{}'", name.trim_matches('\'')));
    error.hint.clone().into_iter().chain(unknown).collect()
}

/// Warnings without those that say something of this.
fn without<'w>(warnings: &'w str, said: &[String]) -> Cow<'w, str> {
    let says = |text: &str| said.iter().any(|it| text.contains(it));
    if !says(warnings) {
        return Cow::Borrowed(warnings);
    }
    let mut rest = String::new();
    let mut is_said = false;
    for line in warnings.split_inclusive('\n') {
        // The lines of a frame belong to what stands before them.
        if !line.starts_with([' ', '>']) {
            is_said = says(line);
        }
        if !is_said {
            rest.push_str(line);
        }
    }
    Cow::Owned(rest)
}

/// Most frames of a stack beside an error's place: those that led there.
const MAX_FRAMES: usize = 8;

/// The frames in the program's own text, where there is more than the one that the place tells.
fn own_frames(error: &RunError) -> String {
    let frames = error.stack.as_deref().unwrap_or_default().lines();
    let own: Vec<&str> = frames.filter(|line| !line.ends_with("(capability)")).collect();
    if own.len() < 2 {
        return String::new();
    }
    let mut text: String = own.iter().take(MAX_FRAMES).map(|line| format!("\n  {}", line.trim())).collect();
    if own.len() > MAX_FRAMES {
        let _ = write!(text, "\n  … {} more frames", own.len() - MAX_FRAMES);
    }
    text
}

/// What was printed, of so many lines.
fn printed(lines: &[&str], all: usize) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(text, "{}{line}", if number == 0 { "\n\nconsole:\n" } else { "\n" });
    }
    if all > lines.len() {
        let _ = write!(text, "\n[… {} more lines]", all - lines.len());
    }
    text
}

/// The error with a hint about what an agent can do: it has no command line.
fn advised(mut error: RunError) -> RunError {
    if let Some(limit) = Limit::from_code(&error.code) {
        error.hint = Some(match limit {
            Limit::Time => format!("{}, or pass a larger `timeout`.", limit.advice()),
            limit => format!("{}.", limit.advice()),
        });
    }
    error
}

#[cfg(test)]
mod tests {
    use super::{advised, failed, said, without};
    use crate::error_report::RunError;
    use crate::limits::Limit;

    #[test]
    fn what_an_error_says_is_no_warning_besides() {
        let other = "program.ts:2:1 TS2304: Cannot find name 'x'.\n> 2 | x\n    | ^\n";
        let same = "program.ts:1:1 TS2591: Cannot find name 'Buffer'. Use bytes.\n> 1 | Buffer\n    | ^\n";
        let error = |name: &str| RunError {
            name: Some("ReferenceError".to_owned()),
            ..RunError::new("script.error", format!("{name} is not defined")).hint("Use bytes.")
        };
        assert_eq!(without(&format!("{same}{other}"), &said(&error("Buffer"))), other);
        assert_eq!(without(other, &said(&error("Buffer"))), other);
        assert_eq!(without(&format!("{same}{other}"), &said(&error("x"))), "");
    }

    #[test]
    fn an_agent_is_told_how_a_program_came_to_fail() {
        let with = |stack: &str| RunError { stack: Some(stack.to_owned()), ..RunError::new("script.error", "no") };
        let one = "    at slack.post (capability)\n    at <anonymous> (program.ts:3:7)";
        assert_eq!(failed(&with(one), None), "no [script.error]");
        let two = "    at check (program.ts:1:9)\n    at <anonymous> (program.ts:3:1)";
        let expected = "no [script.error]\n  at check (program.ts:1:9)\n  at <anonymous> (program.ts:3:1)";
        assert_eq!(failed(&with(two), None), expected);
        let many = "    at f (program.ts:1:9)\n".repeat(20);
        assert!(failed(&with(&many), None).ends_with("\n  … 12 more frames"));
    }

    #[test]
    fn an_agent_is_not_told_of_options_of_a_command() {
        for limit in [Limit::Fuel, Limit::Memory, Limit::Time, Limit::Calls] {
            let told = advised(RunError::new(limit.code(), "").hint(limit.hint())).hint.unwrap();
            assert!(told.starts_with(limit.advice()) && told.ends_with('.') && !told.contains("--"), "{told}");
            assert_eq!(told.contains("`timeout`"), limit == Limit::Time, "{told}");
        }
        let other = RunError::new("script.error", "").hint("did you mean `x`?");
        assert_eq!(advised(other.clone()), other);
    }
}
