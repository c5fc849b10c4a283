//! Roles of keywords in nesting.

/// Words that are never part of an expression.
pub(crate) fn starts_statement(word: &[u8]) -> bool {
    matches!(word, b"const" | b"var" | b"export" | b"if" | b"for" | b"return" | b"throw" | b"switch" | b"try" | b"do")
}

/// Words that may stand before a parameter.
pub(crate) fn is_modifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"public"
            | b"private"
            | b"protected"
            | b"readonly"
            | b"static"
            | b"abstract"
            | b"override"
            | b"async"
            | b"declare"
            | b"const"
            | b"export"
            | b"default"
            | b"accessor"
            | b"in"
            | b"out"
    )
}

/// Role of a word in its chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A name or literal.
    Operand,
    /// Continues what is before it, even on another line or after a block.
    Continues,
    /// Starts a statement with a head in parentheses and a body that may be such a statement again.
    Head,
    /// Starts a statement whose body may be such a statement again.
    Statement,
    /// Starts a clause of a `switch`, side by side with the others.
    Clause,
    /// Needs an operand or a declaration after it.
    Reserved,
    /// Such a word, or a name.
    Contextual,
}

/// Returns the role of a word that does not follow a dot.
pub(crate) fn role(word: &[u8]) -> Role {
    // `implements` is the longest.
    if word.len() > 10 {
        return Role::Operand;
    }
    match word {
        b"else" | b"while" | b"catch" | b"finally" | b"as" | b"satisfies" | b"in" | b"instanceof" | b"of" | b"is"
        | b"extends" | b"implements" | b"from" => Role::Continues,
        b"if" | b"for" | b"with" | b"switch" => Role::Head,
        // The parentheses of `for await (…)`.
        b"await" => Role::Head,
        b"do" | b"try" => Role::Statement,
        b"case" => Role::Clause,
        b"return" | b"throw" | b"typeof" | b"void" | b"delete" | b"new" | b"class" | b"function" | b"export"
        | b"import" | b"enum" | b"yield" => Role::Reserved,
        b"async" | b"abstract" | b"asserts" | b"declare" | b"keyof" | b"unique" | b"readonly" | b"infer"
        | b"namespace" | b"module" | b"type" | b"interface" | b"get" | b"set" | b"static" | b"accessor" | b"using"
        | b"out" | b"override" | b"public" | b"private" | b"protected" | b"global" | b"let" | b"const" | b"var"
        | b"default" | b"defer" | b"source" | b"assert" => Role::Contextual,
        _ => Role::Operand,
    }
}
