-- now bigint, id text, epoch bigint, lease bigint
WITH gate AS (
    UPDATE {s}.runs SET lease_until = {now} + $4
    WHERE id = $2 AND epoch = $3 AND status = 'running'
    RETURNING id
)
SELECT EXISTS (SELECT FROM gate)
