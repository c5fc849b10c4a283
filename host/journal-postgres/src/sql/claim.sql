-- now bigint, id text, owner text, lease bigint
WITH found AS (
    SELECT id, status, epoch, owner, lease_until, next_seq, wake_at, waits_for, caller
    FROM {s}.runs WHERE id = $2 FOR NO KEY UPDATE
), taken AS (
    UPDATE {s}.runs SET status = 'running', epoch = found.epoch + 1, owner = $3, lease_until = {now} + $4,
        updated = {now}, settled = NULL, wake_at = NULL, waits_for = '{}'
    FROM found
    WHERE runs.id = found.id
      AND (found.status = 'ready'
        OR found.status = 'running' AND found.lease_until <= {now}
        OR found.status = 'parked' AND found.wake_at <= {now})
    RETURNING runs.epoch
), counted AS (
    UPDATE {s}.usage SET changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM taken)
)
SELECT taken.epoch, found.next_seq, found.status, found.owner, found.lease_until, found.wake_at, found.waits_for,
    found.caller
FROM found LEFT JOIN taken ON true
