-- now bigint, kind text, id text, owner text, body bytea, expires bigint, charge bigint, most bigint, version bigint
-- In a full store a document can still be changed to one that is not larger.
WITH found AS (
    SELECT kind, id, charged FROM {s}.documents WHERE kind = $2 AND id = $3 AND version = $9 FOR NO KEY UPDATE
), put AS (
    UPDATE {s}.documents SET owner = $4, body = $5, charged = $7, version = version + 1, updated = {now}, expires = $6
    FROM found
    WHERE documents.kind = found.kind AND documents.id = found.id
      AND ($7 <= found.charged OR {used} + $7 - found.charged <= $8)
    RETURNING version, created, updated, $7 - found.charged AS growth
), counted AS (
    UPDATE {s}.usage SET bytes = bytes + (SELECT growth FROM put), changes = changes + 1
    WHERE shard = {shard} AND EXISTS (SELECT FROM put)
)
SELECT version, created, updated FROM put
