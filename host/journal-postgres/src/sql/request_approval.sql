-- now bigint, run text, epoch bigint, id text, call bigint, request bytea, charge bigint, most bigint
WITH gate AS (
    UPDATE {s}.runs SET charged = charged + $7
    WHERE id = $2 AND epoch = $3 AND status = 'running' AND {used} + $7 <= $8
      AND NOT EXISTS (SELECT FROM {s}.approvals WHERE id = $4)
    RETURNING id
), stored AS (
    INSERT INTO {s}.approvals (id, run, call, request, created) SELECT $4, gate.id, $5, $6, {now} FROM gate
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $7, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate)
