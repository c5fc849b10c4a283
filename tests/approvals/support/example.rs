//! Two examples of functions that require approval.

use super::Home;
use serde_json::{Value, json};

/// Capability with a function that requires approval and one that does not.
pub(crate) struct Example {
    /// File name of the definition, without extension.
    module: &'static str,
    definition: &'static str,
    /// Function that requires approval, as scripts call it.
    pub(crate) label: &'static str,
    /// Its call in a script.
    pub(crate) call: &'static str,
    /// A call of the other function.
    pub(crate) other: &'static str,
    /// Approval message.
    pub(crate) message: &'static str,
}

pub(crate) const FILE_SYSTEM: Example = Example {
    module: "file-system",
    definition: "import { defineTool } from '@agent-spaces/capabilities';

export const fileSystem = defineTool({
  name: 'fileSystem',
  functions: {
    deleteFile: {
      description: 'Delete a file',
      parameters: { path: { type: 'string', required: true } },
      returns: {} as string,
      requiresApproval: true,
      approvalMessage: (params) => `Delete file: ${params.path}?`,
      handler: async ({ path }) => `deleted ${path}`,
    },
    readFile: {
      description: 'Read a file',
      parameters: { path: { type: 'string', required: true } },
      returns: {} as string,
      handler: async ({ path }) => `text of ${path}`,
    },
  },
});
",
    label: "fileSystem.deleteFile",
    call: "fileSystem.deleteFile({ path: 'notes/old.txt' })",
    other: "fileSystem.readFile({ path: 'a' })",
    message: "Delete file: notes/old.txt?",
};

pub(crate) const CRM: Example = Example {
    module: "company-crm",
    definition: include_str!("../../../examples/company-crm/capabilities/company-crm.ts"),
    label: "crm.createTicket",
    call: "crm.createTicket({ customerId: 'cus_1', subject: 'Integration issue', priority: 'high' })",
    other: "crm.searchCustomers({ query: 'acme' })",
    message: "Create high ticket for customer cus_1?",
};

/// Runs a test with both examples at the same time.
pub(crate) fn both(test: impl Fn(&Example) + Sync) {
    std::thread::scope(|scope| {
        for example in [&FILE_SYSTEM, &CRM] {
            scope.spawn(|| test(example));
        }
    });
}

impl Example {
    /// Home whose scripts may import the capability.
    pub(crate) fn home(&self) -> Home {
        self.home_with(&json!({}))
    }

    /// The same with these settings for approvals.
    pub(crate) fn home_with(&self, approvals: &Value) -> Home {
        self.home_under(&json!({ "approvals": approvals }))
    }

    /// The same under a policy.
    pub(crate) fn home_under(&self, policy: &Value) -> Home {
        let home = Home::new();
        let file = format!("capabilities/{}.ts", self.module);
        home.write(&file, self.definition);
        home.configure(&json!({ "capabilities": { "global": [format!("./{file}")] }, "policy": policy }));
        home
    }

    /// Script that imports the capability.
    pub(crate) fn script(&self, body: &str) -> String {
        let (capability, _) = self.label.split_once('.').unwrap();
        format!("import {{ {capability} }} from '@capabilities/{}';\n{body}", self.module)
    }

    /// A script that makes the call, and prints its value or the code and the text of its error.
    pub(crate) fn attempt(&self) -> String {
        self.script(&format!(
            "const said = await {}.then((value) => JSON.stringify(value), (error) => `${{error.code}}: ${{error.message}}`);
             console.log(`said <${{said}}>`);
             export default said;",
            self.call
        ))
    }

    /// Returns the value of an approved call, as JSON.
    pub(crate) fn value(&self) -> String {
        match self.module {
            "file-system" => json!("deleted notes/old.txt").to_string(),
            _ => "{\"id\":\"tkt_1\",\"customerId\":\"cus_1\",\"subject\":\"Integration issue\",\"priority\":\"high\"}"
                .to_owned(),
        }
    }
}
