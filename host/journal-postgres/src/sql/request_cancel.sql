-- now bigint, id text
WITH found AS (
    SELECT id, status, status = 'parked' AS is_over FROM {s}.runs WHERE id = $2 FOR NO KEY UPDATE
), changed AS (
    UPDATE {s}.runs SET cancel_requested = true, updated = {now},
        settled = CASE WHEN found.status = 'running' THEN NULL ELSE {now} END,
        status = CASE WHEN is_over THEN 'ready' ELSE found.status END,
        wake_at = CASE WHEN is_over THEN NULL ELSE wake_at END,
        waits_for = CASE WHEN is_over THEN '{}' ELSE waits_for END
    FROM found
    WHERE runs.id = found.id AND found.status IN ('ready', 'running', 'parked')
    RETURNING runs.id
), counted AS (
    UPDATE {s}.usage SET changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM changed)
)
SELECT found.status, is_over FROM found
