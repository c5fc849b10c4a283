-- time bigint, limit bigint
-- Several hosts may prune at once: none waits for another.
WITH old AS (
    SELECT kind, id FROM {s}.documents WHERE expires < $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM {s}.documents USING old WHERE documents.kind = old.kind AND documents.id = old.id RETURNING charged
), counted AS (
    UPDATE {s}.usage SET bytes = bytes - (SELECT sum(charged) FROM gone)::bigint, changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gone)
)
SELECT count(*), coalesce(sum(charged), 0)::bigint FROM gone
