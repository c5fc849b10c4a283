//! Detection of recursive types, which need a `Box` or a newtype.

use crate::model::{Record, Rest, Type, Types};

/// Recursion groups of named types.
pub(super) struct Cycles {
    /// Groups by containment by value, which need a `Box`.
    by_value: Vec<usize>,
    /// True for types that contain themselves in any way, which cannot be aliases.
    is_recursive: Vec<bool>,
}

impl Cycles {
    pub(super) fn new(types: &Types) -> Cycles {
        let edges = |is_by_value: bool| -> Vec<Vec<usize>> {
            let of = |ty: &Type| {
                let mut targets = Vec::new();
                named(ty, is_by_value, &mut targets);
                targets.retain(|target| *target < types.0.len());
                targets
            };
            types.0.iter().map(|definition| of(&definition.ty)).collect()
        };
        let by_value = components(&edges(true));
        let all = edges(false);
        let component = components(&all);
        let mut sizes = vec![0_usize; types.0.len()];
        component.iter().for_each(|group| sizes[*group] += 1);
        let is_recursive =
            all.iter().enumerate().map(|(at, targets)| sizes[component[at]] > 1 || targets.contains(&at)).collect();
        Cycles { by_value, is_recursive }
    }

    /// Returns true if a value of `from` must box a value of `to`.
    pub(super) fn needs_box(&self, from: usize, to: usize) -> bool {
        self.by_value.get(from).is_some_and(|group| self.by_value.get(to) == Some(group))
    }

    pub(super) fn is_recursive(&self, at: usize) -> bool {
        self.is_recursive.get(at).copied().unwrap_or(false)
    }
}

/// The named types in a type; only those contained by value if `is_by_value` is set.
fn named(ty: &Type, is_by_value: bool, targets: &mut Vec<usize>) {
    let mut waiting = vec![ty];
    while let Some(ty) = waiting.pop() {
        match ty {
            Type::Named(id) => targets.push(id.0),
            Type::List(inner) | Type::Map(inner) if !is_by_value => waiting.push(inner),
            Type::Tuple { items, rest, .. } => {
                waiting.extend(items);
                waiting.extend(rest.as_deref());
            }
            Type::Record(Record { fields, rest }) => {
                waiting.extend(fields.iter().map(|field| &field.ty));
                if let (Rest::Declared(inner), false) = (rest, is_by_value) {
                    waiting.push(inner);
                }
            }
            Type::Union(variants) => waiting.extend(variants),
            _ => {}
        }
    }
}

/// Strongly connected components (Kosaraju), as a number for each node; without recursion.
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut is_seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut is_seen[start], true) {
            continue;
        }
        while let Some((node, next)) = stack.pop() {
            match edges[node].get(next) {
                Some(target) => {
                    stack.push((node, next + 1));
                    if !std::mem::replace(&mut is_seen[*target], true) {
                        stack.push((*target, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| reversed[*to].push(from));
    }
    let mut component = vec![usize::MAX; edges.len()];
    for start in order.into_iter().rev() {
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if component[node] == usize::MAX {
                component[node] = start;
                stack.extend(&reversed[node]);
            }
        }
    }
    component
}
