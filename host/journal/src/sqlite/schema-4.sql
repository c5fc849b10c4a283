-- Format 4: what changed last, for those who follow runs and approvals.

-- Written when a run parks and when it goes on: nothing is appended to a parked one. Ended ones have such an index, and
-- there are few that are ready or running.
CREATE INDEX runs_parked ON runs (updated, id) WHERE status = 'parked';

-- Written once, when somebody decides.
CREATE INDEX approvals_decided ON approvals (decided_at, id) WHERE decided_at IS NOT NULL;
