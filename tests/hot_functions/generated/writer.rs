//! Writer of random programs: many functions, each called with many arguments, with all that happens in one value.

use std::fmt::Write as _;

/// Functions of a program.
pub(crate) const FUNCTIONS: usize = 40;

/// Statements in one another.
const MAX_DEPTH: u32 = 3;

/// Prelude of each script. `show` tells all values apart; `spent` ends what runs too long, by an error that is caught.
const BEGIN: &str = "const log = []; let steps = 0, g0 = 1, g1 = -2.5, g2 = 2147483647;
const show = (v) => { switch (typeof v) {
    case 'number': return Object.is(v, -0) ? '-0' : String(v);
    case 'bigint': return v + 'n';
    case 'string': return JSON.stringify(v.slice(0, 40)) + v.length;
    case 'object': return v === null ? 'null' : Array.isArray(v) ? '[' + Array.from(v.slice(0, 9), show) + ']' + v.length
        : ArrayBuffer.isView(v) ? v.constructor.name + v.join() : v instanceof Error ? v.name + ': ' + v.message : 'object';
    case 'function': return v.name;
    default: return String(v) } };
const spent = () => { if (++steps > 500) { steps = 0; throw new RangeError('spent') } return 1 };
const thing = { get n() { return ++g0 }, valueOf() { g0 += 3; return g0 % 7 }, toString() { return 'thing' } };
const thrower = { valueOf() { throw new TypeError('no value') } };
const fresh = (n) => [[1, 2, 3, 4, 5], [1, , 3.5, 'x', -0], new Int32Array([7, -8, 9]), new Float64Array([0.5, NaN]), new Uint8ClampedArray(3),
    'text', { length: 3, 0: 4, 1: '5' }, [thing, [1], null]][n & 7];
function* gen(n) { let s = 0; for (let i = 0; i < n; i++) { s += i; const x = yield s; if (x) s = x } return s }
";

/// Values that functions are called with.
const VALUES: [&str; 30] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "31",
    "1000003",
    "2147483647",
    "-2147483648",
    "2147483648",
    "4294967295",
    "0.5",
    "-1.25",
    "NaN",
    "Infinity",
    "1e300",
    "9007199254740993",
    "true",
    "null",
    "undefined",
    "'12'",
    "'x'",
    "5n",
    "thing",
    "thrower",
    "fresh(0)",
    "fresh(1)",
    "fresh(2)",
    "fresh(3)",
];

struct Writer {
    state: u64,
    text: String,
    /// Number of the function in work, of its loops, and of the labels around.
    function: usize,
    loops: usize,
    around: usize,
    /// True for a function that only calculates.
    is_plain: bool,
    /// True for one that assigns to its arguments: it stays interpreted.
    is_assigning: bool,
}

/// Writes the program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut writer = Writer {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        text: BEGIN.to_owned(),
        function: 0,
        loops: 0,
        around: 0,
        is_plain: true,
        is_assigning: false,
    };
    for function in 0..FUNCTIONS {
        writer.function = function;
        writer.is_plain = writer.below(4) > 0;
        writer.function();
    }
    writer.calls();
    writer.text
}

impl Writer {
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64, which says so little that it needs no crate.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % limit
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn function(&mut self) {
        let mode = self.of(&["", "", "'use strict'; "]);
        let rest = if self.is_plain { "" } else { self.of(&["", "", ", ...rest", ", e = a"]) };
        let mode = if rest.is_empty() { mode } else { "" };
        let name = self.function;
        self.is_assigning = self.below(8) == 0;
        self.loops = 0;
        let begin = match self.below(3) {
            // Its first block is a loop.
            0 => self.of(&[
                "while (spent() && --g0 > 0);",
                "while (spent() && ++g1 < 3);",
                "while (spent() && steps < 9);",
            ]),
            _ => "spent();",
        };
        let _ = writeln!(self.text, "function f{name}(a, b, c, d{rest}) {{ {mode}{begin}");
        let (x, y) = (self.literal(), self.literal());
        let _ = writeln!(self.text, "let x = {x}, y = {y}, z = 0, u;");
        for _ in 0..2 + self.below(3) {
            self.statement(0);
        }
        let result = self.expression(0);
        let _ = writeln!(self.text, "return {result} }}");
    }

    fn literal(&mut self) -> &'static str {
        self.of(&[
            "0",
            "1",
            "2",
            "-1",
            "3",
            "10",
            "255",
            "1023",
            "2147483647",
            "-2147483648",
            "0.5",
            "-0",
            "1e10",
            "65536",
        ])
    }

    fn variable(&mut self) -> &'static str {
        self.of(&["a", "b", "c", "x", "y", "z", "x", "y", "z", "u", "g0", "g1", "g2"])
    }

    /// A variable that is assigned.
    fn assigned(&mut self) -> &'static str {
        let choices = ["x", "y", "z", "x", "y", "z", "u", "g0", "g1", "g2", "a", "b", "c"];
        let count = if self.is_assigning { choices.len() } else { choices.len() - 3 };
        choices[self.below(count)]
    }

    /// An array or what is taken for one.
    fn array(&mut self) -> &'static str {
        self.of(&["d", "d", "d", "d", "d", "c", "z"])
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth > 3 {
            return if self.below(3) == 0 { self.literal().to_owned() } else { self.variable().to_owned() };
        }
        let kinds = if self.is_plain { 17 } else { 26 };
        match self.below(kinds) {
            0..=2 => self.variable().to_owned(),
            3 => self.literal().to_owned(),
            4..=7 => {
                let operator = self.of(&["+", "-", "*", "+", "-", "/", "%", "%", "**"]);
                let operator = if operator == "**" && self.is_plain { "*" } else { operator };
                let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
                format!("(({left}) {operator} ({right}))")
            }
            8 | 9 => {
                let operator = self.of(&["&", "|", "^", "<<", ">>", ">>>"]);
                let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
                format!("({left} {operator} {right})")
            }
            10 => {
                let operator = self.of(&["<", "<=", ">", ">=", "==", "!=", "===", "!=="]);
                let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
                format!("({left} {operator} {right})")
            }
            11 => {
                let operator = self.of(&["-", "+", "~", "!"]);
                let operand = self.expression(depth + 1);
                format!("({operator}({operand}))")
            }
            12 => {
                let (array, index) = (self.array(), self.expression(depth + 2));
                format!("{array}[{index}]")
            }
            13 => {
                let (array, rest) = (self.array(), self.literal());
                format!("({array}.length + {rest})")
            }
            14 => {
                let (test, yes, no) =
                    (self.expression(depth + 1), self.expression(depth + 1), self.expression(depth + 1));
                format!("({test} ? {yes} : {no})")
            }
            15 => {
                let form = self.below(4);
                let variable = if form < 2 { self.assigned() } else { self.variable() };
                match form {
                    0 => format!("{variable}++"),
                    1 => format!("--{variable}"),
                    2 => format!("({variable} === {})", self.of(&["null", "undefined", "true", "0"])),
                    _ => format!("({variable} ?? {})", self.literal()),
                }
            }
            16 => self.call(depth),
            17 => format!("`${{{}}}`", self.variable()),
            18 => format!("({} + '')", self.variable()),
            19 => format!("typeof {}", self.variable()),
            20 => self
                .of(&["thing.n", "thing", "[x, y]", "[...fresh(y)]", "rest", "arguments.length", "this"])
                .replace("rest", "x"),
            21 => format!("Math.{}({})", self.of(&["floor", "abs", "sign", "fround", "clz32"]), self.variable()),
            22 => format!("[1, 2, {}].map((n) => n + {})", self.variable(), self.variable()),
            23 => format!("(() => {{ {} = {}; return u }})()", self.assigned(), self.literal()),
            24 => format!("gen({}).next().value", self.of(&["2", "3", "x & 3"])),
            _ => format!("fresh({})", self.variable()),
        }
    }

    fn call(&mut self, depth: u32) -> String {
        if self.function == 0 {
            return self.variable().to_owned();
        }
        // Itself, too: `spent` ends that.
        let function = if self.below(6) == 0 { self.function } else { self.below(self.function) };
        let mut arguments = Vec::new();
        for _ in 0..self.below(6) {
            arguments.push(self.expression(depth + 2));
        }
        format!("f{function}({})", arguments.join(", "))
    }

    fn statement(&mut self, depth: u32) {
        let kinds = if self.is_plain { 11 } else { 17 };
        let kind = if depth >= MAX_DEPTH { self.below(4) } else { self.below(kinds) };
        match kind {
            0 | 1 => {
                let (variable, operator) =
                    (self.assigned(), self.of(&["=", "=", "+=", "-=", "*=", "|=", "&=", "^=", "%=", "<<=", ">>>="]));
                let value = self.expression(1);
                let _ = writeln!(self.text, "{variable} {operator} {value};");
            }
            2 => {
                let (array, index, value) = (self.array(), self.expression(2), self.expression(1));
                let operator = self.of(&["=", "=", "=", "+=", "^="]);
                let index = if self.below(2) == 0 { format!("{index} & 7") } else { index };
                let _ = writeln!(self.text, "{array}[{index}] {operator} {value};");
            }
            3 => {
                let call = self.call(1);
                let _ = writeln!(self.text, "{call};");
            }
            4..=6 => self.repeat(depth),
            7 | 8 => {
                let test = self.expression(1);
                let _ = writeln!(self.text, "if ({test}) {{");
                self.statement(depth + 1);
                self.text.push_str("} else {\n");
                self.statement(depth + 1);
                self.text.push_str("}\n");
            }
            9 => {
                let (value, first, second) = (self.expression(1), self.literal(), self.literal());
                let _ = writeln!(self.text, "switch ({value}) {{ case {first}:");
                self.statement(depth + 1);
                let end = self.of(&["", "break;"]);
                let _ = writeln!(self.text, "{end} case {second}:");
                self.statement(depth + 1);
                self.text.push_str("default: z++ }\n");
            }
            10 if self.around > 0 => self.jump(),
            10 => {
                let value = self.expression(1);
                let _ = writeln!(self.text, "if (z > 50) return {value};");
            }
            11 => {
                self.text.push_str("try {\n");
                self.statement(depth + 1);
                self.text.push_str("} catch (e) { u = e; ");
                self.statement(depth + 1);
                let end = self.of(&["}", "} finally { y = 1 }", "} finally { z += 2 }"]);
                let _ = writeln!(self.text, "{end}");
            }
            12 => {
                let (test, value) = (self.expression(1), self.expression(2));
                let _ = writeln!(self.text, "if ({test}) throw {value};");
            }
            13 => {
                let (variable, other) = (self.variable(), self.variable());
                let _ = writeln!(self.text, "for (const v of [{variable}, 2, {other}]) {{ z += v; spent();");
                self.statement(depth + 1);
                self.text.push_str("}\n");
            }
            14 => {
                let value = self.variable();
                let _ = writeln!(self.text, "{{ let k = {value}; const add = () => k++; add(); u = add }}");
            }
            15 => {
                let variable = self.assigned();
                let _ = writeln!(self.text, "({{ q: {variable} = {variable} }} = {{}});");
            }
            _ => {
                let value = self.variable();
                let _ = writeln!(self.text, "log.push(show({value})); if (log.length > 300) log.length = 0;");
            }
        }
    }

    fn repeat(&mut self, depth: u32) {
        let (number, turns) = (self.loops, 2 + self.below(12));
        self.loops += 1;
        let begin = match self.below(4) {
            0 => format!("l{number}: for (let i{number} = {turns}; i{number} > 0; i{number}--) {{"),
            1 => format!("let i{number} = 0; l{number}: while (i{number}++ < {turns}) {{"),
            2 => format!("let i{number} = 0; l{number}: do {{"),
            _ => format!("l{number}: for (let i{number} = 0; i{number} < {turns}; i{number}++) {{"),
        };
        let is_until = begin.ends_with("do {");
        let _ = writeln!(self.text, "{begin} spent();");
        let use_of = self.of(&["z = z + ", "x = x ^ ", "y = y + ", "z = "]);
        let _ = writeln!(self.text, "{use_of}i{number};");
        self.around += 1;
        let outer = self.loops;
        for _ in 0..1 + self.below(3) {
            self.statement(depth + 1);
        }
        self.around -= 1;
        debug_assert!(self.loops >= outer);
        let end = if is_until { format!("}} while (++i{number} < {turns});") } else { "}".to_owned() };
        let _ = writeln!(self.text, "{end}");
    }

    fn jump(&mut self) {
        let (test, jump) = (self.expression(2), self.of(&["break", "continue"]));
        let _ = writeln!(self.text, "if ({test}) {jump};");
    }

    fn calls(&mut self) {
        self.text.push_str(
            "const out = []; const call = (f, ...a) => { steps = 0; try { out.push(show(f(...a))) } catch (e) {\n\
            out.push('!' + show(e) + (e instanceof Error ? e.stack : '')) } };\n",
        );
        for function in 0..FUNCTIONS {
            for _ in 0..8 {
                let values: Vec<&str> = (0..3).map(|_| self.of(&VALUES)).collect();
                let array = self.below(8);
                let _ = writeln!(self.text, "call(f{function}, {}, fresh({array}));", values.join(", "));
            }
        }
        self.text.push_str("[out, log, show(g0), show(g1), show(g2)]\n");
    }
}
