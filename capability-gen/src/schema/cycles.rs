//! Circular references without content (`a` is `b`, `b` is `a`): they constrain nothing, so they are cut.

use super::document::ROOT;
use super::keywords;
use super::normal::Normal;
use super::notes::{Notes, Path};
use serde_json::Value;
use std::collections::HashMap;

/// Replaces each reference that leads back to its own definition through schemas for the same value only by a schema
/// that allows any value.
pub(super) fn cut(normal: &mut Normal, notes: &mut Notes<'_>) {
    let (keys, edges) = graph(normal, in_place_references);
    let components = components(&edges);
    let numbers: HashMap<&str, usize> = keys.iter().enumerate().map(|(number, key)| (key.as_str(), number)).collect();
    for (number, key) in keys.iter().enumerate() {
        let is_round = edges[number].iter().any(|to| components[*to] == components[number]);
        if !is_round {
            continue;
        }
        let is_same = |to: &str| numbers.get(to).is_some_and(|to| components[*to] == components[number]);
        let schema = if key == ROOT { Some(&mut normal.root) } else { normal.definitions.get_mut(key) };
        if let Some(schema) = schema {
            remove_references(schema, &is_same);
        }
        let folder = Path::Key(&Path::Root, "$defs");
        let path = if key == ROOT { Path::Root } else { Path::Key(&folder, key) };
        notes.add(&path, "circular `$ref` without content: read as any value");
    }
}

pub(super) fn in_place_references(schema: &Value, found: &mut dyn FnMut(&str)) {
    let Value::Object(map) = schema else { return };
    if let Some(key) = map.get("$ref").and_then(Value::as_str) {
        found(key);
    }
    keywords::in_place(map).for_each(|part| in_place_references(part, found));
}

fn remove_references(schema: &mut Value, is_same: &dyn Fn(&str) -> bool) {
    let Value::Object(map) = schema else { return };
    if map.get("$ref").and_then(Value::as_str).is_some_and(is_same) {
        map.shift_remove("$ref");
    }
    keywords::for_each_child_mut(map, |keyword, child| {
        let is_in_place = keywords::IN_PLACE_ONE.contains(&keyword)
            || keywords::IN_PLACE_LIST.contains(&keyword)
            || keyword == "dependentSchemas";
        if is_in_place {
            remove_references(child, is_same);
            if child.as_object().is_some_and(serde_json::Map::is_empty) && keyword == "not" {
                // `not` of any value would allow nothing.
                *child = Value::Bool(false);
            }
        }
    });
}

/// Graph of references: definitions by index, the root first, and their edges.
pub(super) fn graph(
    normal: &Normal,
    references: impl Fn(&Value, &mut dyn FnMut(&str)),
) -> (Vec<String>, Vec<Vec<usize>>) {
    let mut keys = vec![ROOT.to_owned()];
    keys.extend(normal.definitions.keys().cloned());
    let numbers: HashMap<&str, usize> = keys.iter().enumerate().map(|(number, key)| (key.as_str(), number)).collect();
    let edges = keys.iter().map(|key| {
        let mut out = Vec::new();
        if let Some(schema) = normal.get(key) {
            references(schema, &mut |to| out.extend(numbers.get(to)));
        }
        out
    });
    let edges = edges.collect();
    (keys, edges)
}

/// Tarjan's strongly connected components, without recursion: a component number for each node, smaller for nodes that
/// others refer to.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = edges.len();
    let (mut order, mut low, mut component) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
    let (mut next_order, mut next_component) = (0, 0);
    let mut open = Vec::new();
    for start in 0..count {
        if order[start] != NONE {
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((node, step)) = calls.last_mut() {
            let node = *node;
            if *step == 0 {
                order[node] = next_order;
                low[node] = next_order;
                next_order += 1;
                open.push(node);
            }
            if let Some(to) = edges[node].get(*step).copied() {
                *step += 1;
                if order[to] == NONE {
                    calls.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
        }
    }
    component
}
