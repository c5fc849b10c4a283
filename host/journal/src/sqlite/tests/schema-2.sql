-- Format 2: pages of runs by owner, and documents.

-- Still no index with a column that an append changes: these are written once, when a run is created.
CREATE INDEX runs_caller ON runs (project, caller, created, id);
CREATE INDEX runs_project ON runs (project, created, id);
CREATE INDEX runs_space ON runs (space, created, id);

CREATE TABLE documents (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    body TEXT NOT NULL, -- JSON text
    version INTEGER NOT NULL,
    created INTEGER NOT NULL, -- of the first version: pages go by it
    updated INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX documents_created ON documents (kind, created, id);
CREATE INDEX documents_owner ON documents (kind, owner, created, id);
CREATE INDEX documents_expires ON documents (expires) WHERE expires IS NOT NULL;
