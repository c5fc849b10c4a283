//! Samples of the specification, verbatim.

use super::{read, refusal};
use crate::definition::{Period, RateLimit, SourceKind};
use serde_json::json;

const TRAIN_SCHEDULE: &str =
    include_str!("../../../../../tests/spec_examples/printed/train-schedule/train-schedule.ts");

const CRM: &str = r#"// capabilities/company-crm.ts
import { defineTool } from '@agent-spaces/capabilities';

export const crm = defineTool({
  name: 'crm',
  description: 'Company CRM system',
  
  functions: {
    searchCustomers: {
      description: 'Search for customers',
      parameters: {
        query: { type: 'string', required: true },
        limit: { type: 'number', default: 10 },
      },
      returns: {} as Customer[],
      handler: async ({ query, limit }) => {
        return await crmApi.search(query, limit);
      },
    },
    
    createTicket: {
      description: 'Create support ticket',
      parameters: {
        customerId: { type: 'string', required: true },
        subject: { type: 'string', required: true },
        priority: { type: 'string', enum: ['low', 'medium', 'high'] },
      },
      returns: {} as Ticket,
      requiresApproval: true,
      approvalMessage: (p) => `Create ${p.priority} ticket for customer ${p.customerId}?`,
      handler: async (params) => {
        return await crmApi.createTicket(params);
      },
    },
  },
});
"#;

const FILE_SYSTEM: &str = r#"export const fileSystem = defineTool({
  name: 'fileSystem',
  functions: {
    readFile: {
      description: 'Read a file',
      requiresApproval: false,  // No approval needed
      // ...
    },
    deleteFile: {
      description: 'Delete a file',
      requiresApproval: true,   // Requires approval
      approvalMessage: (params) => 
        `Delete file: ${params.path}?`,
      // ...
    },
  },
});
"#;

#[test]
fn train_schedule() {
    let tools = read(TRAIN_SCHEDULE);
    assert_eq!(tools.len(), 1);
    let tool = &tools[0];
    assert_eq!(tool.export, "trainSchedule");
    assert!(tool.computed_approval_messages.is_empty());
    let definition = &tool.definition;
    assert_eq!((definition.name.as_str(), definition.source), ("trainSchedule", SourceKind::Tool));
    assert_eq!(definition.description, "Get train schedule information");
    assert_eq!(definition.version, None);
    assert_eq!(definition.place.to_string(), "tool.ts: 18:30");
    assert_eq!(definition.config.requires_approval, Some(false));
    assert_eq!(definition.config.rate_limit, Some(RateLimit { requests: 100, period: Period::Minute }));
    assert!(!definition.is_single_function);
    assert_eq!(definition.notes, []);
    let [get_schedule, get_train_details] = definition.functions.as_slice() else { panic!("{definition:#?}") };
    assert_eq!(get_schedule.name, "getSchedule");
    assert_eq!(get_schedule.description, "Get all scheduled trains");
    assert_eq!(get_schedule.place.path, "23:5");
    assert_eq!(
        get_schedule.parameters,
        json!({
            "type": "object",
            "properties": { "station": { "type": "string" }, "date": { "type": "string", "format": "date" } },
        })
    );
    assert_eq!(
        get_schedule.returns,
        Some(json!({
            "type": "array",
            "items": { "$ref": "#/$defs/Trip" },
            "$defs": {
                "Trip": {
                    "title": "Trip",
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "hour": { "type": "number" },
                        "minute": { "type": "number" },
                        "destination": { "type": "string" },
                        "platform": { "type": "string" },
                    },
                    "required": ["id", "hour", "minute", "destination", "platform"],
                },
            },
        }))
    );
    assert_eq!(get_train_details.parameters["required"], json!(["trainId"]));
    assert_eq!(get_train_details.parameters["properties"], json!({ "trainId": { "type": "string" } }));
    let returns = get_train_details.returns.as_ref().expect("a schema");
    assert_eq!(returns["$ref"], "#/$defs/TrainDetails");
    assert_eq!(
        returns["$defs"]["TrainDetails"]["properties"]["stops"],
        json!({ "type": "array", "items": { "type": "string" } })
    );
    assert!(returns["$defs"].get("Trip").is_none(), "only what the function needs");
}

/// `priority` has no flag, and is required.
#[test]
fn company_crm_with_its_types() {
    let types = "interface Customer { id: string; name: string }\ninterface Ticket { id: string }\n\
                 declare const crmApi: { search(query: string, limit: number): Promise<Customer[]>; \
                 createTicket(params: unknown): Promise<Ticket> };\n";
    let tools = read(&format!("{types}{CRM}"));
    assert_eq!(tools[0].export, "crm");
    assert_eq!(tools[0].computed_approval_messages, ["createTicket"]);
    let definition = &tools[0].definition;
    let [search, create] = definition.functions.as_slice() else { panic!("{definition:#?}") };
    assert_eq!(search.parameters["required"], json!(["query"]));
    assert_eq!(search.parameters["properties"]["limit"], json!({ "type": "number", "default": 10 }));
    assert_eq!(create.parameters["required"], json!(["customerId", "subject", "priority"]));
    assert_eq!(create.config.requires_approval, Some(true));
    assert_eq!(create.config.approval_message, None);
    assert!(definition.notes.is_empty(), "{definition:#?}");
}

/// The sample as it is printed declares neither of its types.
#[test]
fn company_crm_without_its_types_names_the_type_and_its_line() {
    let (place, message, fix) = refusal(CRM);
    assert_eq!(place, "15:22");
    assert_eq!(message, "the type `Customer` is not declared in this file");
    assert_eq!(fix, "declare `Customer` in this file, import it from a file beside it, or give a JSON Schema instead");
}

/// The sample leaves out the handlers where it says `// ...`.
#[test]
fn file_system_approvals() {
    let (place, message, _) = refusal(FILE_SYSTEM);
    assert_eq!((place.as_str(), message.as_str()), ("4:5", "the function `readFile` has no `handler`"));
    let whole = "parameters: { path: { type: 'string' } }, handler: async ({ path }) => path,";
    let tools = read(&FILE_SYSTEM.replace("// ...", whole));
    assert_eq!(tools[0].computed_approval_messages, ["deleteFile"]);
    let definition = &tools[0].definition;
    assert_eq!(definition.functions[0].config.requires_approval, Some(false));
    assert_eq!(definition.functions[1].config.requires_approval, Some(true));
    assert!(definition.notes[0].message.starts_with("`defineTool` is not imported"), "{:?}", definition.notes);
}
