-- id text
-- State of a run after a write without an answer. What a server committed when it crashed is there after its restart, also if
-- the synchronous standby has not got it. This is a write too: its answer waits until the standby has all that it read.
WITH confirmed AS (
    UPDATE {s}.usage SET changes = changes + 1 WHERE shard = {shard}
)
SELECT epoch, status, next_seq FROM {s}.runs WHERE id = $1
