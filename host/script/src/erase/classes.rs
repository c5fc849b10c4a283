//! Classes and their members.

use oxc_ast::ast::{
    Class, ClassElement, ClassType, MethodDefinition, MethodDefinitionKind, MethodDefinitionType, PropertyDefinition,
    PropertyDefinitionType, PropertyKey,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_parser::Kind;
use oxc_span::GetSpan as _;
use oxc_syntax::scope::ScopeFlags;

use super::super::fault::Fault;
use super::Eraser;

impl<'a> Eraser<'a, '_> {
    pub(super) fn class(&mut self, it: &Class<'a>) {
        for token in self.tokens.between(it.span.start, it.body.span.start) {
            match token.kind() {
                Kind::Abstract | Kind::Declare => self.edits.blank(token.start(), token.end()),
                Kind::Class => break,
                _ => {}
            }
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last())
            && let Some(keyword) = self.tokens.before(first.span.start)
        {
            self.edits.blank(keyword.start(), last.span.end);
        }
        // The name of a class expression is known inside it only.
        let is_expression = it.r#type == ClassType::ClassExpression;
        if is_expression {
            self.scopes.enter(false);
        }
        let var = std::mem::replace(&mut self.declaring_var, false);
        self.visit_decorators(&it.decorators);
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        if let Some(parameters) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(parameters);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_class_heritage(heritage);
        }
        for element in &it.body.body {
            self.class_element(element);
            if let ClassElement::MethodDefinition(method) = element
                && method.kind == MethodDefinitionKind::Constructor
            {
                self.parameter_properties(&method.value, it.body.span.start, it.heritage.is_some());
            }
        }
        self.declaring_var = var;
        if is_expression {
            self.scopes.leave();
        }
    }

    pub(super) fn class_element(&mut self, it: &ClassElement<'a>) {
        let is_erased = match it {
            ClassElement::StaticBlock(_) => false,
            ClassElement::TSIndexSignature(_) => true,
            ClassElement::MethodDefinition(method) => {
                method.r#type == MethodDefinitionType::TSAbstractMethodDefinition || method.value.body.is_none()
            }
            ClassElement::PropertyDefinition(property) => {
                property.declare || property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
            }
            ClassElement::AccessorProperty(accessor) => {
                if !accessor.r#type.is_abstract() {
                    self.refuse(Fault::syntax(
                        accessor.span.start,
                        "`accessor` fields are not supported",
                        "use a plain field, or a getter and a setter",
                    ));
                }
                true
            }
        };
        if is_erased {
            let decorators = match it {
                ClassElement::MethodDefinition(method) => method.decorators.as_slice(),
                ClassElement::PropertyDefinition(property) => property.decorators.as_slice(),
                _ => &[],
            };
            for decorator in decorators {
                self.visit_decorator(decorator);
            }
            self.remove(it.span().start, it.span().end);
        } else {
            walk::walk_class_element(self, it);
        }
    }

    pub(super) fn method(&mut self, it: &MethodDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.member_modifiers(it.span.start, it.key.span().start);
        self.visit_property_key(&it.key);
        if it.optional {
            let end = key_end(&it.key, it.computed, self);
            if let Some(question) = self.tokens.at_kind(end, Kind::Question) {
                self.edits.blank(question.start(), question.end());
            }
        }
        self.visit_function(&it.value, ScopeFlags::Function);
    }

    pub(super) fn property(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.member_modifiers(it.span.start, it.key.span().start);
        self.visit_property_key(&it.key);
        let start = key_end(&it.key, it.computed, self);
        let mark = self.tokens.at(start).filter(|token| matches!(token.kind(), Kind::Question | Kind::Bang));
        let annotation = it.type_annotation.as_ref().map(|annotation| annotation.span);
        let from = mark.map(|token| token.start()).or(annotation.map(|span| span.start));
        let to = annotation.map(|span| span.end).or(mark.map(|token| token.end()));
        if let (Some(from), Some(to)) = (from, to) {
            // A field without a value ends here: `get: T` ⏎ `x() {}` must not become a getter.
            self.edits.blank_from(from, to, if it.value.is_none() { b';' } else { b' ' });
        }
        if let Some(value) = &it.value {
            self.function_depth += 1;
            self.visit_expression(value);
            self.function_depth -= 1;
        }
    }

    /// Erases the modifiers before a member's name. A semicolon takes the place of the first token, lest the member
    /// continue the one before: `a = 1` ⏎ `public [b] = 2`.
    fn member_modifiers(&mut self, start: u32, name: u32) {
        for token in self.tokens.between(start, name) {
            let is_modifier = matches!(
                token.kind(),
                Kind::Public
                    | Kind::Private
                    | Kind::Protected
                    | Kind::Readonly
                    | Kind::Override
                    | Kind::Abstract
                    | Kind::Declare
            );
            if is_modifier {
                let first = if token.start() == start { b';' } else { b' ' };
                self.edits.blank_from(token.start(), token.end(), first);
            }
        }
    }
}

/// Returns the end of a member's name, its bracket included.
fn key_end(key: &PropertyKey<'_>, computed: bool, eraser: &Eraser<'_, '_>) -> u32 {
    let end = key.span().end;
    if !computed {
        return end;
    }
    eraser.tokens.at_kind(end, Kind::RBrack).map_or(end, |bracket| bracket.end())
}
