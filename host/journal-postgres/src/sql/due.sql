-- now bigint, limit bigint, takes_over boolean
-- One order for all, so that none starves behind another kind. No part looks at runs that are not due.
SELECT id FROM (
    (SELECT id, settled AS since FROM {s}.runs WHERE status = 'ready' ORDER BY settled, id LIMIT $2)
    UNION ALL
    (SELECT id, wake_at FROM {s}.runs WHERE status = 'parked' AND wake_at <= {now} ORDER BY wake_at, id LIMIT $2)
    UNION ALL
    (SELECT id, least(lease_until, updated) FROM {s}.runs WHERE status = 'running' AND lease_until <= {now} AND $3
     ORDER BY lease_until, id LIMIT $2)
) AS due
ORDER BY since, id LIMIT $2
