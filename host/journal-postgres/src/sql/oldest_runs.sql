-- limit bigint
-- Ended runs with what is free without each: its own blobs count, shared ones do not.
SELECT id, settled, bytes, charged + (
    SELECT coalesce(sum(blobs.charged), 0) FROM {s}.run_blobs JOIN {s}.blobs USING (hash)
    WHERE run_blobs.run = runs.id
      AND NOT EXISTS (SELECT FROM {s}.run_blobs others WHERE others.hash = run_blobs.hash AND others.run <> runs.id)
)::bigint
FROM {s}.runs WHERE status IN ('finished', 'failed', 'cancelled') ORDER BY settled, id LIMIT $1
