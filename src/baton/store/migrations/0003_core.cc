#include "baton/store/migrations/migrations.h"

namespace baton {

// Rows that were measured before have 0, which is "not read". The view is that of migration 2, which is never
// changed, with this column.
const char* const kCoreSql = R"sql(
ALTER TABLE measurement ADD COLUMN core_ns REAL NOT NULL DEFAULT 0;
DROP VIEW rows;
CREATE VIEW rows AS SELECT
  m.id AS measurement, m.work, w.kind, w.brief, w.operators, w.flops, w.bytes,
  b.backend, b.target, b.compiler, b.opt_level, b.template, b.parameters,
  machine.name AS machine, d.name AS device, d.kind AS device_kind, lower(hex(d.identity)) AS sheet,
  m.threads, m.cache, m.median_us, m.cv, m.plus_minus_us, m.samples, m.disturbed, m.outliers,
  m.unreliable, m.simulated, m.load, m.others_busy, m.core_ns, m.reference_us, m.begun_s,
  model.name AS model, model.work_id AS model_id, model.family, m.node, m.calls, m.share, m.method,
  campaign.name AS campaign, m.configuration
FROM measurement m
  JOIN work w ON w.id = m.work
  JOIN build b ON b.id = m.build
  JOIN device d ON d.id = m.device
  JOIN machine ON machine.id = m.machine
  LEFT JOIN model ON model.id = m.model
  LEFT JOIN campaign ON campaign.id = m.campaign;
)sql";

}  // namespace baton
