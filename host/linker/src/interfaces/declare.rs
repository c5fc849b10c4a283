//! TypeScript declarations of interfaces that were written as WIT.

use super::{Body, Interfaces, find};
use agent_spaces_types::names::camel_case;
use capability_gen::emit::dts::comment;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use wit_parser::{Function, Resolve, Type, TypeDef, TypeDefKind, TypeId};

/// A module of interfaces that were written as WIT.
pub struct Declared {
    /// Its specifier.
    pub specifier: String,
    /// Version of its package; `0.0.0` if that has none.
    pub version: String,
    /// Number of its functions.
    pub functions: usize,
    /// `declare module '@capabilities/notes' { … }`
    pub declarations: String,
}

impl Interfaces {
    /// Declares every module of interfaces that were written as WIT.
    pub fn declared(&self) -> Vec<Declared> {
        let declare = |(specifier, declarations): (String, String)| {
            let own = || self.by_name.iter().filter(|(_, interface)| interface.module == specifier);
            let version = own().find_map(|(name, _)| Some(name.rsplit_once('@')?.1.to_owned()));
            let functions = own().map(|(_, interface)| interface.functions().count()).sum();
            Declared { version: version.unwrap_or_else(|| "0.0.0".to_owned()), functions, declarations, specifier }
        };
        self.declarations().into_iter().map(declare).collect()
    }

    /// Declarations by module: `declare module '@capabilities/notes' { … }`. Compiled modules are not included.
    pub fn declarations(&self) -> BTreeMap<String, String> {
        let mut bodies: BTreeMap<&str, String> = BTreeMap::new();
        let names = self.type_names();
        for (name, interface) in &self.by_name {
            let Body::Wit(functions) = &interface.body else { continue };
            let Some(id) = find(&self.resolve, name).filter(|_| !functions.is_empty()) else { continue };
            let printer = Printer { resolve: &self.resolve, names: &names };
            let found = &self.resolve.interfaces[id];
            let body = bodies.entry(&interface.module).or_default();
            for type_id in found.types.values() {
                printer.definition(body, *type_id);
            }
            comment(body, 1, found.docs.contents.as_deref().unwrap_or_default());
            let _ = writeln!(body, "  export const {}: {{", interface.export);
            for function in found.functions.values() {
                printer.function(body, function);
            }
            body.push_str("  };\n");
        }
        let declare = |(module, body): (&str, String)| {
            let text = format!("declare module '{module}' {{\n{body}}}\n");
            (module.to_owned(), text)
        };
        bodies.into_iter().map(declare).collect()
    }

    /// TypeScript names of the types. Two of one module never share a name: the later one is prefixed with its
    /// interface's.
    fn type_names(&self) -> HashMap<TypeId, String> {
        let mut names = HashMap::new();
        let mut taken = HashSet::new();
        for (full_name, interface) in &self.by_name {
            let (Body::Wit(_), Some(id)) = (&interface.body, find(&self.resolve, full_name)) else { continue };
            for (name, type_id) in &self.resolve.interfaces[id].types {
                if is_declared(&self.resolve.types[*type_id]) {
                    let (own, of) =
                        (pascal_case(name), self.resolve.interfaces[id].name.as_deref().unwrap_or_default());
                    let is_free = taken.insert((&interface.module, own.clone()));
                    names.insert(*type_id, if is_free { own } else { pascal_case(of) + &own });
                }
            }
        }
        names
    }
}

struct Printer<'a> {
    resolve: &'a Resolve,
    names: &'a HashMap<TypeId, String>,
}

impl Printer<'_> {
    /// Declares a named type. Aliases, and types of another package, are written out where they are used.
    fn definition(&self, out: &mut String, id: TypeId) {
        let definition = &self.resolve.types[id];
        let Some(name) = self.names.get(&id) else { return };
        comment(out, 1, definition.docs.contents.as_deref().unwrap_or_default());
        match &definition.kind {
            TypeDefKind::Record(record) => {
                let _ = writeln!(out, "  export interface {name} {{");
                for field in &record.fields {
                    comment(out, 2, field.docs.contents.as_deref().unwrap_or_default());
                    let (mark, ty) = self.member(&field.ty);
                    let _ = writeln!(out, "    {}{mark}: {ty};", camel_case(&field.name));
                }
                out.push_str("  }\n\n");
            }
            kind => {
                let _ = writeln!(out, "  export type {name} = {};\n", self.kind(kind));
            }
        }
    }

    fn function(&self, out: &mut String, function: &Function) {
        comment(out, 2, function.docs.contents.as_deref().unwrap_or_default());
        // In TypeScript only trailing parameters can be optional.
        let last_needed = function.params.iter().rposition(|parameter| !self.is_option(&parameter.ty));
        let parameter = |(number, parameter): (usize, &wit_parser::Param)| {
            let (mark, ty) = match self.member(&parameter.ty) {
                (_, ty) if last_needed.is_some_and(|last| number < last) && self.is_option(&parameter.ty) => {
                    ("", format!("{ty} | undefined"))
                }
                (mark, ty) => (mark, ty),
            };
            format!("{}{mark}: {ty}", camel_case(&parameter.name))
        };
        let parameters: Vec<String> = function.params.iter().enumerate().map(parameter).collect();
        let result = function.result.as_ref().map_or_else(|| "void".to_owned(), |ty| self.answer(ty));
        let result = if function.kind.is_async() { format!("Promise<{result}>") } else { result };
        let _ = writeln!(out, "    {}({}): {result};", camel_case(&function.name), parameters.join(", "));
    }

    /// The result of a call; an error is thrown.
    fn answer(&self, ty: &Type) -> String {
        match self.resolved(ty) {
            Some(TypeDefKind::Result(result)) => result.ok.as_ref().map_or_else(|| "void".into(), |ok| self.ty(ok)),
            _ => self.ty(ty),
        }
    }

    /// A member's type, with `?` if it is optional.
    fn member(&self, ty: &Type) -> (&'static str, String) {
        match self.resolved(ty) {
            Some(TypeDefKind::Option(inner)) => ("?", self.ty(inner)),
            _ => ("", self.ty(ty)),
        }
    }

    fn is_option(&self, ty: &Type) -> bool {
        matches!(self.resolved(ty), Some(TypeDefKind::Option(_)))
    }

    /// Resolves aliases of a type.
    fn resolved(&self, ty: &Type) -> Option<&TypeDefKind> {
        let Type::Id(id) = ty else { return None };
        match &self.resolve.types[*id].kind {
            TypeDefKind::Type(ty @ Type::Id(_)) => self.resolved(ty),
            kind => Some(kind),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "boolean".into(),
            Type::Char | Type::String => "string".into(),
            Type::Id(id) => {
                let definition = &self.resolve.types[*id];
                match (&definition.kind, self.names.get(id)) {
                    (TypeDefKind::Type(Type::String), _) if definition.name.as_deref() == Some("json") => "any".into(),
                    (TypeDefKind::Type(inner), _) => self.ty(inner),
                    (_, Some(name)) => name.clone(),
                    (kind, _) => self.kind(kind),
                }
            }
            // 64 bits too: `number | bigint` would not allow arithmetic.
            _ => "number".into(),
        }
    }

    fn kind(&self, kind: &TypeDefKind) -> String {
        let val = |ty: &Option<Type>| ty.as_ref().map(|ty| format!("; val: {}", self.ty(ty))).unwrap_or_default();
        let tagged = |tag: &str, ty: &Option<Type>| format!("{{ tag: '{tag}'{} }}", val(ty));
        match kind {
            TypeDefKind::Type(ty) => self.ty(ty),
            TypeDefKind::Option(ty) => format!("{} | undefined", self.ty(ty)),
            TypeDefKind::List(ty) => match self.ty(ty) {
                _ if matches!(ty, Type::U8) => "Uint8Array".into(),
                item if item.contains(' ') => format!("({item})[]"),
                item => format!("{item}[]"),
            },
            TypeDefKind::Tuple(tuple) => {
                format!("[{}]", tuple.types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", "))
            }
            TypeDefKind::Record(record) => {
                let member = |field: &wit_parser::Field| {
                    let (mark, ty) = self.member(&field.ty);
                    format!("{}{mark}: {ty}", camel_case(&field.name))
                };
                format!("{{ {} }}", record.fields.iter().map(member).collect::<Vec<_>>().join("; "))
            }
            TypeDefKind::Enum(cases) => {
                cases.cases.iter().map(|case| format!("'{}'", case.name)).collect::<Vec<_>>().join(" | ")
            }
            TypeDefKind::Variant(variant) => {
                variant.cases.iter().map(|case| tagged(&case.name, &case.ty)).collect::<Vec<_>>().join(" | ")
            }
            TypeDefKind::Result(result) => format!("{} | {}", tagged("ok", &result.ok), tagged("err", &result.err)),
            TypeDefKind::Flags(flags) => {
                let flag = |flag: &wit_parser::Flag| format!("{}?: boolean", camel_case(&flag.name));
                format!("{{ {} }}", flags.flags.iter().map(flag).collect::<Vec<_>>().join("; "))
            }
            // No other kind is accepted: see `shapes`.
            _ => "unknown".into(),
        }
    }
}

/// True if a type has a declaration of its own: it is no alias.
fn is_declared(definition: &TypeDef) -> bool {
    let is_kind = matches!(
        definition.kind,
        TypeDefKind::Record(_) | TypeDefKind::Enum(_) | TypeDefKind::Variant(_) | TypeDefKind::Flags(_)
    );
    is_kind && definition.name.is_some()
}

/// `train-details` as TypeScript names types: `TrainDetails`.
fn pascal_case(kebab: &str) -> String {
    let camel = camel_case(kebab);
    let mut characters = camel.chars();
    characters.next().map(|first| first.to_ascii_uppercase().to_string() + characters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::interfaces::Interfaces;

    const NOTES: &str = "declare module '@capabilities/notes' {
  export type Mood = 'glad' | 'sad';

  export type Part = { tag: 'text'; val: string } | { tag: 'rule' };

  export type Marks = { read?: boolean; toDo?: boolean };

  export interface Note {
    /** Never changes. */
    noteId: number;
    mood?: Mood;
    parts: Part[];
    data: any;
  }

  /** Notes of a person. */
  export const notes: {
    /** Ends a comment *\\/ early. */
    find(text: string, limit: number | undefined, marks: Marks): Promise<Note[]>;
    count(): number;
    bytes(of: [string, Uint8Array | undefined]): Promise<void>;
  };
}
";

    #[test]
    fn an_interface_written_as_wit_is_declared_as_scripts_see_it() {
        let mut interfaces = Interfaces::new().unwrap();
        let wit = "package capabilities:notes@1.0.0;
            /// Notes of a person.
            interface notes {
                use agent-spaces:host/types@0.1.0.{capability-error, json};
                enum mood { glad, sad }
                variant part { text(string), rule }
                flags marks { read, to-do }
                type id = u32;
                record note {
                    /// Never changes.
                    note-id: id,
                    mood: option<mood>,
                    parts: list<part>,
                    data: json,
                }
                /// Ends a comment */ early.
                find: async func(text: string, limit: option<u32>, marks: marks) -> result<list<note>, capability-error>;
                count: func() -> u64;
                bytes: async func(of: tuple<string, option<list<u8>>>) -> result<_, capability-error>;
            }";
        interfaces.add("notes.wit", wit).unwrap();
        let declared = interfaces.declarations();
        assert_eq!(declared["@capabilities/notes"], NOTES);
    }
}
