//! Markdown to Slack's own markup (mrkdwn), and long answers in several messages.

/// Characters of one message. Slack shows longer ones cut, and takes 40,000 at most.
const MAX_PIECE: usize = 3_000;

/// Messages of one answer. Whoever wants more reads a file.
const MAX_PIECES: usize = 20;

/// Longest address of a link.
const MAX_URL: usize = 2_000;

/// Escapes what Slack would read as markup: mentions, links, entities.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    text.chars().for_each(|character| push(&mut escaped, character));
    escaped
}

fn push(text: &mut String, character: char) {
    match character {
        '&' => text.push_str("&amp;"),
        '<' => text.push_str("&lt;"),
        '>' => text.push_str("&gt;"),
        other => text.push(other),
    }
}

/// Converts Markdown. Whatever the model writes, nobody is notified by it.
pub(super) fn of_markdown(markdown: &str) -> String {
    let mut lines = Vec::new();
    let mut is_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            // Slack shows the language as code.
            lines.push("```".to_owned());
        } else if is_code {
            lines.push(escape(line));
        } else {
            lines.push(of_line(line));
        }
    }
    if is_code {
        lines.push("```".to_owned());
    }
    lines.join("\n")
}

fn of_line(line: &str) -> String {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    let hashes = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&hashes)
        && let Some(heading) = text.get(hashes..).and_then(|rest| rest.strip_prefix(' '))
    {
        let heading = heading.trim().trim_end_matches('#').replace("**", "");
        return format!("*{}*", inline(heading.trim()));
    }
    if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)) {
        return format!("{indent}• {}", inline(item));
    }
    if let Some(quote) = text.strip_prefix('>') {
        return format!(">{}", inline(quote));
    }
    format!("{indent}{}", inline(text))
}

/// Converts emphasis, code and links within a line.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_italic = false;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        if character == '`'
            && let Some((code, behind)) = after.split_once('`')
        {
            out.push('`');
            out.push_str(&escape(code));
            out.push('`');
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("**").or_else(|| rest.strip_prefix("__")) {
            out.push('*');
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("~~") {
            out.push('~');
            rest = behind;
        } else if character == '*' && is_mark(&out, after, is_italic) {
            out.push('_');
            is_italic = !is_italic;
            rest = after;
        } else if character == '['
            && let Some((label, url, behind)) = link(after)
        {
            out.push_str(&format!("<{url}|{}>", escape(label).replace('|', "/")));
            rest = behind;
        } else {
            push(&mut out, character);
            rest = after;
        }
    }
    out
}

/// Returns true if a star begins or ends emphasis, and is not a sign of multiplication.
fn is_mark(before: &str, after: &str, is_italic: bool) -> bool {
    let is_space = |character: Option<char>| character.is_none_or(char::is_whitespace);
    match is_italic {
        true => !is_space(before.chars().next_back()),
        false => !is_space(after.chars().next()) && after.contains('*'),
    }
}

/// Reads `label](url)` of a link to the web: label, URL and what follows.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, rest) = text.split_once("](")?;
    let (url, behind) = rest.split_once(')')?;
    let is_web = ["https://", "http://", "mailto:"].iter().any(|scheme| url.starts_with(scheme));
    let is_plain = !url.chars().any(|character| character.is_whitespace() || matches!(character, '<' | '>' | '|'));
    (is_web && is_plain && url.len() <= MAX_URL && !label.contains(['[', ']']) && !label.is_empty())
        .then_some((label, url, behind))
}

/// Splits a text at lines, so that each piece fits one message. A block of code that goes on in the next piece is closed
/// and opened again.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let (mut piece, mut length, mut is_code) = (String::new(), 0, false);
    // Room for the marks of a block of code.
    let most = MAX_PIECE - 8;
    for line in text.lines().flat_map(|line| parts(line, most - 8)) {
        let size = line.chars().count() + 1;
        if length + size > most && length > 0 {
            if is_code {
                piece.push_str("\n```");
            }
            pieces.push(std::mem::take(&mut piece));
            length = 0;
            if is_code {
                piece.push_str("```");
                length = 4;
            }
        }
        if !piece.is_empty() {
            piece.push('\n');
        }
        piece.push_str(line);
        length += size;
        is_code ^= line == "```";
    }
    if !piece.trim().is_empty() {
        pieces.push(piece);
    }
    if pieces.len() > MAX_PIECES {
        pieces.truncate(MAX_PIECES - 1);
        pieces.push("_The answer is longer: ask for a shorter one, or for a part of it._".to_owned());
    }
    if pieces.is_empty() {
        pieces.push("_(no text)_".to_owned());
    }
    pieces
}

/// Cuts a line into parts of at most `most` characters.
fn parts(line: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some((at, _)) = rest.char_indices().nth(most) {
        let (head, tail) = rest.split_at(at);
        // At a space, if there is one.
        let cut = head.rfind(' ').filter(|cut| *cut > 0).unwrap_or(head.len());
        parts.push(head.get(..cut).unwrap_or(head));
        rest = if cut < head.len() { rest.get(cut + 1..).unwrap_or(tail) } else { tail };
    }
    parts.push(rest);
    parts
}

/// Turns the text of a message into plain text: without mentions of the bot, and without Slack's entities.
pub(super) fn to_plain(text: &str, bot: &str) -> String {
    let mention = format!("<@{bot}>");
    let text = if bot.is_empty() { text.to_owned() } else { text.replace(&mention, "") };
    // `&` last: `&amp;lt;` is the text `&lt;`.
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{MAX_PIECE, MAX_PIECES, of_markdown, pieces, to_plain};

    #[test]
    fn markdown_becomes_slacks_markup() {
        for (markdown, mrkdwn) in [
            ("# Plan", "*Plan*"),
            ("**bold** and *light* and ~~old~~", "*bold* and _light_ and ~old~"),
            ("- one\n  * two", "• one\n  • two"),
            ("see [the docs](https://a.example/?a=1)", "see <https://a.example/?a=1|the docs>"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("`a < b`", "`a &lt; b`"),
            ("> said", "> said"),
            ("```rust\nlet a = **b;\n```", "```\nlet a = **b;\n```"),
            ("```\nopen", "```\nopen\n```"),
            ("[x](javascript:alert)", "[x](javascript:alert)"),
        ] {
            assert_eq!(of_markdown(markdown), mrkdwn, "{markdown}");
        }
    }

    #[test]
    fn nobody_is_notified_by_an_answer() {
        for text in ["<!channel>", "<@U1>", "# <!here>", "- <@U1>", "`<!everyone>`", "[<!here>](https://a.example)"] {
            let converted = of_markdown(text);
            assert!(!converted.contains("<!") && !converted.contains("<@"), "{converted}");
        }
    }

    #[test]
    fn long_answers_are_split_at_lines_and_code_stays_code() {
        let lines: Vec<String> = (0..200).map(|number| format!("line {number} {}", "x".repeat(40))).collect();
        let text = format!("```\n{}\n```\nend", lines.join("\n"));
        let all = pieces(&text);
        assert!(all.len() > 1);
        for piece in &all {
            assert!(piece.chars().count() <= MAX_PIECE, "{}", piece.chars().count());
            assert_eq!(piece.lines().filter(|line| *line == "```").count() % 2, 0, "{piece}");
        }
        let words = all.join("\n");
        assert!(lines.iter().all(|line| words.contains(line)));
    }

    #[test]
    fn lines_without_an_end_and_floods_are_bounded() {
        assert!(pieces(&"ä".repeat(10_000)).iter().all(|piece| piece.chars().count() <= MAX_PIECE));
        assert_eq!(pieces(&"word ".repeat(100_000)).len(), MAX_PIECES);
        assert_eq!(pieces("").len(), 1);
    }

    #[test]
    fn questions_are_read_as_they_were_written() {
        assert_eq!(to_plain("<@B1> is 1 &lt; 2 &amp;amp; 3?", "B1"), "is 1 < 2 &amp; 3?");
        assert_eq!(to_plain("<@U2> hi", "B1"), "<@U2> hi");
    }
}
