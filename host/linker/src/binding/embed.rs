//! Encoding of the modules inside a compiled program, as the engine reads it.

use agent_spaces_sandbox::modules::ModuleSource;

const KIND_ENTRY_CALLED: u8 = 0;
const KIND_ENTRY_PLAIN: u8 = 1;
const KIND_SOURCE: u8 = 2;
const KIND_JSON: u8 = 3;
const KIND_BINDINGS: u8 = 4;

/// Encodes `name`, `kind` and `text` of each module, with a length before each text. The script comes
/// first.
pub fn embed<'a>(script: (&str, &str, bool), modules: impl Iterator<Item = (&'a str, &'a ModuleSource)>) -> Vec<u8> {
    let (name, source, call_default) = script;
    let mut bytes = Vec::new();
    let kind = if call_default { KIND_ENTRY_CALLED } else { KIND_ENTRY_PLAIN };
    write(&mut bytes, name, kind, source);
    for (name, module) in modules {
        match module {
            ModuleSource::JavaScript(source) => write(&mut bytes, name, KIND_SOURCE, source),
            ModuleSource::Json(text) => write(&mut bytes, name, KIND_JSON, text),
            ModuleSource::Bindings(bindings) => {
                let lines: Vec<String> =
                    bindings.iter().map(|binding| format!("{}={}", binding.name, binding.interface)).collect();
                write(&mut bytes, name, KIND_BINDINGS, &lines.join("\n"));
            }
        }
    }
    bytes
}

fn write(bytes: &mut Vec<u8>, name: &str, kind: u8, text: &str) {
    write_text(bytes, name);
    bytes.push(kind);
    write_text(bytes, text);
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}
