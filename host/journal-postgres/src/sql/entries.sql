-- run text, from bigint, limit bigint, bytes bigint
SELECT seq, kind, at, body FROM (
    SELECT seq, kind, at, body, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
    FROM {s}.entries WHERE run = $1 AND seq >= $2 ORDER BY seq LIMIT $3
) AS page
WHERE before < $4 ORDER BY seq
