//! Template literal types: strings with a pattern.

use super::{Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use oxc_ast::ast::TSTemplateLiteralType;
use serde_json::{Value, json};

/// Maximum length of a generated pattern; every validation pays for it.
const MAX_PATTERN_BYTES: usize = 1000;

impl<'a> Types<'a, '_, '_> {
    /// The schema of `` `id-${string}` ``: a string with a pattern; any string if a part is unsupported.
    pub(super) fn template(
        &mut self,
        it: &'a TSTemplateLiteralType<'a>,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let at = it.span.start;
        let mut pattern = String::from("^");
        for (index, text) in it.quasis.iter().enumerate() {
            let text = text.value.cooked.as_ref().map_or("", |text| text.as_str());
            self.reader.charge(at, schema::long(text))?;
            pattern.push_str(&escaped(text));
            if let Some(ty) = it.types.get(index) {
                let part = self.schema(ty, scope, depth)?;
                let Some(part) = self.part(&part, at, depth)? else { return Ok(json!({ "type": "string" })) };
                pattern.push_str(&part);
            }
            if pattern.len() >= MAX_PATTERN_BYTES {
                return Ok(json!({ "type": "string" }));
            }
        }
        pattern.push('$');
        Ok(json!({ "type": "string", "pattern": pattern }))
    }

    /// The pattern of a template's placeholder.
    fn part(&mut self, schema: &Value, at: u32, depth: u32) -> Result<Option<String>, Fault> {
        let mut patterns = Vec::new();
        for alternative in self.alternatives(schema, at, depth)? {
            patterns.push(match (alternative.get("const"), alternative.get("type").and_then(Value::as_str)) {
                (Some(Value::String(text)), _) => escaped(text),
                (Some(value @ (Value::Number(_) | Value::Bool(_))), _) => escaped(&value.to_string()),
                (None, Some("string")) => match alternative.get("pattern").and_then(Value::as_str) {
                    Some(whole) => {
                        let inner = whole.strip_prefix('^').unwrap_or(whole);
                        inner.strip_suffix('$').unwrap_or(inner).to_owned()
                    }
                    None => "[\\s\\S]*".to_owned(),
                },
                (None, Some("number")) => "-?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?".to_owned(),
                (None, Some("boolean")) => "(?:true|false)".to_owned(),
                (None, Some("null")) => "null".to_owned(),
                _ => return Ok(None),
            });
        }
        Ok(match patterns.len() {
            1 => patterns.pop(),
            _ => Some(format!("(?:{})", patterns.join("|"))),
        })
    }
}

/// Escapes text for a pattern.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\^$.*+?()[]{}|/".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
