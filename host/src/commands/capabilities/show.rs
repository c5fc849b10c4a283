//! `agent-spaces capabilities show`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output as printed};
use agent_spaces::project::{DefinitionBody, DefinitionFile, Output, output};
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
    /// The WIT that an auditor reads
    #[arg(long)]
    wit: bool,

    /// The TypeScript declarations that a script is written against [default]
    #[arg(long)]
    dts: bool,

    /// The specification: every function with its schemas, as JSON
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
        let definition = definitions.iter().find(|definition| is_named(definition, &self.name)).ok_or_else(|| {
            let message = format!("there is no capability `{}`", self.name);
            Failure::new("config.unknown", message, Some("`agent-spaces capabilities list` shows those that there are"))
        })?;
        match &definition.body {
            DefinitionBody::Wit(text) => Ok(text.clone()),
            DefinitionBody::Module(module) => Ok(output(&module.compile()?, self.form.output())),
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

fn is_named(definition: &DefinitionFile, name: &str) -> bool {
    match &definition.body {
        DefinitionBody::Wit(_) => definition.path.file_stem().is_some_and(|stem| stem == name),
        DefinitionBody::Module(module) => {
            let outline = &module.outline;
            let is_module = outline.specifier == name || outline.specifier.rsplit('/').next() == Some(name);
            let of = |interface: &agent_spaces::PackageInterface| {
                [&interface.capability, &interface.export].contains(&&name.to_owned())
            };
            is_module || outline.interfaces.iter().any(of)
        }
    }
}
