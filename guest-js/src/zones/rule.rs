//! A zone's rule for all time to come, as POSIX writes it: `CET-1CEST,M3.5.0,M10.5.0/3`.

const DAY_SECONDS: i64 = 86_400;
const DEFAULT_TIME: i64 = 2 * 3600;
/// What summer time adds, where a rule does not say.
const SUMMER_SECONDS: i64 = 3600;

pub(super) struct Rule {
    /// Seconds east of UTC.
    standard: i64,
    summer: Option<Summer>,
}

struct Summer {
    offset: i64,
    start: Change,
    end: Change,
}

/// When in a year one time gives way to the other.
struct Change {
    day: Day,
    /// Seconds after midnight, by the clock that is changed; may lie in another day.
    time: i64,
}

enum Day {
    /// Of month 1 to 12, the nth (5: the last) of a weekday from Sunday.
    Weekday { month: i64, nth: i64, weekday: i64 },
    /// 1 to 365, without 29 February.
    Julian(i64),
    /// 0 to 365.
    Ordinal(i64),
}

impl Rule {
    /// Nothing where the text is no rule: there is none in zones that end with their last instant.
    pub(super) fn read(text: &[u8]) -> Option<Rule> {
        let mut text = Text(text);
        text.skip_name()?;
        let standard = -text.time()?;
        if text.0.is_empty() {
            return Some(Rule { standard, summer: None });
        }
        text.skip_name()?;
        let offset = match text.0.first() {
            Some(b',') | None => standard + SUMMER_SECONDS,
            Some(_) => -text.time()?,
        };
        text.skip(b',')?;
        let start = text.change()?;
        text.skip(b',')?;
        let end = text.change()?;
        Some(Rule { standard, summer: Some(Summer { offset, start, end }) })
    }

    pub(super) fn offset(&self, seconds: i64) -> i32 {
        let is_summer = |summer: &&Summer| {
            let year = year_of((seconds + self.standard).div_euclid(DAY_SECONDS));
            let start = summer.start.at(year) - self.standard;
            let end = summer.end.at(year) - summer.offset;
            match start < end {
                true => (start..end).contains(&seconds),
                false => !(end..start).contains(&seconds),
            }
        };
        let offset = self.summer.as_ref().filter(is_summer).map_or(self.standard, |summer| summer.offset);
        i32::try_from(offset).unwrap_or(0)
    }
}

impl Change {
    /// Seconds since the epoch, by the clock that is changed.
    fn at(&self, year: i64) -> i64 {
        let day = match self.day {
            Day::Ordinal(day) => days(year, 1, 1) + day,
            Day::Julian(day) => days(year, 1, 1) + day - 1 + i64::from(is_leap(year) && day >= 60),
            Day::Weekday { month, nth, weekday } => {
                let first = days(year, month, 1);
                // The epoch was a Thursday.
                let until = (weekday - (first + 4)).rem_euclid(7);
                let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
                let day = first + until + (nth - 1) * 7;
                if day < next { day } else { day - 7 }
            }
        };
        day * DAY_SECONDS + self.time
    }
}

fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

/// Days since the epoch.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

fn year_of(day: i64) -> i64 {
    // Off by one at most.
    let near = 1970 + (day * 400).div_euclid(146_097);
    if day < days(near, 1, 1) {
        near - 1
    } else if day >= days(near + 1, 1, 1) {
        near + 1
    } else {
        near
    }
}

/// What of a rule is not read yet.
struct Text<'a>(&'a [u8]);

impl Text<'_> {
    fn skip(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// `CET` or `<-03>`.
    fn skip_name(&mut self) -> Option<()> {
        let length = match self.0.first()? {
            b'<' => self.0.iter().position(|byte| *byte == b'>')? + 1,
            _ => self.0.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(self.0.len()),
        };
        self.0 = self.0.get(length..).filter(|_| length > 0)?;
        Some(())
    }

    fn number(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// `-3`, `5:30` or `4:56:02`, in seconds.
    fn time(&mut self) -> Option<i64> {
        let sign = match self.0.first()? {
            b'-' => -1,
            _ => 1,
        };
        if matches!(self.0.first(), Some(b'-' | b'+')) {
            self.0 = self.0.get(1..)?;
        }
        let mut seconds = self.number()? * 3600;
        for unit in [60, 1] {
            if self.skip(b':').is_none() {
                break;
            }
            seconds += self.number()? * unit;
        }
        Some(sign * seconds)
    }

    /// `M3.5.0`, `J60` or `59`, with a time such as `/3` after it.
    fn change(&mut self) -> Option<Change> {
        let day = if self.skip(b'M').is_some() {
            let month = self.number()?;
            self.skip(b'.')?;
            let nth = self.number()?;
            self.skip(b'.')?;
            Day::Weekday { month, nth, weekday: self.number()? }
        } else if self.skip(b'J').is_some() {
            Day::Julian(self.number()?)
        } else {
            Day::Ordinal(self.number()?)
        };
        let time = match self.skip(b'/') {
            Some(()) => self.time()?,
            None => DEFAULT_TIME,
        };
        Some(Change { day, time })
    }
}
