//! Detection of circular type aliases such as `type A = A | string`, which TypeScript refuses.
//!
//! Only direct members of a union count. Recursion through arrays, tuples and objects is allowed.

use crate::model::{Type, TypeId, Types};
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    New,
    Open,
    Done,
}

/// References (from, to) to remove so that no alias is circular.
pub(super) fn circular(types: &Types) -> HashSet<(TypeId, TypeId)> {
    let mut visits = vec![Visit::New; types.0.len()];
    let mut cut = HashSet::new();
    for (root, _) in types.iter() {
        if visits[root.0] != Visit::New {
            continue;
        }
        visits[root.0] = Visit::Open;
        let mut path = vec![(root, direct(&types.get(root).ty))];
        while let Some((from, targets)) = path.last_mut() {
            let Some(to) = targets.pop() else {
                visits[from.0] = Visit::Done;
                path.pop();
                continue;
            };
            match visits.get(to.0) {
                Some(Visit::New) => {
                    visits[to.0] = Visit::Open;
                    path.push((to, direct(&types.get(to).ty)));
                }
                Some(Visit::Open) => {
                    cut.insert((*from, to));
                }
                _ => {}
            }
        }
    }
    cut
}

fn direct(ty: &Type) -> Vec<TypeId> {
    let named = |ty: &Type| if let Type::Named(id) = ty { Some(*id) } else { None };
    match ty {
        Type::Union(members) => members.iter().filter_map(named).collect(),
        other => named(other).into_iter().collect(),
    }
}
