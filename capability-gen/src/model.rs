//! The one model that every output is made from.

use crate::definition::{Annotations, Config, Note, Place, SourceKind};
use crate::implementation::{Implementation, ProviderKind};
use crate::server::ServerPart;
use serde_json::Value;

/// What a script imports: `@capabilities/train-schedule`.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Kebab-case, the last part of the specifier: `train-schedule`.
    pub name: String,
    /// What scripts write: `@capabilities/train-schedule`.
    pub specifier: String,
    /// The WIT package's version: `1.0.0`.
    pub version: String,
    /// At least one.
    pub capabilities: Vec<Capability>,
    /// The named types of all capabilities.
    pub types: Types,
    /// The npm packages that what answers it needs, such as `zod@^4.0.0`; known to whoever compiles it.
    pub dependencies: Vec<String>,
    /// What was tolerated or left out on the way.
    pub notes: Vec<Note>,
}

/// A named group of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// As the source has it: `trainSchedule`. Unique in a registry.
    pub name: String,
    /// The exported JavaScript name: `trainSchedule`; of a single function, the function's: `getWeather`. With a `_`
    /// after it where JavaScript could not declare it.
    pub export: String,
    /// The WIT interface: `train-schedule`.
    pub interface: String,
    /// Whether the module exports the one function itself rather than an object that has it.
    pub is_single_function: bool,
    /// What it is for.
    pub description: String,
    /// Its own version.
    pub version: String,
    /// What kind of source it came from.
    pub source: SourceKind,
    /// Who owns it.
    pub owner: Option<String>,
    /// Words by which people sort it; they hold for all its functions.
    pub tags: Vec<String>,
    /// In the source's order. None where a server has only something else.
    pub functions: Vec<Function>,
    /// Holds for all functions unless one says otherwise.
    pub config: Config,
    /// Where it was found.
    pub place: Place,
    /// What an MCP server has besides its tools.
    pub server: Vec<ServerInterface>,
    /// The Wasm component that exports its interface, as a path from the definition's file.
    pub component: Option<String>,
}

/// A fixed interface that stands beside an MCP server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInterface {
    /// Which.
    pub part: ServerPart,
    /// The WIT interface: `resources`, or another name where that one is taken.
    pub interface: String,
}

/// One callable operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name that goes on the wire: `slack_list_channels`.
    pub name: String,
    /// The JavaScript name: `listChannels`; camelCase of `wit_name`.
    pub js_name: String,
    /// The WIT name: `list-channels`.
    pub wit_name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// `Named` of a record where there are parameters; an empty closed record where there are none;
    /// otherwise whatever the schema allows.
    pub params: Type,
    /// The result's type; `Any` where the source says nothing of it.
    pub result: Type,
    /// Whether the source says what the result is.
    pub has_result_schema: bool,
    /// Clean JSON Schema (2020-12) of the parameters, closed where the source does not say otherwise.
    pub params_schema: Value,
    /// Clean JSON Schema of the result; open.
    pub result_schema: Option<Value>,
    /// The source's schema of the parameters.
    pub source_parameters: Value,
    /// The source's schema of the result.
    pub source_returns: Option<Value>,
    /// Whether the provider wraps the result as `{"result": …}`.
    pub is_result_wrapped: bool,
    /// What the source says of its effects.
    pub annotations: Annotations,
    /// Words by which people sort it, beside the capability's.
    pub tags: Vec<String>,
    /// The function's own, over the capability's.
    pub config: Config,
    /// What answers it, where the definition says that itself.
    pub implementation: Option<Implementation>,
    /// What kind of thing answers it, where whoever compiles it knows.
    pub provider: Option<ProviderKind>,
    /// Where it was found.
    pub place: Place,
}

/// The named types of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Types(pub Vec<TypeDefinition>);

/// Where a named type stands in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// PascalCase, unique in the module: `GetScheduleParams`, `Trip`.
    pub name: String,
    /// What it is.
    pub docs: Docs,
    /// Never `Named` itself.
    pub ty: Type,
}

/// What values are, as far as TypeScript or WIT can say it. All that a schema says beyond this
/// (lengths, patterns, ranges, conditions) is for the validator.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any JSON value.
    Any,
    /// No value at all.
    Never,
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// One of these JSON scalars, at least one, none twice; `null` is not among them.
    Literals(Vec<Value>),
    /// An array of one type.
    List(Box<Type>),
    /// An array of types by position.
    Tuple {
        /// By position.
        items: Vec<Type>,
        /// How many of them must be there.
        required: usize,
        /// What may follow; nothing when absent.
        rest: Option<Box<Type>>,
    },
    /// An object with named members.
    Record(Record),
    /// An object with any names and values of one type.
    Map(Box<Type>),
    /// One of these, at least two, flat (no union inside), none twice. Nullable types are unions with `Null`.
    Union(Vec<Type>),
    /// A named type, which may be recursive.
    Named(TypeId),
}

/// An object's members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// In the source's order, names unique.
    pub fields: Vec<Field>,
    /// What other members there may be.
    pub rest: Rest,
}

/// What members an object may have besides its named ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rest {
    /// None: an unknown name is refused.
    #[default]
    Closed,
    /// Nothing is said of them; they pass as they are, and TypeScript does not mention them.
    Undeclared,
    /// The schema declares them (`additionalProperties`, `patternProperties`).
    Declared(Box<Type>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// As on the wire; any text.
    pub name: String,
    /// Of its value when it is there.
    pub ty: Type,
    /// Whether it must be there.
    pub presence: Presence,
    /// What it is.
    pub docs: Docs,
}

impl Field {
    /// Whether bytes may be passed as they are: it is a parameter of base64 text, which the engine makes of them.
    pub fn takes_bytes(&self) -> bool {
        self.docs.limits.iter().any(|limit| limit == TAKES_BYTES)
    }
}

/// What is said of a parameter that is base64 text, among its limits.
pub(crate) const TAKES_BYTES: &str = "base64, or bytes";

/// Whether a member must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is always there.
    Required,
    /// It may be absent.
    Optional,
    /// A result's schema without `required`: declared non-optional in TypeScript, and may be absent.
    Expected,
}

/// What a person reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Docs {
    /// Free text of the source's: never code.
    pub description: String,
    /// What holds when the member is absent.
    pub default: Option<Value>,
    /// What the validator checks, in short: `1 to 100`, `format: date`, `pattern: ^[a-z]+$`.
    pub limits: Vec<String>,
    /// Marked as deprecated.
    pub is_deprecated: bool,
}

/// Whether values go to a provider or come from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Parameters: closed unless the schema says otherwise.
    Params,
    /// Results: open unless the schema says otherwise.
    Result,
}

impl Types {
    /// The definition with this id.
    pub fn get(&self, id: TypeId) -> &TypeDefinition {
        &self.0[id.0]
    }

    /// Ids and definitions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &TypeDefinition)> {
        self.0.iter().enumerate().map(|(index, definition)| (TypeId(index), definition))
    }

    /// What a type is, through its name.
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        match ty {
            Type::Named(id) => &self.get(*id).ty,
            other => other,
        }
    }
}

impl Function {
    /// Whether a call may leave its parameters out altogether.
    pub fn is_params_optional(&self, types: &Types) -> bool {
        match types.resolve(&self.params) {
            Type::Record(record) => record.fields.iter().all(|field| field.presence != Presence::Required),
            _ => false,
        }
    }

    /// Whether it takes no parameters.
    pub fn takes_nothing(&self, types: &Types) -> bool {
        matches!(types.resolve(&self.params), Type::Record(Record { fields, rest: Rest::Closed }) if fields.is_empty())
    }
}

impl Capability {
    /// What scripts, logs and policies call it: camelCase of its interface.
    pub fn label(&self) -> String {
        crate::names::camel(&self.interface)
    }

    /// What scripts call a part of its server: `everything.$resources`.
    pub fn part_export(&self, part: ServerPart) -> String {
        format!("{}.{}", self.export, part.member())
    }

    /// The tags of a function: the capability's, then its own, each once.
    pub fn tags_of<'a>(&'a self, function: &'a Function) -> Vec<&'a str> {
        let mut tags: Vec<&str> = Vec::new();
        for tag in self.tags.iter().chain(&function.tags) {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
        tags
    }

    /// Whether a person must approve each call of a function: as it says itself, or else the capability.
    pub fn requires_approval(&self, function: &Function) -> bool {
        function.config.requires_approval.or(self.config.requires_approval).unwrap_or(false)
    }
}

impl Module {
    /// The WIT package: `capabilities:train-schedule`.
    pub fn package(&self) -> String {
        let specifier = self.specifier.trim_start_matches('@');
        specifier.replacen('/', ":", 1)
    }
}
