-- Format 1. Times are milliseconds since the Unix epoch. {s} is the schema.

CREATE TABLE {s}.runs (
    id text COLLATE "C" PRIMARY KEY,
    status text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    owner text COLLATE "C",
    lease_until bigint NOT NULL,
    next_seq bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    -- Time of the last change of a run that nobody owns. An append changes `updated`, which is in no index for that reason:
    -- Postgres writes to all indexes of a row as soon as one of them has a changed column.
    settled bigint,
    wake_at bigint,
    waits_for text[] COLLATE "C" NOT NULL DEFAULT '{}',
    -- Events that happened, kept until the run ends: it may park later. They are in the run's row, so that parking and
    -- signalling are changes of one row, which Postgres puts in order.
    signals text[] COLLATE "C" NOT NULL DEFAULT '{}',
    bytes bigint NOT NULL,
    -- What the run takes of the store's limit, but for blobs.
    charged bigint NOT NULL,
    script text COLLATE "C" NOT NULL,
    space text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    engine text COLLATE "C" NOT NULL,
    outcome bytea, -- JSON text
    cancel_requested boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

-- What can be claimed: parked runs are in none of the first and the third, and only sleepers are in the second.
CREATE INDEX runs_ready ON {s}.runs (settled, id) WHERE status = 'ready';
CREATE INDEX runs_wake ON {s}.runs (wake_at, id) WHERE status = 'parked' AND wake_at IS NOT NULL;
CREATE INDEX runs_lease ON {s}.runs (lease_until, id) WHERE status = 'running';

CREATE INDEX runs_settled ON {s}.runs (settled, id) WHERE settled IS NOT NULL;
CREATE INDEX runs_ended ON {s}.runs (settled, id) WHERE status IN ('finished', 'failed', 'cancelled');

-- Pages of lists.
CREATE INDEX runs_created ON {s}.runs (created, id);
CREATE INDEX runs_status ON {s}.runs (status, created, id);
CREATE INDEX runs_project ON {s}.runs (project, created, id);
CREATE INDEX runs_caller ON {s}.runs (project, caller, created, id);
-- One end may be rare among those of a caller.
CREATE INDEX runs_caller_ended ON {s}.runs (project, caller, status, created, id)
    WHERE status IN ('finished', 'failed', 'cancelled');
CREATE INDEX runs_space ON {s}.runs (space, created, id);
CREATE INDEX runs_space_caller ON {s}.runs (project, space, caller, created, id);

CREATE TABLE {s}.entries (
    run text COLLATE "C" NOT NULL REFERENCES {s}.runs (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    epoch bigint NOT NULL, -- of the claim that wrote it
    kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    body bytea NOT NULL, -- JSON text
    PRIMARY KEY (run, seq)
);

CREATE TABLE {s}.approvals (
    id text COLLATE "C" PRIMARY KEY,
    run text COLLATE "C" NOT NULL REFERENCES {s}.runs (id) ON DELETE CASCADE,
    call bigint NOT NULL,
    request bytea NOT NULL, -- JSON text
    decision bytea,
    created bigint NOT NULL,
    decided_at bigint
);

CREATE INDEX approvals_run ON {s}.approvals (run, created, id);
CREATE INDEX approvals_created ON {s}.approvals (created, id);
CREATE INDEX approvals_pending ON {s}.approvals (created, id) WHERE decision IS NULL;
CREATE INDEX approvals_decided ON {s}.approvals (decided_at, id) WHERE decided_at IS NOT NULL;

CREATE TABLE {s}.blobs (
    hash text COLLATE "C" PRIMARY KEY, -- BLAKE3, hexadecimal
    charged bigint NOT NULL,
    body bytea NOT NULL
);

-- Every blob has a row here, from the transaction on that stored it. Checked at the end of a transaction, so that one
-- statement can remove a run and its blobs.
CREATE TABLE {s}.run_blobs (
    run text COLLATE "C" NOT NULL REFERENCES {s}.runs (id) ON DELETE CASCADE,
    hash text COLLATE "C" NOT NULL REFERENCES {s}.blobs (hash) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (run, hash)
);

CREATE INDEX run_blobs_hash ON {s}.run_blobs (hash);

CREATE TABLE {s}.documents (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    body bytea NOT NULL, -- JSON text
    charged bigint NOT NULL,
    version bigint NOT NULL,
    created bigint NOT NULL, -- of the first version: pages go by it
    updated bigint NOT NULL,
    expires bigint,
    PRIMARY KEY (kind, id)
);

CREATE INDEX documents_created ON {s}.documents (kind, created, id);
CREATE INDEX documents_owner ON {s}.documents (kind, owner, created, id);
CREATE INDEX documents_expires ON {s}.documents (expires) WHERE expires IS NOT NULL;

-- Bytes in use and number of writes: each is the sum of the rows. Every write changes one row, in its transaction; there
-- are several, so that writes seldom wait for each other.
CREATE TABLE {s}.usage (
    shard smallint PRIMARY KEY,
    bytes bigint NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

INSERT INTO {s}.usage (shard) SELECT generate_series(0, 63);
