-- run text, epoch bigint, hash text, body bytea, charge bigint, most bigint
WITH gate AS (
    SELECT id FROM {s}.runs WHERE id = $1 AND epoch = $2 AND status = 'running' AND {used} + $5 <= $6 FOR SHARE
), stored AS (
    INSERT INTO {s}.blobs (hash, charged, body) SELECT $3, $5, $4 FROM gate ON CONFLICT DO NOTHING RETURNING hash
), kept AS (
    INSERT INTO {s}.run_blobs (run, hash) SELECT gate.id, $3 FROM gate ON CONFLICT DO NOTHING
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $5, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM stored)
)
SELECT EXISTS (SELECT FROM gate)
