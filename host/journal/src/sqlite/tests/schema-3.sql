-- Format 3: pages of a caller's runs in a space or with an end, and of a run's approvals.

-- Written once, when a run is created.
CREATE INDEX runs_space_caller ON runs (project, space, caller, created, id);

-- Written once, when a run ends. With OR: SQLite does not see that one status is in a list of them.
CREATE INDEX runs_caller_ended ON runs (project, caller, status, created, id)
    WHERE status = 'finished' OR status = 'failed' OR status = 'cancelled';

-- In the order of pages. It is also what finds the approvals of a run that is removed.
DROP INDEX approvals_run;
CREATE INDEX approvals_run ON approvals (run, created, id);
