-- now bigint
SELECT {now}
