-- id text, status text, epoch bigint, next_seq bigint, created bigint, updated bigint, waits_for text[], signals text[], bytes bigint, charge bigint, script text, space text, caller text, project text, engine text, outcome bytea, cancel_requested boolean, most bigint, seqs bigint[], kinds text[], times bigint[], bodies bytea[], hashes text[], blob_charges bigint[], blobs bytea[], approval_ids text[], calls bigint[], requests bytea[], decisions bytea[], createds bigint[], decideds bigint[]
WITH gate AS (
    INSERT INTO {s}.runs (id, status, epoch, lease_until, next_seq, created, updated, settled, waits_for, signals, bytes,
                          charged, script, space, caller, project, engine, outcome, cancel_requested)
    SELECT $1, $2, $3, 0, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
    WHERE NOT EXISTS (SELECT FROM {s}.approvals WHERE id = ANY ($26::text[]))
      AND {used} + $10 + (SELECT coalesce(sum(charge), 0) FROM unnest($24::bigint[]) AS charge) <= $18
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), stored AS (
    INSERT INTO {s}.entries (run, seq, epoch, kind, at, body)
    SELECT gate.id, e.seq, $3, e.kind, e.at, e.body
    FROM gate, unnest($19::bigint[], $20::text[], $21::bigint[], $22::bytea[]) AS e (seq, kind, at, body)
), added AS (
    INSERT INTO {s}.blobs (hash, charged, body)
    SELECT b.hash, b.charged, b.body
    FROM gate, unnest($23::text[], $24::bigint[], $25::bytea[]) AS b (hash, charged, body)
    ORDER BY b.hash ON CONFLICT DO NOTHING
    RETURNING charged
), kept AS (
    INSERT INTO {s}.run_blobs (run, hash) SELECT gate.id, hash FROM gate, unnest($23::text[]) AS hash ON CONFLICT DO NOTHING
), asked AS (
    INSERT INTO {s}.approvals (id, run, call, request, decision, created, decided_at)
    SELECT a.id, gate.id, a.call, a.request, a.decision, a.created, a.decided_at
    FROM gate, unnest($26::text[], $27::bigint[], $28::bytea[], $29::bytea[], $30::bigint[], $31::bigint[])
        AS a (id, call, request, decision, created, decided_at)
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $10 + (SELECT coalesce(sum(charged), 0) FROM added)::bigint, changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate), EXISTS (SELECT FROM {s}.runs WHERE id = $1),
    (SELECT min(id) FROM {s}.approvals WHERE id = ANY ($26::text[]))
