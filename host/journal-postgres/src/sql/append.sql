-- now bigint, id text, epoch bigint, seq bigint, entries bigint, bytes bigint, charge bigint, most bigint, seqs bigint[], kinds text[], times bigint[], bodies bytea[]
-- The conditional update is the fence.
WITH gate AS (
    UPDATE {s}.runs SET next_seq = next_seq + $5, bytes = bytes + $6, charged = charged + $7, updated = {now}
    WHERE id = $2 AND epoch = $3 AND next_seq = $4 AND status = 'running' AND {used} + $7 <= $8
    RETURNING id
), stored AS (
    INSERT INTO {s}.entries (run, seq, epoch, kind, at, body)
    SELECT gate.id, e.seq, $3, e.kind, e.at, e.body
    FROM gate, unnest($9::bigint[], $10::text[], $11::bigint[], $12::bytea[]) AS e (seq, kind, at, body)
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $7, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate)
