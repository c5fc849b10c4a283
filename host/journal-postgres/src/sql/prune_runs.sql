-- ids text[]
-- Several hosts may prune at once: none waits for another. A blob goes with the last run that has it.
WITH old AS (
    SELECT id FROM {s}.runs WHERE id = ANY ($1::text[]) AND status IN ('finished', 'failed', 'cancelled')
    ORDER BY id FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM {s}.runs USING old WHERE runs.id = old.id RETURNING runs.id, charged
), lost AS (
    DELETE FROM {s}.blobs
    WHERE hash IN (SELECT hash FROM {s}.run_blobs WHERE run IN (SELECT id FROM gone))
      AND NOT EXISTS (SELECT FROM {s}.run_blobs
                      WHERE run_blobs.hash = blobs.hash AND run_blobs.run NOT IN (SELECT id FROM gone))
    RETURNING charged
), freed AS (
    SELECT coalesce(sum(charged), 0)::bigint AS bytes
    FROM (SELECT charged FROM gone UNION ALL SELECT charged FROM lost) AS each
), counted AS (
    UPDATE {s}.usage SET bytes = bytes - (SELECT bytes FROM freed), changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gone)
)
SELECT (SELECT count(*) FROM gone), (SELECT bytes FROM freed)
