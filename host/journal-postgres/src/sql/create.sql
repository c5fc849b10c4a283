-- now bigint, id text, owner text, lease bigint, entries bigint, bytes bigint, charge bigint, script text, space text, caller text, project text, engine text, most bigint, seqs bigint[], kinds text[], times bigint[], bodies bytea[]
WITH gate AS (
    INSERT INTO {s}.runs (id, status, epoch, owner, lease_until, next_seq, created, updated, bytes, charged,
                          script, space, caller, project, engine)
    SELECT $2, 'running', 1, $3, {now} + $4, $5, {now}, {now}, $6, $7, $8, $9, $10, $11, $12
    WHERE {used} + $7 <= $13
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), stored AS (
    INSERT INTO {s}.entries (run, seq, epoch, kind, at, body)
    SELECT gate.id, e.seq, 1, e.kind, e.at, e.body
    FROM gate, unnest($14::bigint[], $15::text[], $16::bigint[], $17::bytea[]) AS e (seq, kind, at, body)
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $7, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM gate)
)
SELECT EXISTS (SELECT FROM gate)
