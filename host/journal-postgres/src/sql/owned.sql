-- id text
-- State of a run whose write was refused.
SELECT epoch, status, next_seq, {used}::bigint FROM {s}.runs WHERE id = $1
