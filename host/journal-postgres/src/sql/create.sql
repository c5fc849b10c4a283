-- now bigint, id text, owner text, lease bigint, entries bigint, bytes bigint, charge bigint, script text, space text, caller text, project text, engine text, most bigint, seqs bigint[], kinds text[], times bigint[], bodies bytea[], hashes text[], blob_charges bigint[], blobs bytea[]
-- Blobs are NULL that the store may have. If it lacks some of those, nothing is written, and the answer says which. If a prune
-- removes one meanwhile, the foreign key fails, and the statement is tried again.
WITH content AS (
    SELECT b.hash, b.charged, b.body, NOT EXISTS (SELECT FROM {s}.blobs WHERE blobs.hash = b.hash) AS is_new
    FROM unnest($18::text[], $19::bigint[], $20::bytea[]) AS b (hash, charged, body)
), gate AS (
    INSERT INTO {s}.runs (id, status, epoch, owner, lease_until, next_seq, created, updated, bytes, charged,
                          script, space, caller, project, engine)
    SELECT $2, 'running', 1, $3, {now} + $4, $5, {now}, {now}, $6, $7, $8, $9, $10, $11, $12
    WHERE {used} + $7 + (SELECT coalesce(sum(charged), 0) FROM content WHERE is_new) <= $13
      AND NOT EXISTS (SELECT FROM content WHERE is_new AND body IS NULL)
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), stored AS (
    INSERT INTO {s}.entries (run, seq, epoch, kind, at, body)
    SELECT gate.id, e.seq, 1, e.kind, e.at, e.body
    FROM gate, unnest($14::bigint[], $15::text[], $16::bigint[], $17::bytea[]) AS e (seq, kind, at, body)
), added AS (
    INSERT INTO {s}.blobs (hash, charged, body)
    SELECT content.hash, content.charged, content.body FROM gate, content WHERE is_new
    ORDER BY content.hash ON CONFLICT DO NOTHING
    RETURNING charged
), kept AS (
    INSERT INTO {s}.run_blobs (run, hash) SELECT gate.id, content.hash FROM gate, content ON CONFLICT DO NOTHING
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $7 + (SELECT coalesce(sum(charged), 0) FROM added)::bigint, changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate), ARRAY(SELECT hash FROM content WHERE is_new AND body IS NULL)
