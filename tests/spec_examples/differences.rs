//! Listed differences between examples and the specification.

/// A difference, which is taken away from one of the texts before they are compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Ours says the first where the second is printed.
    Ours(&'static str, &'static str),
    /// The first is printed where ours says the second.
    Printed(&'static str, &'static str),
    /// Lines of ours that begin so are not printed.
    OurLines(&'static str),
    /// Printed lines that begin so are not in ours.
    PrintedLines(&'static str),
    /// The declaration of ours that begins so, with the blank line before it, is not printed.
    OurInterface(&'static str),
    /// From here on ours is not printed.
    OurRest(&'static str),
    /// From here on the printed text is not in ours.
    PrintedRest(&'static str),
}

impl Change {
    /// Takes the difference away; an error says what was to be there and is not.
    pub(super) fn apply(self, ours: &mut String, printed: &mut String) -> Result<(), &'static str> {
        let (text, expected) = match self {
            Change::Ours(from, _) | Change::OurLines(from) | Change::OurRest(from) | Change::OurInterface(from) => {
                (ours, from)
            }
            Change::Printed(from, _) | Change::PrintedLines(from) | Change::PrintedRest(from) => (printed, from),
        };
        let before = text.clone();
        match self {
            Change::Ours(from, to) | Change::Printed(from, to) => *text = text.replace(from, to),
            Change::OurLines(start) | Change::PrintedLines(start) => {
                *text = text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with(start)).collect();
            }
            Change::OurInterface(start) => {
                if let Some(at) = text.find(start)
                    && let Some(end) = text[at..].find("\n  }\n")
                {
                    text.replace_range(at - 1..at + end + 5, "");
                }
            }
            Change::OurRest(start) | Change::PrintedRest(start) => {
                text.truncate(text.find(start).unwrap_or(text.len()));
            }
        }
        if *text == before { Err(expected) } else { Ok(()) }
    }
}

/// Our text and the printed one.
pub(super) struct Printed {
    /// A file of an example, or `<module>/<file> of <example>` for what is compiled.
    pub(super) ours: &'static str,
    /// Under `printed/`.
    pub(super) fixture: &'static str,
    /// The difference, and its reason.
    pub(super) differences: &'static [(Change, &'static str)],
}

use Change::{OurInterface, OurLines, OurRest, Ours, Printed as Theirs, PrintedLines, PrintedRest};

const COMMENTS: (Change, &str) = (OurLines("/** "), "descriptions reach the agent as JSDoc");
const PROMISE: (Change, &str) =
    (OurInterface("  interface CapabilityPromise<"), "the file needs no other to say what it is");
const LISTS: (Change, &str) =
    (Ours("CapabilityPromise<", "Promise<"), "a promise of a list takes array methods, as the first script wants");
const HEADER: (Change, &str) = (PrintedLines("// "), "the header is a caption of the document's");
const BLANK: (Change, &str) = (Theirs("  \n", "\n"), "the printed blank lines have spaces in them");

pub(super) const PRINTED: &[Printed] = &[
    // Scripts.
    Printed { ours: "composition/agent.ts", fixture: "composition/agent.ts", differences: &[] },
    Printed { ours: "train-schedule/agent.ts", fixture: "train-schedule/agent.ts", differences: &[] },
    Printed { ours: "train-schedule-typescript/agent.ts", fixture: "train-schedule/agent.ts", differences: &[] },
    Printed { ours: "weather/agent.ts", fixture: "weather/agent.ts", differences: &[] },
    Printed {
        ours: "slack/agent.ts",
        fixture: "slack/agent.ts",
        differences: &[(OurLines("if (!general)"), "`find` may find nothing, which strict TypeScript wants said")],
    },
    Printed { ours: "slack/two-servers.ts", fixture: "slack/two-servers.ts", differences: &[] },
    Printed { ours: "company-crm/agent.ts", fixture: "company-crm/agent.ts", differences: &[] },
    Printed {
        ours: "train-schedule/call.ts",
        fixture: "train-schedule/call.ts",
        differences: &[
            (PrintedLines("// Inside sandbox"), "a caption of the document's"),
            (PrintedRest("\n// Outside sandbox (host)"), "the host's side is Rust"),
            (OurRest("\n// The same by the proxy."), "so that the two can be compared"),
            (OurLines("// "), "says why there is an import"),
            (OurLines("import "), "a run reaches only what it imports"),
            (Ours("\nconst result", "const result"), "the blank line after the import"),
        ],
    },
    // Definitions.
    Printed {
        ours: "train-schedule/capabilities/train-schedule.json",
        fixture: "train-schedule/train-schedule.json",
        differences: &[],
    },
    Printed {
        ours: "train-schedule-typescript/capabilities/train-schedule.ts",
        fixture: "train-schedule/train-schedule.ts",
        differences: &[(OurRest("\n// Stands for the network"), "handlers do not reach the network")],
    },
    Printed {
        ours: "weather/capabilities/weather.json",
        fixture: "weather/weather.json",
        differences: &[
            (
                OurRest(",\n  \"returns\""),
                "the printed declarations have a result that the printed tool does not define",
            ),
            (PrintedRest("\n}\n"), "the end of the object, which ours has after `returns`"),
        ],
    },
    Printed {
        ours: "company-crm/capabilities/company-crm.ts",
        fixture: "company-crm/company-crm.ts",
        differences: &[(OurRest("\ninterface Customer"), "Customer, Ticket and crmApi are used and not printed")],
    },
    // Declarations.
    Printed {
        ours: "train-schedule/index.d.ts of train-schedule-typescript",
        fixture: "train-schedule/index.d.ts",
        differences: &[
            COMMENTS,
            PROMISE,
            LISTS,
            HEADER,
            (Theirs("\ndeclare", "declare"), "the blank line after the header"),
        ],
    },
    Printed {
        ours: "train-schedule/index.d.ts of train-schedule",
        fixture: "train-schedule/index.d.ts",
        differences: &[
            COMMENTS,
            PROMISE,
            LISTS,
            HEADER,
            (Theirs("\ndeclare", "declare"), "the blank line after the header"),
            (Ours("GetScheduleResultItem", "Trip"), "the JSON has no name for it"),
            (Ours("GetTrainDetailsResult", "TrainDetails"), "the JSON has no name for it"),
            (Ours("unknown[]", "string[]"), "the JSON does not say what `stops` are"),
        ],
    },
    Printed {
        ours: "weather/index.d.ts of weather",
        fixture: "weather/index.d.ts",
        differences: &[COMMENTS, HEADER, BLANK],
    },
    Printed {
        ours: "mcp-slack/index.d.ts of slack",
        fixture: "slack/index.d.ts",
        differences: &[COMMENTS, PROMISE, LISTS, HEADER, BLANK],
    },
    // The proxy.
    Printed {
        ours: "train-schedule/index.js of train-schedule",
        fixture: "train-schedule/index.ts",
        differences: &[
            HEADER,
            (Theirs("\nimport", "import"), "the blank line after the header"),
            (
                Ours(
                    "{ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', \
                     properties: { station: { type: 'string' }, date: { type: 'string', format: 'date' } }, \
                     additionalProperties: false }",
                    "{ /* JSON schema for validation */ }",
                ),
                "the schema is left out in print",
            ),
            (
                Ours(
                    "{ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', \
                     properties: { trainId: { type: 'string' } }, required: ['trainId'], additionalProperties: false }",
                    "{ /* JSON schema */ }",
                ),
                "the schema is left out in print",
            ),
        ],
    },
];
