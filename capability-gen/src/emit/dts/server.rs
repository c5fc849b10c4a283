//! Declarations common to all MCP servers' modules.

use super::docs;
use crate::definition::SourceKind;
use crate::model::{Capability, Docs, Function, Module};
use crate::server::ServerPart;

/// Remark about a tool without an output schema; one line, since it is repeated for each.
pub(super) const RESULT: &str =
    "Returns data, parsed JSON or text; `McpContent[]` if there are images, audio or resources.";

const CONTENT: &str = "  /** A block of what a server sent; `Uint8Array.fromBase64(block.data)` gives the bytes. */
  export type McpContent =
    | { type: 'text'; text: string }
    | { type: 'image' | 'audio'; data: string; mimeType: string }
    | { type: 'resource'; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
    | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string; size?: number };
";

const RESOURCES: &str = "    readonly $resources: {
      /** Each part has `text` or `blob`. */
      read(uri: string): Promise<{ contents: { uri: string; mimeType?: string; text?: string; blob?: Uint8Array }[] }>;
      list(): CapabilityPromise<
        { uri: string; name: string; title?: string; description?: string; mimeType?: string; size?: number }[]
      >;
      /** Families of resources: fill in `uriTemplate` (RFC 6570) and read it. */
      templates(): CapabilityPromise<
        { uriTemplate: string; name: string; title?: string; description?: string; mimeType?: string }[]
      >;
    };
";

const PROMPTS: &str = "    readonly $prompts: {
      list(): CapabilityPromise<{
        name: string; title?: string; description?: string;
        arguments?: { name: string; title?: string; description?: string; required?: boolean }[];
      }[]>;
      get(name: string, args?: Record<string, string>): Promise<{
        description?: string;
        messages: { role: 'user' | 'assistant'; content: McpContent }[];
      }>;
    };
";

/// Returns true if a function has no output schema.
pub(super) fn is_result_unknown(capability: &Capability, function: &Function) -> bool {
    capability.source == SourceKind::Mcp && !function.has_result_schema
}

/// The type `McpContent`, if the module uses it.
pub(super) fn content(module: &Module) -> Option<String> {
    let speaks = |capability: &Capability| {
        let has_prompts = capability.server.iter().any(|of| of.part == ServerPart::Prompts);
        has_prompts || capability.functions.iter().any(|function| is_result_unknown(capability, function))
    };
    module.capabilities.iter().any(speaks).then(|| CONTENT.to_owned())
}

/// Members of the export for the server's resources and prompts.
pub(super) fn members(out: &mut String, capability: &Capability) {
    for of in &capability.server {
        let (description, text) = match of.part {
            ServerPart::Resources => ("What the server offers to be read, each under a URI.", RESOURCES),
            ServerPart::Prompts => ("Prompts that the server has written, to be filled in.", PROMPTS),
        };
        docs::push(out, 2, &Docs { description: description.to_owned(), ..Docs::default() });
        out.push_str(text);
    }
}
