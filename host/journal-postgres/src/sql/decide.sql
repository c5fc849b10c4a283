-- now bigint, id text, decision bytea, key text, charge bigint, most bigint
-- The run is locked before the approval, as a prune does.
WITH found AS (
    SELECT id, status, signals, status = 'parked' AND $4 = ANY (waits_for) AS is_over
    FROM {s}.runs WHERE id = (SELECT run FROM {s}.approvals WHERE id = $2) FOR NO KEY UPDATE
), asked AS (
    SELECT approvals.id, decision FROM {s}.approvals, found
    WHERE approvals.id = $2 AND approvals.run = found.id FOR NO KEY UPDATE OF approvals
), changed AS (
    UPDATE {s}.runs SET
        signals = found.signals || $4,
        charged = charged + $5,
        status = CASE WHEN is_over THEN 'ready' ELSE found.status END,
        updated = CASE WHEN is_over THEN {now} ELSE updated END,
        settled = CASE WHEN is_over THEN {now} ELSE settled END,
        wake_at = CASE WHEN is_over THEN NULL ELSE wake_at END,
        waits_for = CASE WHEN is_over THEN '{}' ELSE waits_for END
    FROM found, asked
    WHERE runs.id = found.id AND found.status IN ('ready', 'running', 'parked') AND asked.decision IS NULL
      AND {used} + $5 <= $6
    RETURNING runs.id
), decided AS (
    UPDATE {s}.approvals SET decision = $3, decided_at = {now} FROM changed WHERE approvals.id = $2
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $5, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM changed)
)
SELECT asked.decision, found.status, EXISTS (SELECT FROM changed) FROM found, asked
