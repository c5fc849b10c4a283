//! Choice of functions that charge at their entry, so that no recursion is free.
//!
//! Every cycle of calls has one of them. Few are enough: those that most cycles go through.

use super::module::Facts;
use crate::slots;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use wasmparser::ValType;

/// Parameters and result of a function that the host compiles from bytecode, by which it is called through the table.
const COMPILED: ([ValType; 4], [ValType; 1]) =
    ([ValType::I64, ValType::I64, ValType::I32, ValType::I32], [ValType::I64]);

/// Returns the defined functions that charge at their entry. Others that are on cycles execute a step before they call.
pub(super) fn charged(facts: &Facts, interpreters: &[usize]) -> Result<BTreeSet<usize>> {
    let graph = Graph::new(facts);
    let defined = |index: &u32| index.checked_sub(facts.imported).map(|index| index as usize);
    let mut charged: BTreeSet<usize> = facts
        .exports
        .iter()
        .filter(|(name, _)| slots::is_called(name))
        .filter_map(|(_, index)| defined(index))
        .collect();
    charged.extend(interpreters.iter().filter(|number| !facts.functions[**number].is_inside));
    let is_unpaid = |function: usize| !facts.functions[function].is_paid && !facts.functions[function].is_inside;
    let stepping = (0..).zip(&facts.functions).filter(|(_, function)| function.steps_first).map(|(number, _)| number);
    let stepping: BTreeSet<usize> = stepping.collect();
    // A cycle that is left has its busiest function charged, until none is left.
    loop {
        let cycles = graph.cycles(&charged.union(&stepping).copied().collect());
        if cycles.is_empty() {
            ensure!(
                charged.iter().all(|function| is_unpaid(*function)),
                "what is called from outside is said to be paid"
            );
            return Ok(charged);
        }
        for cycle in cycles {
            let members: BTreeSet<usize> = cycle.iter().copied().collect();
            let paths = |node: &usize| graph.degree(*node, &members);
            let candidates = cycle.iter().copied().filter(|node| *node < graph.functions && is_unpaid(*node));
            let busiest = candidates.max_by_key(|node| (paths(node), std::cmp::Reverse(*node)));
            charged.insert(busiest.context("the engine has a cycle of calls in which no function may be charged")?);
        }
    }
}

/// Calls between functions. Beyond the defined functions there is a node for each type of function that is called
/// through the table, and one for bindings, which are in it too and call what is exported. One more is for functions
/// that the host compiles from bytecode: they call what is marked as paid, and each other, which they charge themselves.
struct Graph {
    functions: usize,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

impl Graph {
    fn new(facts: &Facts) -> Graph {
        let functions = facts.functions.len();
        let bindings = functions + facts.types.len();
        let compiled = bindings + 1;
        // Equal types have one node.
        let types: Vec<usize> = facts
            .types
            .iter()
            .map(|ty| functions + facts.types.iter().position(|other| other == ty).unwrap_or_default())
            .collect();
        let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut connect = |from: usize, to: usize| {
            edges.entry(from).or_default().insert(to);
        };
        let defined = |index: u32| index.checked_sub(facts.imported).map(|index| index as usize);
        for (function, code) in facts.functions.iter().enumerate() {
            code.calls.iter().filter_map(|index| defined(*index)).for_each(|called| connect(function, called));
            for ty in &code.indirect {
                connect(function, types[*ty as usize]);
                connect(types[*ty as usize], bindings);
            }
        }
        for (number, _) in (functions..)
            .zip(&facts.types)
            .filter(|(_, ty)| ty.params() == COMPILED.0.as_slice() && ty.results() == COMPILED.1.as_slice())
        {
            connect(number, compiled);
        }
        for index in &facts.held {
            if let Some(held) = defined(*index) {
                if facts.functions[held].is_paid {
                    connect(compiled, held);
                }
                connect(types[facts.signatures[*index as usize] as usize], held);
            }
        }
        for index in facts.exports.values().filter_map(|index| defined(*index)) {
            connect(bindings, index);
        }
        let mut successors = vec![Vec::new(); compiled + 1];
        let mut predecessors = vec![Vec::new(); compiled + 1];
        for (from, to) in edges.into_iter().flat_map(|(from, to)| to.into_iter().map(move |to| (from, to))) {
            successors[from].push(to);
            predecessors[to].push(from);
        }
        Graph { functions, successors, predecessors }
    }

    /// Number of pairs of calls that lead through a node, among these nodes.
    fn degree(&self, node: usize, members: &BTreeSet<usize>) -> usize {
        let count = |nodes: &[usize]| nodes.iter().filter(|node| members.contains(node)).count();
        count(&self.successors[node]) * count(&self.predecessors[node])
    }

    /// Groups of nodes that reach each other without these functions.
    fn cycles(&self, without: &BTreeSet<usize>) -> Vec<Vec<usize>> {
        let mut search = Search {
            graph: self,
            without,
            found: vec![0; self.successors.len()],
            lowest: vec![0; self.successors.len()],
            is_open: vec![false; self.successors.len()],
            open: Vec::new(),
            count: 0,
            cycles: Vec::new(),
        };
        for node in 0..self.successors.len() {
            if search.found[node] == 0 && !without.contains(&node) {
                search.from(node);
            }
        }
        search.cycles
    }
}

/// Tarjan's search for strongly connected components, with a stack of its own.
struct Search<'a> {
    graph: &'a Graph,
    without: &'a BTreeSet<usize>,
    found: Vec<usize>,
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    count: usize,
    cycles: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) -> (usize, usize) {
        self.count += 1;
        self.found[node] = self.count;
        self.lowest[node] = self.count;
        self.is_open[node] = true;
        self.open.push(node);
        (node, 0)
    }

    fn from(&mut self, root: usize) {
        let mut path = vec![self.visit(root)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let successor = self.graph.successors[node].get(*next).copied();
            *next += 1;
            match successor {
                Some(successor) if self.without.contains(&successor) => {}
                Some(successor) if self.found[successor] == 0 => {
                    let visited = self.visit(successor);
                    path.push(visited);
                }
                Some(successor) if self.is_open[successor] => {
                    self.lowest[node] = self.lowest[node].min(self.found[successor]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        self.lowest[*before] = self.lowest[*before].min(self.lowest[node]);
                    }
                    self.close(node);
                }
            }
        }
    }

    fn close(&mut self, node: usize) {
        if self.lowest[node] != self.found[node] {
            return;
        }
        let first = self.open.iter().rposition(|open| *open == node).unwrap_or_default();
        let members = self.open.split_off(first);
        members.iter().for_each(|member| self.is_open[*member] = false);
        if members.len() > 1 || self.graph.successors[node].contains(&node) {
            self.cycles.push(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, charged};

    fn entries(text: &str) -> Vec<usize> {
        let wasm = wat::parse_str(text).unwrap();
        charged(&Facts::read(&wasm).unwrap(), &[0]).unwrap().into_iter().collect()
    }

    #[test]
    fn every_cycle_has_a_function_that_pays() {
        let text = r#"(module
            (func $dispatch)
            (func $once (call $self)) (func $self (call $self))
            (func $even (call $odd)) (func $odd (call $even) (call $hub)) (func $hub (call $odd))
            (func $through (call $dispatch)))"#;
        // `odd` is on both of its cycles; what is not on any does not pay.
        assert_eq!(entries(text), [0, 2, 4]);
    }

    #[test]
    fn a_cycle_may_go_through_the_table_and_through_bindings() {
        let text = r#"(module (type $t (func (param i32))) (type $u (func (param i64)))
            (table 3 funcref) (elem (i32.const 1) $held)
            (func $dispatch)
            (func $held (type $t) (call $caller))
            (func $caller (call_indirect (type $t) (i32.const 1) (i32.const 1)))
            (func $outside (export "outside") (call $out))
            (func $out (call_indirect (type $u) (i64.const 1) (i32.const 2)))
            (func (export "wit_dylib_pop")))"#;
        let paying = entries(text);
        assert!(paying.contains(&1) || paying.contains(&2), "{paying:?}");
        assert!(paying.contains(&3) || paying.contains(&4), "{paying:?}");
        assert!(paying.contains(&5), "{paying:?}");
    }
}
