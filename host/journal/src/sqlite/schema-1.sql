-- Format 1. Times are milliseconds since the Unix epoch.

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    status TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    wake_at INTEGER,
    waits_for TEXT NOT NULL, -- JSON array of keys
    bytes INTEGER NOT NULL,
    script TEXT NOT NULL,
    space TEXT NOT NULL,
    caller TEXT NOT NULL,
    project TEXT NOT NULL,
    engine TEXT NOT NULL,
    outcome TEXT,
    cancel_requested INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- No index has a column that an append changes, but for the last, whose rows are not appended to.
CREATE INDEX runs_created ON runs (created, id);
CREATE INDEX runs_status ON runs (status, created, id);
CREATE INDEX runs_owner ON runs (owner, lease_until) WHERE status = 'running';
CREATE INDEX runs_wake ON runs (wake_at) WHERE status = 'parked';
CREATE INDEX runs_ended ON runs (updated, id) WHERE status IN ('finished', 'failed', 'cancelled');

CREATE TABLE entries (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL, -- JSON text
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Events that happened, kept until the run ends: it may park later.
CREATE TABLE signals (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call INTEGER NOT NULL,
    request TEXT NOT NULL,
    decision TEXT,
    created INTEGER NOT NULL,
    decided_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_run ON approvals (run);
CREATE INDEX approvals_created ON approvals (created, id);
CREATE INDEX approvals_pending ON approvals (created, id) WHERE decision IS NULL;

-- With row ids: large bodies are kept out of the tree that hashes are looked up in.
CREATE TABLE blobs (
    hash TEXT NOT NULL UNIQUE, -- BLAKE3, hexadecimal
    body BLOB NOT NULL
) STRICT;

-- Every blob has a row here, from the transaction on that stored it.
CREATE TABLE run_blobs (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    hash TEXT NOT NULL REFERENCES blobs (hash),
    PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_blobs_hash ON run_blobs (hash);
