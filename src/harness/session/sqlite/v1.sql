CREATE TABLE sessions(
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  root TEXT NOT NULL,
  model TEXT NOT NULL,
  manifest TEXT NOT NULL,
  prompt BLOB NOT NULL,
  tools BLOB NOT NULL,
  title TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  calls INTEGER NOT NULL DEFAULT 0,
  last_event INTEGER NOT NULL DEFAULT 0,
  last_message INTEGER NOT NULL DEFAULT 0,
  last_wait INTEGER NOT NULL DEFAULT 0,
  last_change INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER
) STRICT;

CREATE TABLE turns(
  session INTEGER NOT NULL REFERENCES sessions(num),
  turn INTEGER NOT NULL,
  state TEXT NOT NULL,
  step INTEGER NOT NULL,
  options TEXT NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  PRIMARY KEY(session, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE events(
  session INTEGER NOT NULL REFERENCES sessions(num),
  seq INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages(
  session INTEGER NOT NULL REFERENCES sessions(num),
  seq INTEGER NOT NULL,
  place INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  replaced_by INTEGER,
  body TEXT NOT NULL,
  PRIMARY KEY(session, seq)
) STRICT;
CREATE UNIQUE INDEX messages_active ON messages(session, place) WHERE replaced_by IS NULL;

CREATE TABLE operations(
  session INTEGER NOT NULL REFERENCES sessions(num),
  key TEXT NOT NULL,
  turn INTEGER NOT NULL,
  step INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  call_id TEXT NOT NULL,
  effects TEXT NOT NULL,
  input TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  checkpoint TEXT,
  result TEXT,
  intended_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY(session, key)
) STRICT;
CREATE INDEX operations_step ON operations(session, turn, step);

CREATE TABLE waits(
  session INTEGER NOT NULL REFERENCES sessions(num),
  id INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  prompt TEXT NOT NULL,
  answer TEXT,
  open INTEGER NOT NULL DEFAULT 1,
  asked_at INTEGER NOT NULL,
  answered_at INTEGER,
  PRIMARY KEY(session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_open ON waits(session) WHERE open = 1;

CREATE TABLE inbox(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions(num),
  item TEXT NOT NULL,
  at INTEGER NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX inbox_new ON inbox(session, id) WHERE taken = 0;

CREATE TABLE seen(
  session INTEGER NOT NULL REFERENCES sessions(num),
  path TEXT NOT NULL,
  digest BLOB,
  PRIMARY KEY(session, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes(
  session INTEGER NOT NULL REFERENCES sessions(num),
  seq INTEGER NOT NULL,
  key TEXT NOT NULL,
  path TEXT NOT NULL,
  before BLOB,
  after BLOB,
  mode INTEGER,
  PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE vals(
  session INTEGER NOT NULL REFERENCES sessions(num),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(session, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs(
  digest BLOB PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
