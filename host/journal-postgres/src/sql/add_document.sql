-- now bigint, kind text, id text, owner text, body bytea, expires bigint, charge bigint, most bigint
WITH put AS (
    INSERT INTO {s}.documents (kind, id, owner, body, charged, version, created, updated, expires)
    SELECT $2, $3, $4, $5, $7, 1, {now}, {now}, $6 WHERE {used} + $7 <= $8
    ON CONFLICT DO NOTHING
    RETURNING version, created, updated
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + $7, changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM put)
)
SELECT version, created, updated FROM put
