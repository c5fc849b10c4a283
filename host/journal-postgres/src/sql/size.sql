--
SELECT {used}::bigint, (
    SELECT coalesce(sum(pg_total_relation_size(tables.oid)), 0)::bigint
    FROM pg_class tables JOIN pg_namespace schemas ON schemas.oid = tables.relnamespace
    WHERE schemas.nspname = '{s}' AND tables.relkind = 'r'
)
