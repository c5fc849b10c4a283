//! What is refused, where, and what to do about it.

use super::{file, refusal};

const LITERAL: &str = "write it as a literal, or as the name of a `const` of this file or one beside it that is one";

#[test]
fn values_that_would_have_to_be_run() {
    let cases = [
        ("describe()", "a call stands where a literal value is needed"),
        ("`a ${name}`", "a template with substitutions stands where a literal value is needed"),
        ("'a' + 'b'", "an operation stands where a literal value is needed"),
        ("-name", "an operation stands where a literal value is needed"),
        ("texts.a", "`texts.a` is not a `const` of this file that is a literal"),
        ("texts['a']", "a member of an object stands where a literal value is needed"),
        ("() => 'a'", "a function stands where a literal value is needed"),
        ("a ? 'b' : 'c'", "a conditional stands where a literal value is needed"),
        ("/a/", "a regular expression stands where a literal value is needed"),
        ("10n", "a bigint stands where a literal value is needed"),
        ("missing", "`missing` is not a `const` of this file that is a literal"),
        ("changing", "`changing` is not a `const` of this file that is a literal"),
        ("imported", "`imported` is imported, and 'texts' is not a file of the definition's folder"),
    ];
    for (value, expected) in cases {
        let declarations = "import { imported } from 'texts'; let changing = 'a';";
        let (place, message, fix) = refusal(&file(declarations, &format!("description: {value}")));
        assert_eq!((place.as_str(), message.as_str(), fix.as_str()), ("3:67", expected, LITERAL), "{value}");
    }
}

#[test]
fn definitions_that_are_not_whole() {
    let tool = |body: &str| format!("import {{ defineTool }} from '@agent-spaces/capabilities';\n{body}\n");
    let cases = [
        ("const x = 1;", "1:1", "the file exports no tool"),
        ("const x = defineTool({});", "2:11", "a tool is not exported, so nothing can find it"),
        ("export const x = defineTool();", "2:18", "`defineTool` takes one object"),
        ("export const x = defineTool(make());", "2:29", "a call stands where an object literal is needed"),
        ("export default defineTool({ functions: {} });", "2:16", "a tool that is the default export has no name"),
        ("export const x = defineTool({ name: 5 });", "2:37", "`name` is not a string"),
        ("export const x = defineTool({ name: '' });", "2:18", "the tool's `name` is empty"),
        ("export const x = defineTool({ functions: {} });", "2:18", "the tool `x` has no functions"),
        ("export const x = defineTool({ function: {} });", "2:31", "`function` is not known here"),
        (
            "export const x = defineTool({ functions: { a: 5 } });",
            "2:47",
            "a number stands where an object literal is needed",
        ),
        ("export const x = defineTool({ functions: { a: {} } });", "2:44", "the function `a` has no `handler`"),
        (
            "export const x = defineTool({ functions: { a: { handler: 'a' } } });",
            "2:58",
            "the `handler` of the function `a` is a string and not a function",
        ),
        (
            "export const x = defineTool({ functions: { a: { handler, input: {} } } });",
            "2:58",
            "`input` is not known here",
        ),
        (
            "export const x = defineTool({ functions: { a: { handler }, a: { handler } } });",
            "2:60",
            "`a` is written twice in one object",
        ),
        (
            "export const x = defineTool({ functions: { get a() { return {} } } });",
            "2:48",
            "a getter or setter stands where a value is needed",
        ),
        ("export const x = defineTool({ functions: { [a]: {} } });", "2:45", "the name of a member is computed"),
        (
            "export const x = defineTool({ config: { rateLimit: { requests: 0, period: 'day' } } });",
            "2:41",
            "a rate limit of no requests",
        ),
        ("type A = 1; type A = 2;", "2:13", "the type `A` is declared twice"),
        ("export const x = ;", "2:18", "Unexpected token"),
    ];
    for (body, place, expected) in cases {
        let (at, message, fix) = refusal(&tool(body));
        assert_eq!((at.as_str(), message.as_str()), (place, expected), "{body}");
        assert!(!fix.is_empty(), "{body}");
    }
}

#[test]
fn settings_that_are_wrong() {
    let cases = [
        ("requiresApproval: 'yes'", "3:54", "`requiresApproval`: invalid type: string \"yes\", expected a boolean"),
        (
            "rateLimit: { requests: 1, period: 'week' }",
            "3:54",
            "`rateLimit`: unknown variant `week`, expected one of `second`, `minute`, `hour`, `day`",
        ),
        (
            "config: { approval: true }",
            "3:64",
            "`approval`: unknown field `approval`, expected one of `requiresApproval`, `approvalMessage`, `rateLimit`, `scopes`",
        ),
        ("requiresApproval: true, config: { requiresApproval: false }", "3:88", "`requiresApproval` is given twice"),
        ("approvalMessage: message()", "3:71", "a call stands where a literal value is needed"),
    ];
    for (members, place, expected) in cases {
        let (at, message, fix) = refusal(&file("", members));
        assert_eq!((at.as_str(), message.as_str()), (place, expected), "{members}");
        assert!(!fix.is_empty());
    }
}

#[test]
fn two_tools_of_one_name() {
    let text = "import { defineTool } from '@agent-spaces/capabilities';\n\
                export const a = defineTool({ name: 'x', functions: { f: { handler: f } } });\n\
                export const b = defineTool({ name: 'x', functions: { f: { handler: f } } });\n";
    let (place, message, fix) = refusal(text);
    assert_eq!((place.as_str(), message.as_str()), ("3:18", "two tools of this file are called `x`"));
    assert_eq!(fix, "give one of them another `name`");
}

#[test]
fn a_defined_tool_of_another_module_is_none() {
    let text = "import { defineTool } from './mine';\nexport const a = defineTool({ functions: {} });\n";
    let (_, message, fix) = refusal(text);
    assert_eq!(message, "the file exports no tool");
    assert!(fix.contains("'@agent-spaces/capabilities'"));
}
