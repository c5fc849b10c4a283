--
SELECT coalesce(sum(changes), 0)::bigint FROM {s}.usage
