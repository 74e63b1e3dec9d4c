#include "baton/store/migrations/migrations.h"

namespace baton {

// Times in microseconds (`_us`), moments in seconds since 1970 (`_s`); hashes are 16 bytes, as Digest has
// them.
const char* const kTablesSql = R"sql(
CREATE TABLE work (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  brief TEXT NOT NULL,
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT;

CREATE TABLE operator (
  work INTEGER NOT NULL REFERENCES work,
  position INTEGER NOT NULL,
  op TEXT NOT NULL,
  attributes TEXT NOT NULL,
  input_types TEXT NOT NULL,
  type TEXT NOT NULL,
  PRIMARY KEY (work, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_by_op ON operator (op, work);

CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  backend TEXT NOT NULL,
  target TEXT NOT NULL,
  compiler TEXT NOT NULL,
  opt_level INTEGER NOT NULL,
  template TEXT NOT NULL,
  parameters TEXT NOT NULL
) STRICT;

CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  identity BLOB NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  cores INTEGER NOT NULL,
  gflops REAL,
  gbytes_per_s REAL,
  sheet TEXT NOT NULL
) STRICT;

CREATE TABLE machine (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  work_id TEXT NOT NULL,
  family TEXT NOT NULL,
  UNIQUE (name, work_id, family)
) STRICT;

CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE origin_set (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE origin (
  origin_set INTEGER NOT NULL REFERENCES origin_set,
  made_for INTEGER NOT NULL,
  position INTEGER NOT NULL,
  operator INTEGER NOT NULL,
  op TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (origin_set, made_for, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  work INTEGER NOT NULL REFERENCES work,
  build INTEGER NOT NULL REFERENCES build,
  device INTEGER NOT NULL REFERENCES device,
  machine INTEGER NOT NULL REFERENCES machine,
  model INTEGER REFERENCES model,
  campaign INTEGER REFERENCES campaign,
  configuration TEXT,
  origin_set INTEGER REFERENCES origin_set,
  threads INTEGER NOT NULL,
  cache TEXT NOT NULL,
  median_us REAL NOT NULL,
  cv REAL NOT NULL,
  plus_minus_us REAL,
  unreliable TEXT,
  simulated TEXT,
  load REAL NOT NULL,
  others_busy REAL NOT NULL,
  reference_us REAL NOT NULL,
  begun_s INTEGER NOT NULL,
  node INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  share REAL NOT NULL,
  method TEXT,
  samples INTEGER NOT NULL,
  disturbed INTEGER NOT NULL,
  outliers INTEGER NOT NULL
) STRICT;
CREATE INDEX measurement_by_work ON measurement (work, build, threads);
CREATE INDEX measurement_by_campaign ON measurement (campaign, configuration) WHERE campaign IS NOT NULL;
CREATE INDEX measurement_by_model ON measurement (model) WHERE model IS NOT NULL;

CREATE TABLE sample (
  measurement INTEGER PRIMARY KEY REFERENCES measurement,
  samples_us BLOB NOT NULL,
  disturbed BLOB NOT NULL,
  outliers BLOB NOT NULL
) STRICT;
)sql";

}  // namespace baton
