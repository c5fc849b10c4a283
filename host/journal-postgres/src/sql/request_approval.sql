-- now bigint, id text, epoch bigint, seq bigint, entries bigint, bytes bigint, charge bigint, most bigint, seqs bigint[], kinds text[], times bigint[], bodies bytea[], approval text, call bigint, request bytea, approval_charge bigint
-- The conditional update is the fence. A request that is there is not stored again; if it is another one, nothing is written.
WITH known AS (
    SELECT run = $2 AND call = $14 AND request = $15 AS is_same FROM {s}.approvals WHERE id = $13
), due AS (
    SELECT $7 + CASE WHEN EXISTS (SELECT FROM known) THEN 0 ELSE $16 END AS charge
), gate AS (
    UPDATE {s}.runs SET next_seq = next_seq + $5, bytes = bytes + $6, charged = charged + (SELECT charge FROM due),
        updated = {now}
    WHERE id = $2 AND epoch = $3 AND next_seq = $4 AND status = 'running' AND {used} + (SELECT charge FROM due) <= $8
      AND NOT EXISTS (SELECT FROM known WHERE NOT is_same)
    RETURNING id
), stored AS (
    INSERT INTO {s}.entries (run, seq, epoch, kind, at, body)
    SELECT gate.id, e.seq, $3, e.kind, e.at, e.body
    FROM gate, unnest($9::bigint[], $10::text[], $11::bigint[], $12::bytea[]) AS e (seq, kind, at, body)
), asked AS (
    INSERT INTO {s}.approvals (id, run, call, request, created)
    SELECT $13, gate.id, $14, $15, {now} FROM gate WHERE NOT EXISTS (SELECT FROM known)
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + (SELECT charge FROM due), changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate)
