#include "baton/store/migrations/migrations.h"

namespace baton {

// `attribute.value`: lists as JSON without blanks ([2,2]), texts as they are, flags as 0 and 1, None as NULL.
const char* const kViewsSql = R"sql(
CREATE TABLE attribute (
  work INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  value ANY,
  PRIMARY KEY (work, position, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX attribute_by_value ON attribute (name, value, work);
INSERT INTO attribute (work, position, name, value)
  SELECT operator.work, operator.position, member.key, member.value
  FROM operator, json_each(operator.attributes) AS member;

ALTER TABLE work ADD COLUMN operators TEXT NOT NULL DEFAULT '';
UPDATE work SET operators =
  coalesce((SELECT group_concat(op, ' + ') FROM (SELECT op FROM operator WHERE work = work.id ORDER BY position)), '');

CREATE VIEW rows AS SELECT
  m.id AS measurement, m.work, w.kind, w.brief, w.operators, w.flops, w.bytes,
  b.backend, b.target, b.compiler, b.opt_level, b.template, b.parameters,
  machine.name AS machine, d.name AS device, d.kind AS device_kind, lower(hex(d.identity)) AS sheet,
  m.threads, m.cache, m.median_us, m.cv, m.plus_minus_us, m.samples, m.disturbed, m.outliers,
  m.unreliable, m.simulated, m.load, m.others_busy, m.reference_us, m.begun_s,
  model.name AS model, model.work_id AS model_id, model.family, m.node, m.calls, m.share, m.method,
  campaign.name AS campaign, m.configuration
FROM measurement m
  JOIN work w ON w.id = m.work
  JOIN build b ON b.id = m.build
  JOIN device d ON d.id = m.device
  JOIN machine ON machine.id = m.machine
  LEFT JOIN model ON model.id = m.model
  LEFT JOIN campaign ON campaign.id = m.campaign;

CREATE VIEW operators AS SELECT work, position, op, attributes, input_types, type FROM operator;

CREATE VIEW attributes AS SELECT a.work, a.position, o.op, a.name, a.value
FROM attribute a JOIN operator o ON o.work = a.work AND o.position = a.position;

CREATE VIEW origins AS SELECT
  m.id AS measurement, o.made_for, o.position, o.operator, o.op, o.source
FROM measurement m JOIN origin o ON o.origin_set = m.origin_set;

CREATE VIEW works AS SELECT
  id AS work, lower(hex(hash)) AS work_id, kind, brief, operators, flops, bytes, text
FROM work;

CREATE VIEW sheets AS SELECT
  lower(hex(identity)) AS sheet, kind, name, cores, gflops, gbytes_per_s, sheet AS text
FROM device;
)sql";

}  // namespace baton
