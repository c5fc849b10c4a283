-- time bigint, id text, limit bigint
-- One statement, so that no run changes its state meanwhile. Of those that are running all are looked at: there are few.
SELECT * FROM (
    (SELECT {run_without_outcome} FROM {s}.runs
     WHERE settled IS NOT NULL AND (settled, id) > ($1, $2) ORDER BY settled, id LIMIT $3)
    UNION ALL
    (SELECT {run_without_outcome} FROM {s}.runs
     WHERE status = 'running' AND (updated, id) > ($1, $2) ORDER BY updated, id LIMIT $3)
) AS changed
ORDER BY updated, id LIMIT $3
