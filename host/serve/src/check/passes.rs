//! Three passes over a program in one run of the compiler, each with other module declarations. The pass in which a
//! message occurs tells whether it concerns the program alone or its use of capabilities.

use agent_spaces_script::ModuleName;

/// Pass over a program. The order is that of the compiler's output, which is sorted by file: if the output is
/// truncated, no message counts as new because an earlier pass was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    /// Without module declarations: messages concern the program alone.
    Bare,
    /// Functions accept any arguments and keep their result types.
    Open,
    /// With the module declarations as they are.
    Full,
}

impl Pass {
    pub(super) const ALL: [Pass; 3] = [Pass::Bare, Pass::Open, Pass::Full];

    fn stem(self) -> &'static str {
        match self {
            Pass::Bare => "bare",
            Pass::Open => "open",
            Pass::Full => "program",
        }
    }

    /// Returns the file name of a program in this pass.
    pub(super) fn file(self, program: usize) -> String {
        match program {
            0 => format!("{}.ts", self.stem()),
            number => format!("{}-{number}.ts", self.stem()),
        }
    }

    /// Returns the pass and program of a file name.
    pub(super) fn of_file(file: &str) -> Option<(Pass, usize)> {
        let name = file.strip_suffix(".ts")?;
        let (stem, number) = name.split_once('-').unwrap_or((name, "0"));
        let pass = Pass::ALL.into_iter().find(|pass| pass.stem() == stem)?;
        Some((pass, number.parse().ok()?))
    }

    /// Returns how this pass names a declared module.
    pub(super) fn name(self) -> ModuleName {
        match self {
            Pass::Bare => ModuleName::Hidden,
            Pass::Open => ModuleName::Twin,
            Pass::Full => ModuleName::Written,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::passes::Pass;

    #[test]
    fn file_names_round_trip_and_sort_by_pass() {
        for pass in Pass::ALL {
            for number in [0, 1, 299] {
                assert_eq!(Pass::of_file(&pass.file(number)), Some((pass, number)));
            }
        }
        for other in ["modules.d.ts", "tsconfig.json", "bare-x.ts", ""] {
            assert_eq!(Pass::of_file(other), None, "{other}");
        }
        let mut files: Vec<String> = Pass::ALL.iter().flat_map(|it| [it.file(0), it.file(7)]).collect();
        files.sort();
        let passes: Vec<Pass> = files.iter().filter_map(|file| Pass::of_file(file)).map(|(it, _)| it).collect();
        assert!(passes.is_sorted(), "{files:?}");
    }
}
