//! `agent-spaces capabilities show`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output as printed};
use agent_spaces::Code;
use agent_spaces::project::{DefinitionBody, DefinitionFile, Output, hand_written_declarations, output};
use capability_gen::emit::wit::with_dependencies;
use capability_gen::names::{camel, nearest};
use clap::Args;

/// Show what a capability compiles to.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities show trainSchedule
  agent-spaces capabilities show @capabilities/mcp-slack --wit
  agent-spaces capabilities show weather --schema | jq .capabilities[0].functions")]
pub(super) struct Show {
    /// The capability or its module
    name: String,

    #[command(flatten)]
    sources: Sources,

    #[command(flatten)]
    form: Form,
}

#[derive(Args)]
#[group(multiple = false)]
struct Form {
    /// WIT, for auditing
    #[arg(long)]
    wit: bool,

    /// TypeScript declarations, for writing scripts [default]
    #[arg(long)]
    dts: bool,

    /// Specification: every function with its schemas, as JSON
    #[arg(long)]
    schema: bool,

    /// Typed Rust for hosts that call it
    #[arg(long)]
    rust: bool,
}

impl Show {
    pub(super) fn execute(self) -> u8 {
        match self.show() {
            Ok(text) => printed::print_document(&text),
            Err(failure) => failure.show(),
        }
    }

    fn show(&self) -> Result<String, Failure> {
        let engine = folders::engine(true)?;
        let (_, definitions) = self.sources.load(&engine)?;
        let definition =
            definitions.iter().find(|definition| names(definition).contains(&self.name)).ok_or_else(|| {
                let names: Vec<String> = definitions.iter().flat_map(names).collect();
                let near = nearest(&self.name, names.iter().map(String::as_str))
                    .map(|near| format!("; did you mean `{near}`?"));
                let message = format!("there is no capability `{}`{}", self.name, near.unwrap_or_default());
                Failure::new(
                    Code::ConfigUnknown,
                    message,
                    Some("run `agent-spaces capabilities list` to see all of them"),
                )
            })?;
        match &definition.body {
            DefinitionBody::Wit(text) => self.hand_written(definition, text),
            DefinitionBody::Module(module) => Ok(output(&definition.described(module)?, self.form.output())),
        }
    }

    /// Output for hand-written WIT.
    fn hand_written(&self, definition: &DefinitionFile, text: &str) -> Result<String, Failure> {
        let file = definition.path.display().to_string();
        match self.form.output() {
            Output::Declarations => Ok(hand_written_declarations(&file, text)?),
            Output::Wit => Ok(with_dependencies(text)),
            Output::Schema | Output::Rust => {
                let message = format!("`{}` is hand-written WIT, which has no schemas", self.name);
                Err(Failure::new(Code::ConfigUnknown, message, Some("use --wit or --dts, or `wit-bindgen` for Rust")))
            }
        }
    }
}

impl Form {
    fn output(&self) -> Output {
        match self {
            Form { wit: true, .. } => Output::Wit,
            Form { schema: true, .. } => Output::Schema,
            Form { rust: true, .. } => Output::Rust,
            _ => Output::Declarations,
        }
    }
}

/// Returns all names that select a definition.
fn names(definition: &DefinitionFile) -> Vec<String> {
    match &definition.body {
        DefinitionBody::Wit(_) => {
            let file = definition.path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
            let modules = definition.modules().unwrap_or_default();
            let short = modules.iter().filter_map(|module| module.rsplit('/').next()).map(str::to_owned);
            let interfaces = definition.interfaces().unwrap_or_default();
            let interfaces = interfaces.iter().filter_map(|interface| {
                let interface = interface.split('@').next().and_then(|path| path.rsplit('/').next())?;
                Some([interface.to_owned(), camel(interface)])
            });
            let names = file.into_iter().chain(short.collect::<Vec<_>>()).chain(interfaces.flatten());
            names.chain(modules.iter().cloned()).collect()
        }
        DefinitionBody::Module(module) => {
            let outline = &module.outline;
            let interfaces = outline.interfaces.iter();
            let of = interfaces.flat_map(|interface| [interface.capability.as_str(), interface.export.as_str()]);
            let module = outline.specifier.rsplit('/').next().into_iter().chain([outline.specifier.as_str()]);
            module.chain(of).map(str::to_owned).collect()
        }
    }
}
