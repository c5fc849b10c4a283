//! Loops over bytecode of the interpreter's functions, which are not charged by their turns.
//!
//! Each turn of them executes bytecode, which the engine charges itself, by steps. This holds for the loop that jumps by
//! bytecode and for those around it, if every cycle of the function's code passes that jump, a step or a charged loop. This
//! module proves that, or packing fails.

use super::DISPATCH_TARGETS;
use super::module::{Replaced, Replacement};
use anyhow::{Result, bail, ensure};
use wasmparser::{FunctionBody, Operator};

/// Returns the loops that are not charged, by their number in the function. `None` if the function does not jump by
/// bytecode.
pub(super) fn loops(body: &FunctionBody<'_>, replaced: &Replaced) -> Result<Option<Vec<usize>>> {
    let code = Code::read(body, replaced)?;
    let [dispatch] = code.dispatches.as_slice() else {
        ensure!(code.dispatches.is_empty(), "the engine jumps by bytecode at {} places", code.dispatches.len());
        return Ok(None);
    };
    ensure!(!dispatch.around.is_empty(), "the engine jumps by bytecode outside of a loop");
    let is_charged = |position: usize| {
        let number = code.loops.iter().position(|begin| *begin == position);
        number.is_some_and(|number| !dispatch.around.contains(&number)) || code.steps.contains(&position)
    };
    if let Some((first, last)) = code.cycle(|position| position == dispatch.position || is_charged(position)) {
        bail!(
            "the engine can loop in its interpreter without executing bytecode: from instruction {last} of {} back to {first}",
            code.successors.len()
        );
    }
    Ok(Some(dispatch.around.clone()))
}

/// Returns true if no call of the function is reached without a step.
pub(super) fn steps_first(body: &FunctionBody<'_>, replaced: &Replaced) -> Result<bool> {
    let code = Code::read(body, replaced)?;
    let mut is_seen = vec![false; code.successors.len()];
    let mut work = vec![0];
    while let Some(position) = work.pop() {
        if code.calls.contains(&position) {
            return Ok(false);
        }
        if !code.steps.contains(&position) && !std::mem::replace(&mut is_seen[position], true) {
            work.extend(&code.successors[position]);
        }
    }
    Ok(true)
}

/// Control flow of a function.
#[derive(Default)]
struct Code {
    successors: Vec<Vec<usize>>,
    /// Positions of its loops.
    loops: Vec<usize>,
    dispatches: Vec<Dispatch>,
    /// Positions of charges of steps.
    steps: Vec<usize>,
    /// Positions of calls.
    calls: Vec<usize>,
}

struct Dispatch {
    position: usize,
    /// The loops that it is in.
    around: Vec<usize>,
}

struct Block {
    /// Number of a loop.
    number: Option<usize>,
    begin: usize,
    /// Positions of the branches to its end.
    to_end: Vec<usize>,
    /// Position of its `if`, until there is an `else`.
    otherwise: Option<usize>,
}

impl Block {
    fn new(begin: usize) -> Block {
        Block { number: None, begin, to_end: Vec::new(), otherwise: None }
    }
}

impl Code {
    fn read(body: &FunctionBody<'_>, replaced: &Replaced) -> Result<Code> {
        let mut code = Code::default();
        let mut open = vec![Block::new(0)];
        for (position, operator) in body.get_operators_reader()?.into_iter().enumerate() {
            let mut next = vec![position + 1];
            let operator = operator?;
            match operator {
                Operator::Call { .. } if replaced.of(&operator) == Some(Replacement::Step) => code.steps.push(position),
                Operator::Call { .. } if replaced.of(&operator).is_some() => {}
                Operator::Call { .. } | Operator::CallIndirect { .. } => code.calls.push(position),
                Operator::Block { .. } => open.push(Block::new(position)),
                Operator::If { .. } => open.push(Block { otherwise: Some(position), ..Block::new(position) }),
                Operator::Loop { .. } => {
                    open.push(Block { number: Some(code.loops.len()), ..Block::new(position) });
                    code.loops.push(position);
                }
                Operator::Else => {
                    next.clear();
                    let Some(block) = open.last_mut() else { bail!("an else without an if") };
                    block.to_end.push(position);
                    if let Some(begin) = block.otherwise.take() {
                        code.successors[begin].push(position + 1);
                    }
                }
                Operator::End => {
                    let Some(block) = open.pop() else { bail!("an end of nothing") };
                    for from in block.to_end.iter().chain(&block.otherwise) {
                        code.successors[*from].push(position);
                    }
                }
                Operator::Br { relative_depth } => {
                    next.clear();
                    code.branch(&mut open, position, relative_depth, &mut next)?;
                }
                Operator::BrIf { relative_depth } => code.branch(&mut open, position, relative_depth, &mut next)?,
                Operator::BrTable { targets } => {
                    next.clear();
                    if targets.len() > DISPATCH_TARGETS {
                        let around = open.iter().filter_map(|block| block.number).collect();
                        code.dispatches.push(Dispatch { position, around });
                    }
                    for depth in targets.targets().chain([Ok(targets.default())]) {
                        code.branch(&mut open, position, depth?, &mut next)?;
                    }
                }
                Operator::Return | Operator::Unreachable => next.clear(),
                _ => {}
            }
            code.successors.push(next);
        }
        // What follows the function's end.
        code.successors.push(Vec::new());
        Ok(code)
    }

    /// Notes a branch: to the begin of a loop, which is known, or to the end of a block, which is yet to come.
    fn branch(&self, open: &mut [Block], position: usize, depth: u32, next: &mut Vec<usize>) -> Result<()> {
        let block = open.len().checked_sub(1 + depth as usize).and_then(|index| open.get_mut(index));
        let Some(block) = block else { bail!("a branch to nothing") };
        match block.number {
            Some(_) => next.push(block.begin),
            None => block.to_end.push(position),
        }
        Ok(())
    }

    /// Returns a cycle that passes none of these positions: its first instruction and its last.
    fn cycle(&self, is_passed: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            Never,
            Open,
            Done,
        }
        let mut seen = vec![Seen::Never; self.successors.len()];
        for start in 0..self.successors.len() {
            if seen[start] != Seen::Never || is_passed(start) {
                continue;
            }
            seen[start] = Seen::Open;
            let mut path = vec![(start, 0)];
            while let Some((position, next)) = path.last_mut() {
                let position = *position;
                let Some(successor) = self.successors[position].get(*next).copied() else {
                    seen[position] = Seen::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match seen[successor] {
                    Seen::Open => return Some((successor, position)),
                    Seen::Never if !is_passed(successor) => {
                        seen[successor] = Seen::Open;
                        path.push((successor, 0));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}
