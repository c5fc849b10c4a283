-- now bigint, id text, epoch bigint
WITH gate AS (
    UPDATE {s}.runs SET status = 'ready', owner = NULL, lease_until = 0, updated = {now}, settled = {now}
    WHERE id = $2 AND epoch = $3 AND status = 'running'
    RETURNING id
), counted AS (
    UPDATE {s}.usage SET changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate)
