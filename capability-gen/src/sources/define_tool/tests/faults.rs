//! Refused definitions, with place and fix.

use super::{file, refusal};

const LITERAL: &str = "write it as a literal, or as the name of a `const` of this file or one beside it that is one";

#[test]
fn values_that_are_not_literals() {
    let cases = [
        ("describe()", "expected a literal value, found a call"),
        ("`a ${name}`", "expected a literal value, found a template with substitutions"),
        ("'a' + 'b'", "expected a literal value, found an operation"),
        ("-name", "expected a literal value, found an operation"),
        ("texts.a", "`texts.a` is not a `const` of this file that is a literal"),
        ("texts['a']", "expected a literal value, found a member of an object"),
        ("() => 'a'", "expected a literal value, found a function"),
        ("a ? 'b' : 'c'", "expected a literal value, found a conditional"),
        ("/a/", "expected a literal value, found a regular expression"),
        ("10n", "expected a literal value, found a bigint"),
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
fn incomplete_definitions() {
    let tool = |body: &str| format!("import {{ defineTool }} from '@agent-spaces/capabilities';\n{body}\n");
    let cases = [
        ("const x = 1;", "1:1", "the file exports no tool"),
        ("const x = defineTool({});", "2:11", "the tool is not exported"),
        ("export const x = defineTool();", "2:18", "`defineTool` takes one object"),
        ("export const x = defineTool(make());", "2:29", "expected an object literal, found a call"),
        ("export default defineTool({ functions: {} });", "2:16", "a tool that is the default export has no name"),
        ("export const x = defineTool({ name: 5 });", "2:37", "`name` is not a string"),
        ("export const x = defineTool({ name: '' });", "2:18", "the tool's `name` is empty"),
        ("export const x = defineTool({ functions: {} });", "2:18", "the tool `x` has no functions"),
        ("export const x = defineTool({ function: {} });", "2:31", "unknown key `function`"),
        ("export const x = defineTool({ functions: { a: 5 } });", "2:47", "expected an object literal, found a number"),
        ("export const x = defineTool({ functions: { a: {} } });", "2:44", "the function `a` has no `handler`"),
        (
            "export const x = defineTool({ functions: { a: { handler: 'a' } } });",
            "2:58",
            "the `handler` of the function `a` is a string, not a function",
        ),
        ("export const x = defineTool({ functions: { a: { handler, input: {} } } });", "2:58", "unknown key `input`"),
        (
            "export const x = defineTool({ functions: { a: { handler }, a: { handler } } });",
            "2:60",
            "duplicate member `a` in one object",
        ),
        (
            "export const x = defineTool({ functions: { get a() { return {} } } });",
            "2:48",
            "expected a value, found a getter or setter",
        ),
        ("export const x = defineTool({ functions: { [a]: {} } });", "2:45", "the name of a member is computed"),
        (
            "export const x = defineTool({ config: { rateLimit: { requests: 0, period: 'day' } } });",
            "2:41",
            "a rate limit of zero requests",
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
        ("requiresApproval: true, config: { requiresApproval: false }", "3:88", "duplicate `requiresApproval`"),
        ("approvalMessage: message()", "3:71", "expected a literal value, found a call"),
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
    assert_eq!((place.as_str(), message.as_str()), ("3:18", "duplicate tool name `x` in this file"));
    assert_eq!(fix, "give one of them another `name`");
}

#[test]
fn define_tool_of_another_module_is_ignored() {
    let text = "import { defineTool } from './mine';\nexport const a = defineTool({ functions: {} });\n";
    let (_, message, fix) = refusal(text);
    assert_eq!(message, "the file exports no tool");
    assert!(fix.contains("'@agent-spaces/capabilities'"));
}
