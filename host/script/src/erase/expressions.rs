//! Types inside expressions, and `import()`.

use oxc_ast::ast::{Expression, ImportExpression, TSTypeAssertion};
use oxc_ast_visit::Visit as _;
use oxc_parser::Kind;
use oxc_span::{GetSpan as _, Span};

use super::super::fault::Fault;
use super::super::imports::{ImportedName, Site};
use super::super::language::SourceKind;
use super::Eraser;
use agent_spaces_types::script_error::IMPORT_DENIED;

impl<'a> Eraser<'a, '_> {
    /// Erases `as T` or `satisfies T`.
    ///
    /// A type cannot be called or indexed, so a parenthesis, bracket or template on the next line begins a statement;
    /// without the type it would belong to the expression, and a semicolon has to say so.
    pub(super) fn trailing_type(&mut self, expression_end: u32, end: u32) {
        let Some(keyword) = self.tokens.at(expression_end) else {
            return;
        };
        let ends_statement = self.tokens.at(end).is_some_and(|next| {
            next.is_on_new_line()
                && matches!(
                    next.kind(),
                    Kind::LParen | Kind::LBrack | Kind::NoSubstitutionTemplate | Kind::TemplateHead
                )
        });
        self.edits.blank_from(keyword.start(), end, if ends_statement { b';' } else { b' ' });
    }

    /// Replaces `<T>` before an expression by parentheses: the expression may begin with `{` or `function`, which
    /// without the type would start a block or a declaration, and the type may contain a newline, which must not follow
    /// `return`.
    pub(super) fn type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.edits.blank_from(it.span.start, it.expression.span().start, b'(');
        self.visit_expression(&it.expression);
        self.uses.same(it.expression.span(), it.span);
        self.edits.insert(it.span.end, ")");
    }

    /// Keeps `import('literal')` and refuses `import(anything else)`.
    pub(super) fn dynamic_import(&mut self, it: &ImportExpression<'a>) {
        if it.phase.is_some() {
            self.refuse_phase(it.span.start);
            return;
        }
        let Some((specifier, span)) = literal(&it.source) else {
            if matches!(self.kind, SourceKind::Package | SourceKind::CommonJs) {
                // A computed import of a package fails in the engine, when it runs.
                self.visit_expression(&it.source);
                return;
            }
            self.refuse(Fault {
                code: IMPORT_DENIED,
                message: "the module of `import()` must be a string literal".to_owned(),
                start: Some(it.source.span().start),
                hint: Some(
                    "write the module's name in the call, as in `await import('./data.ts')`, so that what a script \
                     reaches is known before it runs"
                        .to_owned(),
                ),
            });
            return;
        };
        self.visit_expression(&it.source);
        if let Some(options) = &it.options {
            self.edits.blank(it.source.span().end, options.span().end);
        }
        let names = vec![(ImportedName::Namespace, it.span.start)];
        self.uses.export(specifier, None, it.span.start);
        self.site(specifier.to_owned(), span, names, true);
    }

    /// Records an import and replaces its literal by the resolved name.
    pub(in super::super) fn site(
        &mut self,
        specifier: String,
        span: Span,
        names: Vec<(ImportedName, u32)>,
        dynamic: bool,
    ) {
        let index = self.sites.len();
        let start = span.start;
        self.sites.push(Site { specifier, start, dynamic, is_required: false, is_optional: dynamic, names });
        self.edits.specifier(span.start, span.end, index);
    }

    /// Refuses `import defer` and `import source`.
    pub(in super::super) fn refuse_phase(&mut self, start: u32) {
        self.refuse(Fault::syntax(start, "`import defer` and `import source` are not supported", "use a plain import"));
    }
}

/// Returns the text of a string literal, through types and parentheses around it.
pub(in super::super) fn literal<'a>(expression: &Expression<'a>) -> Option<(&'a str, Span)> {
    match expression {
        Expression::StringLiteral(it) if !it.lone_surrogates => Some((it.value.as_str(), it.span)),
        Expression::TemplateLiteral(it) if it.expressions.is_empty() => {
            let quasi = it.quasis.first().filter(|quasi| !quasi.lone_surrogates)?;
            Some((quasi.value.cooked.as_ref()?.as_str(), it.span))
        }
        Expression::ParenthesizedExpression(it) => literal(&it.expression),
        Expression::TSAsExpression(it) => literal(&it.expression),
        Expression::TSSatisfiesExpression(it) => literal(&it.expression),
        Expression::TSNonNullExpression(it) => literal(&it.expression),
        Expression::TSTypeAssertion(it) => literal(&it.expression),
        _ => None,
    }
}
