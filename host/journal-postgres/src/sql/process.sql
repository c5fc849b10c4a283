--
-- Process that answers, and how long it has been there.
SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8
FROM pg_catalog.pg_stat_activity WHERE pid = pg_catalog.pg_backend_pid()
