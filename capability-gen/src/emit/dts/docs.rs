//! JSDoc comments from untrusted text, sanitized so that it cannot end the comment, add a tag or hide a character.

use crate::hidden::is_hidden;
use crate::model::Docs;

/// Maximum length of a description: one server could fill every prompt otherwise.
const MAX_DESCRIPTION: usize = 4_000;
/// Maximum length of a default, one line of JSON.
const MAX_DEFAULT: usize = 200;
/// Maximum length of a member's constraints, one line.
const MAX_LIMITS: usize = 400;

/// Writes the comment, if there is documentation.
pub(super) fn push(out: &mut String, indent: usize, docs: &Docs) {
    push_with(out, indent, docs, "");
}

/// Like [`push`], with a remark of ours after the source's text.
pub(super) fn push_with(out: &mut String, indent: usize, docs: &Docs, remark: &str) {
    let mut lines = lines(&docs.description, MAX_DESCRIPTION);
    if !docs.limits.is_empty() {
        let limits = line(&docs.limits.join(", "), MAX_LIMITS);
        match lines.as_mut_slice() {
            [] => lines.push(limits),
            [only] => only.push_str(&format!(" ({limits})")),
            _ => lines.extend([String::new(), limits]),
        }
    }
    if !remark.is_empty() {
        lines.push(remark.to_owned());
    }
    let mut tags = Vec::new();
    if let Some(default) = &docs.default {
        tags.push(format!("@default {}", line(&default.to_string(), MAX_DEFAULT)));
    }
    if docs.is_deprecated {
        tags.push("@deprecated".to_owned());
    }
    if lines.len() > 1 && !tags.is_empty() {
        lines.push(String::new());
    }
    lines.append(&mut tags);

    let margin = "  ".repeat(indent);
    match lines.as_slice() {
        [] => {}
        [only] => out.push_str(&format!("{margin}/** {only} */\n")),
        several => {
            out.push_str(&format!("{margin}/**\n"));
            for line in several {
                out.push_str(format!("{margin} * {line}").trim_end());
                out.push('\n');
            }
            out.push_str(&format!("{margin} */\n"));
        }
    }
}

/// Free text as one line.
fn line(text: &str, max: usize) -> String {
    lines(text, max).join(" ")
}

/// Free text as lines of a comment, without leading, trailing or repeated blank lines.
fn lines(text: &str, max: usize) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    let mut visible = text.chars().filter(|character| *character == '\n' || !is_hidden(*character));
    let mut kept: String = visible.by_ref().take(max).collect();
    if visible.next().is_some() {
        kept.push('…');
    }
    let mut lines: Vec<String> = Vec::new();
    for line in kept.split('\n').map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(escaped(line));
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Escapes a line so that it neither ends the comment nor starts a tag such as `@deprecated`, `@ts-ignore` or
/// `{@link …}`. TypeScript recognizes tags in the middle of lines too, after a `*` or a space, so only an email address
/// (`name@place`) keeps its `@`.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut previous = ' ';
    for character in line.chars() {
        let ends_comment = character == '/' && previous == '*';
        let begins_tag = character == '@' && !previous.is_alphanumeric();
        if ends_comment || begins_tag {
            out.push('\\');
        }
        out.push(character);
        previous = character;
    }
    out
}
