//! How much of a schema is read. Schemas are hostile input; each bound says what it keeps small.

/// JSON values in one schema document. The largest of 3,243 real tools has 1,738, and a whole OpenAPI
/// document's types rarely pass 50,000; beyond this a server is wasting everybody's memory.
pub(crate) const MAX_VALUES: usize = 100_000;

/// Schemas inside schemas, references not counted. A JSON parser stops at 128 levels of JSON, which is about
/// as many as this; every walk recurses at most so deep, on a stack of any thread.
pub(crate) const MAX_DEPTH: usize = 64;

/// How often one part may be merged into copies of itself, where `allOf` meets a recursive definition.
pub(crate) const MAX_INLINING: usize = 3;

/// Values copied while `allOf` parts are merged, and schemas visited while types are made, in one schema.
/// Both are a few times the size of any honest schema; what would double itself on and on stops here.
pub(crate) const MAX_WORK: usize = 400_000;

/// Branches of one union. A person reads no more, and comparing them with each other is quadratic.
pub(crate) const MAX_BRANCHES: usize = 500;

/// Notes for one schema: enough to see what is wrong with it.
pub(crate) const MAX_NOTES: usize = 50;

/// Bytes of compiled patterns that are tried out in one module: some four thousand ordinary ones, or a second's work of
/// large ones. What is not tried is checked when its function is first called.
pub(crate) const PATTERN_ROOM: usize = 64 << 20;

/// Characters of a pattern shown in a limit's text.
pub(crate) const MAX_LIMIT_TEXT: usize = 120;

/// Parts of one `allOf` that are merged; each is compared with all that came before.
pub(crate) const MAX_PARTS: usize = 64;

/// Schemas that decide on one value, references followed: a validator visits them all. A union of some hundred
/// types of an API is far below it.
pub(crate) const MAX_UNFOLDED: usize = 50_000;

/// Schemas that lie behind one another for one value: a validator's stack holds them all.
pub(crate) const MAX_CHAIN: usize = 200;
