//! Intermediate representation that every output is generated from.

use crate::definition::{Annotations, Config, Note, Place, SourceKind};
use crate::implementation::{Implementation, ProviderKind};
use agent_spaces_types::server_part::ServerPart;
use serde_json::Value;

/// Module that scripts import: `@capabilities/train-schedule`.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Kebab-case, the last part of the specifier: `train-schedule`.
    pub name: String,
    /// Import specifier: `@capabilities/train-schedule`.
    pub specifier: String,
    /// The WIT package's version: `1.0.0`.
    pub version: String,
    /// At least one.
    pub capabilities: Vec<Capability>,
    /// The named types of all capabilities.
    pub types: Types,
    /// npm dependencies of its handlers, such as `zod@^4.0.0`; set by the caller of the compiler.
    pub dependencies: Vec<String>,
    /// Warnings: what was tolerated or left out.
    pub notes: Vec<Note>,
}

/// A named group of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// Name in the source: `trainSchedule`. Unique in a registry.
    pub name: String,
    /// The exported JavaScript name: `trainSchedule`; of a single function, the function's: `getWeather`. Reserved
    /// words get a trailing `_`.
    pub export: String,
    /// The WIT interface: `train-schedule`.
    pub interface: String,
    /// True if the module exports the single function itself rather than an object that contains it.
    pub is_single_function: bool,
    /// Description.
    pub description: String,
    /// Its own version.
    pub version: String,
    /// Kind of source it came from.
    pub source: SourceKind,
    /// Owner.
    pub owner: Option<String>,
    /// Tags, which apply to all its functions.
    pub tags: Vec<String>,
    /// Functions in the source's order. Empty if an MCP server has only resources or prompts.
    pub functions: Vec<Function>,
    /// Settings of all functions, unless a function overrides them.
    pub config: Config,
    /// Place of the definition.
    pub place: Place,
    /// Fixed interfaces of an MCP server besides its tools.
    pub server: Vec<ServerInterface>,
    /// The Wasm component that exports its interface, as a path from the definition's file.
    pub component: Option<String>,
}

/// Fixed interface of an MCP server, besides its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInterface {
    /// Part of the server.
    pub part: ServerPart,
    /// The WIT interface: `resources`, or another name if that one is taken.
    pub interface: String,
}

/// Callable function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name sent to the provider: `slack_list_channels`.
    pub name: String,
    /// The JavaScript name: `listChannels`; camelCase of `wit_name`.
    pub js_name: String,
    /// The WIT name: `list-channels`.
    pub wit_name: String,
    /// A title for people.
    pub title: Option<String>,
    /// Description.
    pub description: String,
    /// `Named` of a record if there are parameters; an empty closed record if there are none; otherwise the type of
    /// whatever the schema allows.
    pub params: Type,
    /// The result's type; `Any` if the source does not declare it.
    pub result: Type,
    /// True if the source declares the result's schema.
    pub has_result_schema: bool,
    /// Clean JSON Schema (2020-12) of the parameters, closed unless the source says otherwise.
    pub params_schema: Value,
    /// Clean JSON Schema of the result; open.
    pub result_schema: Option<Value>,
    /// Schema of the parameters as found in the source.
    pub source_parameters: Value,
    /// Schema of the result as found in the source.
    pub source_returns: Option<Value>,
    /// True if the provider wraps the result as `{"result": …}`.
    pub is_result_wrapped: bool,
    /// Side-effect hints of the source.
    pub annotations: Annotations,
    /// Tags, in addition to the capability's.
    pub tags: Vec<String>,
    /// Settings that override the capability's.
    pub config: Config,
    /// Implementation, if the definition declares one.
    pub implementation: Option<Implementation>,
    /// Kind of provider, if known to the caller of the compiler.
    pub provider: Option<ProviderKind>,
    /// Place of the definition.
    pub place: Place,
}

/// The named types of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Types(pub Vec<TypeDefinition>);

/// Index of a named type in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// PascalCase, unique in the module: `GetScheduleParams`, `Trip`.
    pub name: String,
    /// Documentation.
    pub docs: Docs,
    /// Its structure; never `Named`.
    pub ty: Type,
}

/// Type of values, as far as TypeScript or WIT can express it. Other constraints of a schema (lengths, patterns,
/// ranges, conditions) are left to the validator.
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
        /// Number of items that must be present.
        required: usize,
        /// Type of further items; none are allowed if absent.
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
    /// Other members it may have.
    pub rest: Rest,
}

/// Members that an object may have besides its named ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rest {
    /// None: unknown names are refused.
    #[default]
    Closed,
    /// Not declared by the schema: they are passed through, and TypeScript does not mention them.
    Undeclared,
    /// The schema declares them (`additionalProperties`, `patternProperties`).
    Declared(Box<Type>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name in JSON; any text.
    pub name: String,
    /// Type of its value when present.
    pub ty: Type,
    /// Required, optional or expected.
    pub presence: Presence,
    /// Documentation.
    pub docs: Docs,
}

impl Field {
    /// Returns true if scripts may pass bytes: a parameter of base64 text, which the engine encodes.
    pub fn takes_bytes(&self) -> bool {
        self.docs.limits.iter().any(|limit| limit == TAKES_BYTES)
    }
}

/// Entry in the limits of a parameter of base64 text.
pub(crate) const TAKES_BYTES: &str = "base64, or bytes";

/// Presence of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always present.
    Required,
    /// May be absent.
    Optional,
    /// Member of a result whose schema has no `required`: non-optional in TypeScript, but may be absent.
    Expected,
}

/// Documentation of a type or member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Docs {
    /// Free text from the source; never code.
    pub description: String,
    /// Value used when the member is absent.
    pub default: Option<Value>,
    /// Summary of the validator's constraints: `1 to 100`, `format: date`, `pattern: ^[a-z]+$`.
    pub limits: Vec<String>,
    /// Marked as deprecated.
    pub is_deprecated: bool,
}

/// Direction of values: to a provider or from one.
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

    /// Resolves a named type to its definition; returns other types as they are.
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        match ty {
            Type::Named(id) => &self.get(*id).ty,
            other => other,
        }
    }
}

impl Function {
    /// Returns true if a call may omit its parameters entirely.
    pub fn is_params_optional(&self, types: &Types) -> bool {
        match types.resolve(&self.params) {
            Type::Record(record) => record.fields.iter().all(|field| field.presence != Presence::Required),
            _ => false,
        }
    }

    /// Returns true if it takes no parameters.
    pub fn takes_nothing(&self, types: &Types) -> bool {
        matches!(types.resolve(&self.params), Type::Record(Record { fields, rest: Rest::Closed }) if fields.is_empty())
    }
}

impl Capability {
    /// Label in scripts, logs and policies: camelCase of its interface.
    pub fn label(&self) -> String {
        crate::names::camel(&self.interface)
    }

    /// Name of a server part in scripts: `everything.$resources`.
    pub fn part_export(&self, part: ServerPart) -> String {
        format!("{}.{}", self.export, part.member())
    }

    /// Tags of a function: the capability's, then its own, without duplicates.
    pub fn tags_of<'a>(&'a self, function: &'a Function) -> Vec<&'a str> {
        let mut tags: Vec<&str> = Vec::new();
        for tag in self.tags.iter().chain(&function.tags) {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
        tags
    }

    /// Returns true if each call of a function needs approval. The function's setting overrides the capability's.
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
