-- now bigint, owner text
-- Ends the leases of a process that ends.
WITH gone AS (
    UPDATE {s}.runs SET lease_until = least(lease_until, {now}) WHERE owner = $2 AND status = 'running' RETURNING id
), counted AS (
    UPDATE {s}.usage SET changes = changes + 1 WHERE shard = {shard} AND EXISTS (SELECT FROM gone)
)
SELECT count(*) FROM gone
