-- kind text, id text, version bigint
WITH gone AS (
    DELETE FROM {s}.documents WHERE kind = $1 AND id = $2 AND ($3 IS NULL OR version = $3) RETURNING charged
), counted AS (
    UPDATE {s}.usage SET bytes = bytes - (SELECT charged FROM gone), changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gone)
)
SELECT EXISTS (SELECT FROM gone)
