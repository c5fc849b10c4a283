//! A function's control flow: basic blocks, their order, dominators and loops.

use crate::function::Function;
use crate::opcode::{Instruction, Op};
use std::collections::{BTreeMap, HashMap};

/// Blocks of a function that is compiled: the code for them is nested, and made by recursion.
const MAX_BLOCKS: usize = 256;

/// A run of instructions that is entered at its first.
#[derive(Debug)]
pub(crate) struct Block {
    /// Instructions, as a range of the function's.
    pub(crate) instructions: std::ops::Range<usize>,
    /// Blocks that may follow; for a condition the one that is jumped to comes first.
    pub(crate) successors: Vec<usize>,
    pub(crate) is_loop: bool,
    /// True if several blocks lead to it from before.
    pub(crate) is_merge: bool,
    /// Blocks that it dominates directly.
    pub(crate) dominated: Vec<usize>,
    pub(crate) is_in_loop: bool,
}

/// Blocks in reverse postorder, the first of which is the entry.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) blocks: Vec<Block>,
}

impl Flow {
    /// Returns the control flow of a function. `None` if it is not compiled: its instructions do not make sense, jump into
    /// loops, or are too many.
    pub(crate) fn of(function: &Function) -> Option<Flow> {
        let instructions = &function.instructions;
        let position: HashMap<u32, usize> =
            instructions.iter().enumerate().map(|(index, instruction)| (instruction.pc, index)).collect();
        let depths = depths(function, &position)?;
        let mut starts: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
        for (index, instruction) in instructions.iter().enumerate().filter(|(index, _)| depths[*index].is_some()) {
            for target in targets(instruction) {
                starts.insert(*position.get(&target)?, 0);
            }
            if instruction.op.ends_block() && depths.get(index + 1).is_some_and(Option::is_some) {
                starts.insert(index + 1, 0);
            }
        }
        let order: Vec<usize> = starts.keys().copied().collect();
        if order.len() > MAX_BLOCKS {
            return None;
        }
        for (number, start) in order.iter().enumerate() {
            starts.insert(*start, number);
        }
        let mut raw = Vec::new();
        for (number, start) in order.iter().enumerate() {
            let limit = order.get(number + 1).copied().unwrap_or(instructions.len());
            let mut end = *start;
            while end < limit && !instructions[end].op.ends_block() {
                end += 1;
            }
            let last = if end < limit { Some(&instructions[end]) } else { None };
            let mut successors = Vec::new();
            match last {
                Some(last) => {
                    successors.extend(targets(last).filter_map(|target| starts.get(position.get(&target)?).copied()));
                    if matches!(last.op, Op::If { .. }) {
                        successors.push(*starts.get(&(end + 1))?);
                    }
                    end += 1;
                }
                None => successors.push(*starts.get(&limit)?),
            }
            raw.push((*start..end, successors));
        }
        arrange(raw)
    }

    /// Returns what precedes a block, in no order.
    fn predecessors(blocks: &[Block]) -> Vec<Vec<usize>> {
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            for successor in &block.successors {
                predecessors[*successor].push(number);
            }
        }
        predecessors
    }
}

fn targets(instruction: &Instruction) -> impl Iterator<Item = u32> {
    match instruction.op {
        Op::Goto(target) | Op::If { target, .. } => Some(target),
        _ => None,
    }
    .into_iter()
}

/// Returns the depth of the stack before each instruction, `None` for those that are not reached.
fn depths(function: &Function, position: &HashMap<u32, usize>) -> Option<Vec<Option<u16>>> {
    let mut depths: Vec<Option<u16>> = vec![None; function.instructions.len()];
    let mut work: Vec<(usize, u16)> = vec![(0, 0)];
    while let Some((index, depth)) = work.pop() {
        match depths.get(index)? {
            Some(known) if *known == depth => continue,
            Some(_) => return None,
            None => depths[index] = Some(depth),
        }
        let instruction = &function.instructions[index];
        let (takes, puts) = instruction.op.stack_effect();
        let after = depth.checked_sub(takes)?.checked_add(puts)?;
        if after > function.stack {
            return None;
        }
        for target in targets(instruction) {
            work.push((*position.get(&target)?, after));
        }
        if !instruction.op.ends_block() || matches!(instruction.op, Op::If { .. }) {
            work.push((index + 1, after));
        }
    }
    Some(depths)
}

type Raw = (std::ops::Range<usize>, Vec<usize>);

/// Puts blocks in order and finds dominators and loops.
fn arrange(raw: Vec<Raw>) -> Option<Flow> {
    let mut postorder = Vec::new();
    let mut is_seen = vec![false; raw.len()];
    let mut stack = vec![(0, 0)];
    *is_seen.first_mut()? = true;
    while let Some((number, next)) = stack.pop() {
        match raw[number].1.get(next) {
            Some(successor) => {
                stack.push((number, next + 1));
                if !std::mem::replace(is_seen.get_mut(*successor)?, true) {
                    stack.push((*successor, 0));
                }
            }
            None => postorder.push(number),
        }
    }
    let mut new_number = vec![usize::MAX; raw.len()];
    for (new, old) in postorder.iter().rev().enumerate() {
        new_number[*old] = new;
    }
    let mut blocks: Vec<Block> = Vec::new();
    for old in postorder.iter().rev() {
        let (instructions, successors) = &raw[*old];
        blocks.push(Block {
            instructions: instructions.clone(),
            successors: successors.iter().map(|successor| new_number[*successor]).collect(),
            is_loop: false,
            is_merge: false,
            dominated: Vec::new(),
            is_in_loop: false,
        });
    }
    let predecessors = Flow::predecessors(&blocks);
    let dominator = dominators(&predecessors);
    for number in 1..blocks.len() {
        blocks[dominator[number]].dominated.push(number);
        blocks[number].is_merge = predecessors[number].iter().filter(|before| **before < number).count() > 1;
    }
    for (number, before) in predecessors.iter().enumerate() {
        for back in before.iter().copied().filter(|before| *before >= number) {
            blocks[number].is_loop = true;
            let mut at = back;
            while at > number {
                at = dominator[at];
            }
            if at != number {
                return None;
            }
            // Everything that leads back without passing the loop's begin is inside it.
            let mut inside = vec![back];
            blocks[number].is_in_loop = true;
            while let Some(at) = inside.pop() {
                if at != number && !std::mem::replace(&mut blocks[at].is_in_loop, true) {
                    inside.extend(&predecessors[at]);
                }
            }
        }
    }
    Some(Flow { blocks })
}

/// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm".
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    let mut dominator = vec![usize::MAX; predecessors.len()];
    dominator[0] = 0;
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for number in 1..predecessors.len() {
            let mut common = usize::MAX;
            for before in predecessors[number].iter().copied().filter(|before| dominator[*before] != usize::MAX) {
                let (mut left, mut right) = (before, if common == usize::MAX { before } else { common });
                while left != right {
                    if left > right {
                        left = dominator[left];
                    } else {
                        right = dominator[right];
                    }
                }
                common = left;
            }
            has_changed |= dominator[number] != common;
            dominator[number] = common;
        }
    }
    dominator
}
