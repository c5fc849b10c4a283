//! Result of a run as an agent reads it.

use crate::cards::{Card, cut};
use crate::check::{Diagnostic, Diagnostics};
use crate::pages::{self, More, PAGE, Page};
use crate::runs::Ended;
use crate::served_space::ServedSpace;
use agent_spaces_http_server::Client;
use agent_spaces_sandbox::program::Program;
use agent_spaces_script::absent::NO_PACKAGES;
use agent_spaces_script::code_frame;
use agent_spaces_space::space::NO_FILES;
use agent_spaces_types::code::Code;
use agent_spaces_types::limits::{Limit, SOURCE_LIMIT};
use agent_spaces_types::position::Position;
use agent_spaces_types::run_error::{Cause, Location, RunError};
use agent_spaces_types::script_error::{IMPORT_UNKNOWN, ImportFault, ScriptError};
use agent_spaces_types::shown::Shown;
use agent_spaces_types::standard::SPECIFIER;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum number of console lines.
const MAX_LINES: usize = 200;

/// Maximum length of an error's message and details in the structured content. The text has all of it, page by page.
const MAX_STRUCTURED: usize = 2_000;

/// Maximum number of modules in a hint.
const MAX_MODULES: usize = 20;
/// Maximum length of an error's name or code.
const MAX_NAME: usize = 128;

/// Facts about an ended run beside its result.
pub(super) struct EndedRun<'a> {
    pub(super) id: &'a str,
    /// Warnings of the type checker.
    pub(super) warnings: &'a str,
    /// Its program, for code frames.
    pub(super) program: Option<&'a Program>,
}

/// Builds a page of the result of an ended run. Returns `None` if there is no such page.
pub(super) fn of_ended(run: &EndedRun<'_>, ended: &Ended, number: usize) -> Option<CallToolResult> {
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
            let error = with_agent_hint(error.clone());
            let frame = error.location.as_ref().and_then(|location| run.program?.code_frame(location));
            structured["error"] = json!(structured_error(&error));
            error_text(&error, frame)
        }
    };
    let console: Vec<&str> = ended.console.iter().map(|line| line.text.as_str()).take(MAX_LINES).collect();
    let mut text = text + &printed(&console, ended.console.len());
    let warnings = match &ended.outcome {
        Ok(_) => Cow::Borrowed(run.warnings),
        Err(error) => without_repeats(run.warnings, &repeated_in(error)),
    };
    if !warnings.is_empty() {
        let _ = write!(text, "\n\nwarnings:\n{warnings}");
        structured["warnings"] = json!(cut(&warnings, MAX_STRUCTURED));
    }
    let Page { text, more } = pages::page(&text, number, PAGE)?;
    // Clients that read only the structured content get the same: all of it, or this page.
    if number == 1 && more.is_none() {
        structured["console"] = json!(console);
    } else {
        structured["value"].take();
        structured["part"] = json!(text);
    }
    let mut shown = text.to_owned();
    if let Some(more) = more {
        let _ = write!(shown, "\n{}", cut_note(run.id, more));
    }
    let mut content = vec![ContentBlock::text(shown)];
    if let (1, Ok(kept)) = (number, &ended.outcome) {
        content.extend(kept.images.iter().cloned().map(|(data, kind)| ContentBlock::image(data, kind)));
    }
    if let Some(more) = more {
        structured["resume"] = json!(handle(run.id, more.next));
    }
    let mut result = CallToolResult::success(content);
    result.is_error = Some(ended.outcome.is_err());
    result.structured_content = Some(structured);
    Some(result)
}

/// Builds the result of a program that was refused before it ran.
pub(super) fn of_refused(error: &RunError, frame: Option<String>) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_text(error, frame))]);
    result.structured_content = Some(json!({ "status": "failed", "error": structured_error(error) }));
    result
}

/// Returns the warnings about unused imports.
pub(super) fn of_imports(program: &Program, visibility: &Visibility<'_>) -> Diagnostics {
    let warnings = program.warnings().iter().map(|warning| {
        // Hints must not name hidden modules; how to enable a module is for the operator.
        let hint =
            warning.hint.as_ref().filter(|hint| warning.code == IMPORT_UNKNOWN && !visibility.names_hidden(hint));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        let file = if warning.file == program.name() { String::new() } else { format!("{}: ", warning.file) };
        // Lines of another file are not lines of the program.
        let position = warning.position.filter(|_| file.is_empty()).unwrap_or(Position { line: 1, column: 1 });
        Diagnostic::new(position, warning.code, &format!("{file}{}{hint}", warning.message))
    });
    Diagnostics::warnings(warnings)
}

/// Builds the result of a program that misuses capabilities.
pub(super) fn of_type_errors(misuse: &Diagnostics, warnings: &Diagnostics, name: &str, code: &str) -> CallToolResult {
    let mut text = format!("The program was not run: it has type errors.\n{}", misuse.text(name, code));
    let error = RunError::new(Code::ScriptTypes, "the program has type errors");
    let mut structured = json!({ "status": "failed", "error": error, "diagnostics": misuse.list });
    if !warnings.is_empty() {
        let warnings = warnings.text(name, code);
        let _ = write!(text, "\nwarnings:\n{warnings}");
        structured["warnings"] = json!(cut(&warnings, MAX_STRUCTURED));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// Builds the result of a program that could not be prepared.
pub(super) fn of_script_error(
    error: ScriptError,
    name: &str,
    code: &str,
    visibility: &Visibility<'_>,
) -> CallToolResult {
    let frame = error.position.filter(|_| error.file == name).map(|position| code_frame(code, position, None));
    let (is_withheld, fault) = (error.specifier.is_some(), error.import_fault);
    let mut error = RunError::of_script(error);
    match Code::parse(&error.code) {
        // The agent cannot enable the module, so it is told only of servers that are not up yet.
        Some(Code::ImportDenied) if is_withheld => {
            // A module that is switched off does not depend on pending servers.
            let is_awaited = fault != Some(ImportFault::SwitchedOff);
            let notes = if is_awaited { visibility.served.notes(visibility.client) } else { Vec::new() };
            error.hint = (!notes.is_empty()).then(|| notes.join("; "));
        }
        // Hints name only visible modules.
        Some(Code::ImportUnknown) => {
            // The policy may deny all of `fs`.
            if !visibility.has_files() && fault == Some(ImportFault::NodeFs) {
                error.hint = Some(NO_FILES.into());
            }
            // An agent has no command line.
            let is_for_agents =
                |hint: &String| fault != Some(ImportFault::NoWorkspace) && !visibility.names_hidden(hint);
            error.hint = error.hint.filter(is_for_agents).or_else(|| match (fault, visibility.modules()) {
                (Some(ImportFault::Package), Some(modules)) => Some(format!("{NO_PACKAGES}; {modules}")),
                (Some(ImportFault::Package), None) => Some(NO_PACKAGES.to_owned()),
                (_, modules) => modules,
            });
        }
        // An agent cannot change the configuration either.
        Some(SOURCE_LIMIT) => error.hint = Some("keep data in workspace files and read them".to_owned()),
        _ => {}
    }
    of_refused(&error, frame)
}

/// Functions that a client may see.
pub(super) struct Visibility<'a> {
    pub(super) served: &'a ServedSpace,
    pub(super) client: &'a Client,
}

impl Visibility<'_> {
    /// Returns true if a text names a module or export that is hidden from the client.
    fn names_hidden(&self, text: &str) -> bool {
        let is_visible = |card: &Card| self.served.is_visible(card, self.client.caller());
        let seen: BTreeSet<&str> =
            self.served.catalogue.cards(is_visible).flat_map(|card| [card.module.as_str(), card.export()]).collect();
        // Modules that were not accepted are not in the catalogue.
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '@' | '/' | '_' | '-');
        let mut modules = text.split(|letter| !is_word(letter)).filter(|word| word.starts_with('@'));
        if modules.any(|module| !seen.contains(module)) {
            return true;
        }
        let mut hidden = self.served.catalogue.cards(|card| !is_visible(card));
        hidden.any(|card| {
            [card.module.as_str(), card.export()].into_iter().any(|it| !seen.contains(it) && text.contains(it))
        })
    }

    /// Returns true if the client's programs have files.
    fn has_files(&self) -> bool {
        let is_visible = |card: &Card| self.served.is_visible(card, self.client.caller());
        self.served.catalogue.cards(is_visible).any(|card| card.module == SPECIFIER && card.export() == "fs")
    }

    fn modules(&self) -> Option<String> {
        let is_visible = |card: &Card| self.served.is_visible(card, self.client.caller());
        let modules = self.served.catalogue.modules(is_visible);
        let first: Vec<&str> = modules.into_iter().take(MAX_MODULES).collect();
        (!first.is_empty()).then(|| format!("available modules: {}; search for others", first.join(", ")))
    }
}

/// Returns the `resume` handle of a page.
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

/// Truncates an error for the structured content.
fn structured_error(error: &RunError) -> RunError {
    let mut error = error.clone();
    error.message = cut(&error.message, MAX_STRUCTURED);
    error.stack = error.stack.map(|stack| cut(&stack, MAX_STRUCTURED));
    error.causes.iter_mut().for_each(|cause| cause.message = cut(&cause.message, MAX_STRUCTURED / 16));
    error.details = error.details.filter(|details| details.to_string().len() <= MAX_STRUCTURED);
    error
}

/// Formats an error for an agent: message, position, causes, details and hint.
fn error_text(error: &RunError, frame: Option<String>) -> String {
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

/// Returns the texts of an error that make a warning redundant: its hint, and an undefined name.
fn repeated_in(error: &RunError) -> Vec<String> {
    let is_unknown = error.name.as_deref() == Some("ReferenceError");
    let name = error.message.strip_suffix(" is not defined").filter(|_| is_unknown);
    let unknown = name.map(|name| format!("Cannot find name '{}'", name.trim_matches('\'')));
    error.hint.clone().into_iter().chain(unknown).collect()
}

/// Removes the warnings that contain one of these texts.
fn without_repeats<'w>(warnings: &'w str, said: &[String]) -> Cow<'w, str> {
    let says = |text: &str| said.iter().any(|it| text.contains(it));
    if !says(warnings) {
        return Cow::Borrowed(warnings);
    }
    let mut rest = String::new();
    let mut is_said = false;
    for line in warnings.split_inclusive('\n') {
        // Lines of a code frame belong to the warning before them.
        if !line.starts_with([' ', '>']) {
            is_said = says(line);
        }
        if !is_said {
            rest.push_str(line);
        }
    }
    Cow::Owned(rest)
}

/// Maximum number of stack frames.
const MAX_FRAMES: usize = 8;

/// Returns the stack frames of the program, if there is more than the error's own position.
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

/// Formats the console output.
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

/// Replaces the hint about command-line flags by one for agents.
fn with_agent_hint(mut error: RunError) -> RunError {
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
    use crate::code_mode::run_result::{error_text, repeated_in, with_agent_hint, without_repeats};
    use agent_spaces_types::limits::Limit;
    use agent_spaces_types::run_error::RunError;

    #[test]
    fn warnings_do_not_repeat_the_error() {
        let other = "program.ts:2:1 TS2304: Cannot find name 'x'.\n> 2 | x\n    | ^\n";
        let same = "program.ts:1:1 TS2591: Cannot find name 'Buffer'. Use bytes.\n> 1 | Buffer\n    | ^\n";
        let error = |name: &str| RunError {
            name: Some("ReferenceError".to_owned()),
            ..RunError::new("script.error", format!("{name} is not defined")).hint("Use bytes.")
        };
        assert_eq!(without_repeats(&format!("{same}{other}"), &repeated_in(&error("Buffer"))), other);
        assert_eq!(without_repeats(other, &repeated_in(&error("Buffer"))), other);
        assert_eq!(without_repeats(&format!("{same}{other}"), &repeated_in(&error("x"))), "");
    }

    #[test]
    fn the_error_text_has_the_stack_of_the_program() {
        let with = |stack: &str| RunError { stack: Some(stack.to_owned()), ..RunError::new("script.error", "no") };
        let one = "    at slack.post (capability)\n    at <anonymous> (program.ts:3:7)";
        assert_eq!(error_text(&with(one), None), "no [script.error]");
        let two = "    at check (program.ts:1:9)\n    at <anonymous> (program.ts:3:1)";
        let expected = "no [script.error]\n  at check (program.ts:1:9)\n  at <anonymous> (program.ts:3:1)";
        assert_eq!(error_text(&with(two), None), expected);
        let many = "    at f (program.ts:1:9)\n".repeat(20);
        assert!(error_text(&with(&many), None).ends_with("\n  … 12 more frames"));
    }

    #[test]
    fn hints_for_agents_name_no_command_line_flags() {
        for limit in [Limit::Fuel, Limit::Memory, Limit::Time, Limit::Calls] {
            let hint = with_agent_hint(RunError::new(limit.code(), "").hint(limit.hint())).hint.unwrap();
            assert!(hint.starts_with(limit.advice()) && hint.ends_with('.') && !hint.contains("--"), "{hint}");
            assert_eq!(hint.contains("`timeout`"), limit == Limit::Time, "{hint}");
        }
        let other = RunError::new("script.error", "").hint("did you mean `x`?");
        assert_eq!(with_agent_hint(other.clone()), other);
    }
}
