//! Tests of [`Habits`](super::Habits).

use crate::checkable;
use crate::checkable::habits::Consumer;
use agent_spaces_types::position::Position;
use std::collections::{BTreeSet, HashSet};

/// The names at these positions.
fn names(code: &str, places: &HashSet<Position>) -> Vec<String> {
    let starts: BTreeSet<usize> = places.iter().map(|place| place.column as usize - 1).collect();
    let name = |start: usize| {
        let rest = &code[start..];
        rest[..rest.find(|it: char| !it.is_alphanumeric() && it != '.').unwrap_or(rest.len())].to_owned()
    };
    starts.into_iter().map(name).collect()
}

#[test]
fn written_members_are_found() {
    let code = "a.b = 1; a.c.d += 2; a.e++; delete a.f; [a.g, { h: a.i }] = x; for (a.j of y); a.read; a[k] = 1;";
    let habits = checkable(code, "f").unwrap().habits;
    assert_eq!(names(code, &habits.written), ["b", "d", "e", "f", "g", "i", "j", "k"]);
    assert_eq!(habits.filled, HashSet::from(["a".to_owned()]));
    let given = "Object.assign(row, { total: 1, rate }); 'extra' in row;";
    let mut given: Vec<String> = checkable(given, "f").unwrap().habits.given.into_iter().collect();
    given.sort();
    assert_eq!(given, ["extra", "rate", "total"]);
}

#[test]
fn tested_members_are_found() {
    let code = "a.b ?? a.c; if (a.d) a.x; !a.e; a.f?.g.h; a.i && a.y; const { j = 1, z } = a; a.k === null; a.l?.();";
    let asked = checkable(code, "f").unwrap().habits.asked;
    assert_eq!(names(code, &asked), ["b", "c", "d", "e", "f", "i", "j", "k", "l"]);
}

fn unawaited(code: &str) -> Vec<String> {
    let unawaited = checkable(code, "f").unwrap().habits.unawaited;
    let wrong = unawaited.iter().filter(|it| it.by == Consumer::Anything);
    names(code, &wrong.map(|it| it.call).collect())
}

#[test]
fn calls_whose_promise_is_used_as_a_value_are_found() {
    let code =
        "if (a.b()) 1; `${c()}`; d() + 1; !e(); f() && 1; (await g()) > 1; const h = i(); if (h) 1; j(); k() ?? 1;";
    assert_eq!(unawaited(code), ["a.b", "c", "d", "e", "f", "i"]);
    let members =
        "a.b().length; const c = d.e(); c.name; f()['x']; g()[0]; h()?.i; const { j } = k(); const [l] = m();";
    assert_eq!(unawaited(members), ["a.b", "d.e", "f", "g", "h", "k", "m"]);
    let whole = "for (const a of b()); for (const c in d()); [...e()]; f(...g()); ({ ...h() }); JSON.stringify({ i: i() }); \
                 switch (j()) {} k() === 'x'; new Set(l());";
    assert_eq!(unawaited(whole), ["b", "d", "e", "g", "h", "i", "j", "k", "l"]);
    for fine in [
        "const h = i(); await h;",
        "let h = i(); h = null; if (h) 1;",
        "const h = i(); function f(h) { return !h; }",
        "const h = await i(); if (h) 1;",
        "const h = i(); h.then(f); h.catch(g).finally(f); const { then } = i(); a() === b(); i()[Symbol.iterator];",
        "(await i()).length; for (const h of await i()); ({ ...(await i()) }); JSON.stringify(await i());",
        "i().map(f); i().filter(f); await Promise.all([i(), i()]);",
    ] {
        assert_eq!(unawaited(fine), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn arguments_of_calls_are_found() {
    let code = "a.b(c()); d({ e: [f()] }); const g = h(); i({ g });";
    let unawaited = checkable(code, "f").unwrap().habits.unawaited;
    let text = |place: Position| &code[place.column as usize - 1..][..1];
    let passed: Vec<_> = unawaited
        .iter()
        .filter_map(|it| if let Consumer::Call(to) = it.by { Some((text(it.call), text(to))) } else { None })
        .collect();
    assert_eq!(passed, [("c", "a"), ("f", "d"), ("h", "i")]);
}

#[test]
fn names_of_callees_are_found_by_position() {
    let code = "a.b.c(); d['e'](); f?.g(); h();";
    let callees = checkable(code, "f").unwrap().habits.callees;
    let columns = |column: u32| {
        let names = callees.get(&Position { line: 1, column })?;
        Some(names.iter().map(|name| name.column).collect::<Vec<_>>())
    };
    assert_eq!(columns(1), Some(vec![3, 5]));
    assert_eq!(columns(10), Some(vec![12]));
    assert_eq!(columns(20), Some(vec![23]));
    assert_eq!(columns(28), None);
}

/// Part of a secret would escape redaction.
#[test]
fn a_callee_is_shown_whole_or_not_at_all() {
    let callee = |code: &str| checkable(code, "f").unwrap().habits.unawaited.first().unwrap().callee.clone();
    assert_eq!(callee("if (crm\n  .find()) 1;").as_deref(), Some("crm .find"));
    assert_eq!(callee(&format!("if (crm.{}()) 1;", "a".repeat(76))).unwrap().len(), 80);
    assert_eq!(callee(&format!("if (crm.{}()) 1;", "a".repeat(77))), None);
    for code in ["if (crm['a  b']()) 1;", "if (crm[\"a\"]()) 1;", "if (crm[`a`]()) 1;"] {
        assert_eq!(callee(code), None, "{code}");
    }
}
