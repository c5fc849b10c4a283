-- now bigint, id text, key text, charge bigint, most bigint
WITH found AS (
    SELECT id, status, signals, status = 'parked' AND $3 = ANY (waits_for) AS is_over, NOT $3 = ANY (signals) AS is_new
    FROM {s}.runs WHERE id = $2 FOR NO KEY UPDATE
), changed AS (
    UPDATE {s}.runs SET
        signals = CASE WHEN is_new THEN found.signals || $3 ELSE found.signals END,
        charged = charged + CASE WHEN is_new THEN $4 ELSE 0 END,
        status = CASE WHEN is_over THEN 'ready' ELSE found.status END,
        updated = CASE WHEN is_over THEN {now} ELSE updated END,
        settled = CASE WHEN is_over THEN {now} ELSE settled END,
        wake_at = CASE WHEN is_over THEN NULL ELSE wake_at END,
        waits_for = CASE WHEN is_over THEN '{}' ELSE waits_for END
    FROM found
    WHERE runs.id = found.id AND found.status IN ('ready', 'running', 'parked') AND (is_new OR is_over)
      AND (NOT is_new OR {used} + $4 <= $5)
    RETURNING is_new
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + CASE WHEN (SELECT is_new FROM changed) THEN $4 ELSE 0 END, changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM changed)
)
SELECT found.status, is_over, is_new AND NOT EXISTS (SELECT FROM changed) FROM found
