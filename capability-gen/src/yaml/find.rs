//! Position of a value in its text.

use super::{Position, Step};
use saphyr_parser::{Event, Parser, Span, StrInput};

/// Maximum depth of the search.
const MAX_DEPTH: usize = 128;

/// Line and column of the first value with a wanted path; for a member, of its key. Values inside aliases are skipped.
/// The text must be one that [`super::read`] accepts.
pub fn find(text: &str, is_wanted: &mut dyn FnMut(&[Step]) -> bool) -> Option<Position> {
    let mut walk = Walk { parser: Parser::new_from_str(text), path: Vec::new(), is_wanted };
    loop {
        let (event, span) = walk.next()?;
        if !matches!(event, Event::StreamStart | Event::DocumentStart(_)) {
            return walk.node(event, span).unwrap_or_else(|found| found);
        }
    }
}

struct Walk<'t, 'w> {
    parser: Parser<'t, StrInput<'t>>,
    path: Vec<Step>,
    is_wanted: &'w mut dyn FnMut(&[Step]) -> bool,
}

/// `Err` ends the walk with the result.
type Walked = Result<Option<Position>, Option<Position>>;

impl<'t> Walk<'t, '_> {
    fn next(&mut self) -> Option<(Event<'t>, Span)> {
        self.parser.next_event()?.ok()
    }

    fn need(&mut self) -> Result<(Event<'t>, Span), Option<Position>> {
        self.next().ok_or(None)
    }

    fn node(&mut self, event: Event<'t>, span: Span) -> Walked {
        if self.path.len() > MAX_DEPTH {
            return Err(None);
        }
        // A member was checked at its key.
        if !matches!(self.path.last(), Some(Step::Key(_))) && (self.is_wanted)(&self.path) {
            return Err(Some(span.start.into()));
        }
        match event {
            Event::SequenceStart(..) => {
                for index in 0.. {
                    let (event, span) = self.need()?;
                    if event == Event::SequenceEnd {
                        break;
                    }
                    self.path.push(Step::Index(index));
                    self.node(event, span)?;
                    self.path.pop();
                }
            }
            Event::MappingStart(..) => loop {
                let (event, span) = self.need()?;
                let Event::Scalar(key, ..) = event else { break };
                self.path.push(Step::Key(key.into_owned()));
                if (self.is_wanted)(&self.path) {
                    return Err(Some(span.start.into()));
                }
                let (event, span) = self.need()?;
                self.node(event, span)?;
                self.path.pop();
            },
            _ => {}
        }
        Ok(None)
    }
}
