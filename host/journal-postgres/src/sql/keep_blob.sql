-- run text, epoch bigint, hash text
WITH gate AS (
    SELECT id FROM {s}.runs WHERE id = $1 AND epoch = $2 AND status = 'running' FOR SHARE
), kept AS (
    INSERT INTO {s}.run_blobs (run, hash)
    SELECT gate.id, blobs.hash FROM gate, {s}.blobs WHERE blobs.hash = $3
    ON CONFLICT DO NOTHING
)
SELECT EXISTS (SELECT FROM gate), EXISTS (SELECT FROM {s}.blobs WHERE hash = $3)
