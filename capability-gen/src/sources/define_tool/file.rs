//! Declarations of a source file, by name.

use super::fault::Fault;
use super::links::Links;
use oxc_ast::ast::{
    BindingPattern, CallExpression, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters,
    ImportDeclarationSpecifier, Program, Statement, TSEnumDeclaration, TSInterfaceDeclaration, TSTypeAliasDeclaration,
    TSTypeAnnotation, VariableDeclaration, VariableDeclarationKind,
};
use oxc_span::GetSpan as _;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Module that exports `defineTool`.
const MODULE: &str = "@agent-spaces/capabilities";

/// Symbol table of a parsed file.
pub(super) struct File<'a> {
    /// `const name = …` at the top level.
    constants: HashMap<&'a str, &'a Expression<'a>>,
    types: HashMap<&'a str, Rc<Vec<TypeDeclaration<'a>>>>,
    functions: HashSet<&'a str>,
    /// Variables that are not constants with a value.
    variables: HashSet<&'a str>,
    /// Unsupported declarations of types, with their kind in words.
    others: HashMap<&'a str, &'static str>,
    pub(super) links: Links<'a>,
    /// JSDoc comments by the start of the node that follows.
    comments: HashMap<u32, &'a str>,
    /// Calls of `defineTool`, in the file's order.
    pub(super) tools: Vec<ToolCall<'a>>,
    /// The default export, if it is a function expression or declaration.
    pub(super) default: Option<DefaultFunction<'a>>,
    /// The local names of `defineTool` and of its whole module.
    define_tool: HashSet<&'a str>,
    namespaces: HashSet<&'a str>,
}

/// Type declaration.
#[derive(Clone, Copy)]
pub(super) struct TypeDeclaration<'a> {
    pub(super) kind: TypeKind<'a>,
    /// Start of the statement, including `export`.
    pub(super) start: u32,
}

#[derive(Clone, Copy)]
pub(super) enum TypeKind<'a> {
    Interface(&'a TSInterfaceDeclaration<'a>),
    Alias(&'a TSTypeAliasDeclaration<'a>),
    Enum(&'a TSEnumDeclaration<'a>),
}

/// Function that is the default export.
#[derive(Clone, Copy)]
pub(super) struct DefaultFunction<'a> {
    pub(super) parameters: &'a FormalParameters<'a>,
    pub(super) returns: Option<&'a TSTypeAnnotation<'a>>,
    /// Start of the statement.
    pub(super) start: u32,
}

/// Call `defineTool({…})` and its exported names.
pub(super) struct ToolCall<'a> {
    pub(super) call: &'a CallExpression<'a>,
    pub(super) local: Option<&'a str>,
    pub(super) export: Option<String>,
    pub(super) is_imported: bool,
}

impl<'a> File<'a> {
    /// Builds the symbol table. `base` is the start of the file's offsets.
    pub(super) fn new(program: &'a Program<'a>, text: &'a str, base: u32) -> Result<Self, Fault> {
        let mut file = Self {
            constants: HashMap::new(),
            types: HashMap::new(),
            functions: HashSet::new(),
            variables: HashSet::new(),
            others: HashMap::new(),
            links: Links::new(&program.body),
            comments: HashMap::new(),
            tools: Vec::new(),
            default: None,
            define_tool: HashSet::new(),
            namespaces: HashSet::new(),
        };
        for comment in program.comments.iter().filter(|comment| comment.is_jsdoc()) {
            let span = comment.content_span();
            let content = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            file.comments.insert(comment.attached_to + base, content);
        }
        // Imports and functions may come after their use.
        program.body.iter().for_each(|statement| file.import(statement));
        for statement in &program.body {
            file.statement(statement)?;
        }
        let exports: HashMap<&str, String> = program.body.iter().flat_map(Self::exports).collect();
        for tool in file.tools.iter_mut().filter(|tool| tool.export.is_none()) {
            tool.export = tool.local.and_then(|local| exports.get(local)).cloned();
        }
        Ok(file)
    }

    pub(super) fn constant(&self, name: &str) -> Option<&'a Expression<'a>> {
        self.constants.get(name).copied()
    }

    /// Returns true if the name is a declared function.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Returns true if the name is a variable without a known value.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// Kind of an unsupported type declaration, in words.
    pub(super) fn other(&self, name: &str) -> Option<&'static str> {
        self.others.get(name).copied()
    }

    /// The names of all types.
    pub(super) fn type_names(&self) -> impl Iterator<Item = &'a str> {
        self.types.keys().copied()
    }

    /// The declarations of a type; several for a merged interface.
    pub(super) fn type_named(&self, name: &str) -> Option<(&'a str, Rc<Vec<TypeDeclaration<'a>>>)> {
        self.types.get_key_value(name).map(|(name, declarations)| (*name, declarations.clone()))
    }

    /// The JSDoc comment of the node that starts here.
    pub(super) fn comment(&self, start: u32) -> Option<&'a str> {
        self.comments.get(&start).copied()
    }

    fn import(&mut self, statement: &'a Statement<'a>) {
        let Statement::ImportDeclaration(import) = statement else { return };
        let source = import.source.value.as_str();
        for specifier in import.specifiers.iter().flatten() {
            let (local, imported) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => {
                    (&it.local, it.imported.name().as_str() == "defineTool")
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => (&it.local, false),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                    if source == MODULE {
                        self.namespaces.insert(it.local.name.as_str());
                    }
                    (&it.local, false)
                }
            };
            if imported && source == MODULE {
                self.define_tool.insert(local.name.as_str());
            }
        }
    }

    fn statement(&mut self, statement: &'a Statement<'a>) -> Result<(), Fault> {
        let start = statement.span().start;
        match statement {
            Statement::ExportDeclaration(export) => self.declaration(&export.declaration, start, true)?,
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => {
                    self.add_type(it.id.name.as_str(), TypeKind::Interface(it), start)?;
                }
                ExportDefaultDeclarationKind::FunctionDeclaration(it) => {
                    let (parameters, returns) = (&*it.params, it.return_type.as_deref());
                    self.default = Some(DefaultFunction { parameters, returns, start });
                    self.functions.extend(it.id.as_ref().map(|id| id.name.as_str()));
                }
                ExportDefaultDeclarationKind::ClassDeclaration(it) => {
                    self.others.extend(it.id.as_ref().map(|id| (id.name.as_str(), "a class")));
                }
                other => {
                    if let Some(Expression::ArrowFunctionExpression(it)) =
                        other.as_expression().map(Expression::get_inner_expression)
                    {
                        let (parameters, returns) = (&*it.params, it.return_type.as_deref());
                        self.default = Some(DefaultFunction { parameters, returns, start });
                    }
                    if let Some(tool) = other.as_expression().and_then(|value| self.tool_call(value)) {
                        self.tools.push(ToolCall { export: Some("default".to_owned()), ..tool });
                    }
                }
            },
            Statement::ExpressionStatement(it) => {
                let tool = self.tool_call(&it.expression);
                self.tools.extend(tool);
            }
            other => {
                if let Some(declaration) = other.as_declaration() {
                    self.declaration(declaration, start, false)?;
                }
            }
        }
        Ok(())
    }

    fn declaration(&mut self, declaration: &'a Declaration<'a>, start: u32, is_export: bool) -> Result<(), Fault> {
        match declaration {
            Declaration::VariableDeclaration(it) => self.variables(it, is_export),
            Declaration::TSInterfaceDeclaration(it) => {
                self.add_type(it.id.name.as_str(), TypeKind::Interface(it), start)?;
            }
            Declaration::TSTypeAliasDeclaration(it) => {
                self.add_type(it.id.name.as_str(), TypeKind::Alias(it), start)?
            }
            Declaration::TSEnumDeclaration(it) => self.add_type(it.id.name.as_str(), TypeKind::Enum(it), start)?,
            Declaration::FunctionDeclaration(it) => {
                self.functions.extend(it.id.as_ref().map(|id| id.name.as_str()));
            }
            Declaration::ClassDeclaration(it) => {
                self.others.extend(it.id.as_ref().map(|id| (id.name.as_str(), "a class")));
            }
            Declaration::TSNamespaceDeclaration(it) => {
                self.others.insert(it.id.name.as_str(), "a namespace");
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                self.others.insert(it.id.name.as_str(), "an `import =`");
            }
            _ => {}
        }
        Ok(())
    }

    fn add_type(&mut self, name: &'a str, kind: TypeKind<'a>, start: u32) -> Result<(), Fault> {
        let declarations = self.types.entry(name).or_default();
        let is_interface = |kind: &TypeKind<'_>| matches!(kind, TypeKind::Interface(_));
        let adds_to_others = is_interface(&kind) && declarations.iter().all(|it| is_interface(&it.kind));
        if !declarations.is_empty() && !adds_to_others {
            return Err(Fault::new(
                start,
                format!("the type `{name}` is declared twice"),
                "remove or rename one of them",
            ));
        }
        Rc::make_mut(declarations).push(TypeDeclaration { kind, start });
        Ok(())
    }

    fn variables(&mut self, declaration: &'a VariableDeclaration<'a>, is_export: bool) {
        for declarator in &declaration.declarations {
            let BindingPattern::BindingIdentifier(id) = &declarator.id else { continue };
            let name = id.name.as_str();
            let Some(value) = &declarator.init else {
                self.variables.insert(name);
                continue;
            };
            if let Some(tool) = self.tool_call(value) {
                let export = is_export.then(|| name.to_owned());
                self.tools.push(ToolCall { local: Some(name), export, ..tool });
            } else if declaration.kind == VariableDeclarationKind::Const {
                self.constants.insert(name, value);
            } else {
                self.variables.insert(name);
            }
        }
    }

    /// Local and exported names of `export { crm as tool }` and `export default crm`.
    fn exports(statement: &'a Statement<'a>) -> Vec<(&'a str, String)> {
        match statement {
            Statement::ExportNamedDeclaration(export) => {
                let specifiers = export.specifiers.iter().filter_map(|specifier| {
                    let local = specifier.local.identifier_name()?;
                    Some((local.as_str(), specifier.exported.name().to_string()))
                });
                specifiers.collect()
            }
            Statement::ExportDefaultDeclaration(export) => {
                match export.declaration.as_expression().map(Expression::get_inner_expression) {
                    Some(Expression::Identifier(it)) => vec![(it.name.as_str(), "default".to_owned())],
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn tool_call(&self, value: &'a Expression<'a>) -> Option<ToolCall<'a>> {
        let Expression::CallExpression(call) = value.get_inner_expression() else { return None };
        let is_imported = match call.callee.get_inner_expression() {
            Expression::Identifier(it) if self.define_tool.contains(it.name.as_str()) => true,
            // Neither declared nor imported: the runtime provides it.
            Expression::Identifier(it) if it.name == "defineTool" && self.links.import("defineTool").is_none() => false,
            Expression::StaticMemberExpression(it) if it.property.name == "defineTool" => match &it.object {
                Expression::Identifier(object) if self.namespaces.contains(object.name.as_str()) => true,
                _ => return None,
            },
            _ => return None,
        };
        Some(ToolCall { call, local: None, export: None, is_imported })
    }
}
