//! A program is read three times in one run of the compiler, each time against other declarations. What is found in one
//! reading and not in another tells what it is about: the program's own affairs, or how it uses capabilities.

use crate::script::ModuleName;

/// What a program is read against. The order is that of the compiler's output, which is by file: where it is cut, nothing
/// is taken for new because the reading that has it too was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    /// Modules of which nothing is known: what is found concerns the program alone.
    Bare,
    /// Modules whose functions take anything and give what they give.
    Open,
    /// Modules as they are declared.
    Full,
}

impl Reading {
    pub(super) const ALL: [Reading; 3] = [Reading::Bare, Reading::Open, Reading::Full];

    fn stem(self) -> &'static str {
        match self {
            Reading::Bare => "bare",
            Reading::Open => "open",
            Reading::Full => "program",
        }
    }

    /// The file of this reading of a program, of which there may be several.
    pub(super) fn file(self, program: usize) -> String {
        match program {
            0 => format!("{}.ts", self.stem()),
            number => format!("{}-{number}.ts", self.stem()),
        }
    }

    /// The reading and the program that a file has.
    pub(super) fn of_file(file: &str) -> Option<(Reading, usize)> {
        let name = file.strip_suffix(".ts")?;
        let (stem, number) = name.split_once('-').unwrap_or((name, "0"));
        let reading = Reading::ALL.into_iter().find(|reading| reading.stem() == stem)?;
        Some((reading, number.parse().ok()?))
    }

    /// What a declared module is called in it.
    pub(super) fn name(self) -> ModuleName {
        match self {
            Reading::Bare => ModuleName::Hidden,
            Reading::Open => ModuleName::Twin,
            Reading::Full => ModuleName::Written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    #[test]
    fn files_are_known_again_and_in_order() {
        for reading in Reading::ALL {
            for number in [0, 1, 299] {
                assert_eq!(Reading::of_file(&reading.file(number)), Some((reading, number)));
            }
        }
        for other in ["modules.d.ts", "tsconfig.json", "bare-x.ts", ""] {
            assert_eq!(Reading::of_file(other), None, "{other}");
        }
        let mut files: Vec<String> = Reading::ALL.iter().flat_map(|it| [it.file(0), it.file(7)]).collect();
        files.sort();
        let readings: Vec<Reading> = files.iter().filter_map(|file| Reading::of_file(file)).map(|(it, _)| it).collect();
        assert!(readings.is_sorted(), "{files:?}");
    }
}
