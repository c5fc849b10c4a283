//! Size limits of schemas, which are hostile input.

/// JSON values in one schema document. The largest of 3,243 real tools has 1,738, and the types of a whole OpenAPI
/// document rarely exceed 50,000.
pub(crate) const MAX_VALUES: usize = 100_000;

/// Nesting of schemas, references not counted. About the depth that the JSON parser's limit of 128 levels allows.
/// Bounds recursion, so that it fits on any thread's stack.
pub(crate) const MAX_DEPTH: usize = 64;

/// Merges of one part into copies of itself, where `allOf` contains a recursive definition.
pub(crate) const MAX_INLINING: usize = 3;

/// Values copied while `allOf` parts are merged, and schemas visited while types are built, in one schema. A few times
/// the size of any honest schema; stops exponential growth.
pub(crate) const MAX_WORK: usize = 400_000;

/// Branches of one union. Comparing them with each other is quadratic.
pub(crate) const MAX_BRANCHES: usize = 500;

/// Notes for one schema: enough to see what is wrong with it.
pub(crate) const MAX_NOTES: usize = 50;

/// Letter comparisons spent on suggestions for misspelt names in one schema. A typo among a thousand names of a dozen
/// letters takes 150,000; schemas of thousands of long unknown names would take quadratic time. Beyond this, unknown
/// names are still reported, without a suggestion.
pub(crate) const MAX_COMPARED_LETTERS: usize = 2_000_000;

/// Bytes of compiled patterns that are checked in one module: some four thousand ordinary ones, or a second of work on
/// large ones. The others are checked when their function is first called.
pub(crate) const PATTERN_ROOM: usize = 64 << 20;

/// Characters of a pattern shown in documentation.
pub(crate) const MAX_LIMIT_TEXT: usize = 120;

/// Parts of one `allOf` that are merged; each is compared with all previous ones.
pub(crate) const MAX_PARTS: usize = 64;

/// Schemas that apply to one value, references followed; a validator visits them all. A union of a hundred types of an
/// API is far below it.
pub(crate) const MAX_EXPANDED: usize = 50_000;

/// Chain of schemas that apply to one value; bounds the validator's stack.
pub(crate) const MAX_CHAIN: usize = 200;
