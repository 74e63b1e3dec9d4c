#include "baton/store/schema.h"

#include <chrono>
#include <string>
#include <thread>

#include "baton/store/columns.h"
#include "baton/store/migrations/migrations.h"
#include "baton/support/error.h"

namespace baton {
namespace {

/// PRAGMA application_id of a store: "BATN".
constexpr int64_t kApplication = 0x4241544e;

int64_t version_of(Database& database) { return database.integer("PRAGMA user_version"); }
auto newest() { return static_cast<int64_t>(migrations().size()); }

/// Whether the file has no tables.
bool is_empty_file(Database& database) { return database.integer("SELECT count(*) FROM sqlite_schema") == 0; }

void check_owner(Database& database) {
  if (database.integer("PRAGMA application_id") != kApplication)
    throw Error("`" + database.path() +
                "` is an SQLite file of another program, not a store of measurements; it was left as it is");
}

void check_not_newer(Database& database) {
  const int64_t version = version_of(database);
  if (version > newest())
    throw Error("the store `" + database.path() + "` has version " + std::to_string(version) +
                " and was written by a newer Baton; this one knows versions up to " +
                std::to_string(newest()) +
                ": use that Baton, or let it write the rows with `baton store export`");
}

/// The view `rows`. Migrations that were released before kMeasurementColumns made it wrote it out.
std::string rows_view() {
  std::string columns;
  for (const MeasurementColumn& column : kMeasurementColumns) {
    if (const std::string selected = selected_column(column); !selected.empty()) columns += ", " + selected;
    if (column.member == ColumnMember(&Measurement::machine))
      columns += ", d.name AS device, d.kind AS device_kind, lower(hex(d.identity)) AS sheet";
  }
  // `op_source`: the operators of the model that a measurement belongs to, where it has a model; else what
  // was built, which is what was asked for.
  return R"sql(DROP VIEW rows; CREATE VIEW rows AS SELECT
  m.id AS measurement, m.work, w.kind, w.brief,
  coalesce((SELECT group_concat(op, ' + ') FROM
              (SELECT op FROM origin WHERE origin_set = m.origin_set AND made_for = 0 ORDER BY position)),
           w.operators) AS op_source,
  w.operators, w.flops, w.bytes,
  b.backend, b.target, b.compiler, b.opt_level, b.precision, b.template, b.parameters)sql" +
         columns + R"sql(
FROM measurement m
  JOIN work w ON w.id = m.work
  JOIN build b ON b.id = m.build
  JOIN device d ON d.id = m.device
  JOIN machine ON machine.id = m.machine
  LEFT JOIN model ON model.id = m.model
  LEFT JOIN campaign ON campaign.id = m.campaign;
)sql";
}

/// WAL cannot be switched on while another process has the file open; SQLite does not wait for that.
void switch_wal_on(Database& database) {
  for (int attempt = 0;; ++attempt) {
    try {
      Statement statement = database.prepare("PRAGMA journal_mode = WAL");
      statement.step();
      return;
    } catch (const Error&) {
      if (attempt == 50) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

}  // namespace

std::span<const Migration> migrations() {
#define BATON_MIGRATION(sql, doc) {doc, sql},
  static const Migration kAll[] = {
#include "baton/store/migrations/migrations.def"
  };
#undef BATON_MIGRATION
  return kAll;
}

void migrate(Database& database) {
  const bool is_new = is_empty_file(database);
  if (!is_new) {
    check_owner(database);
    check_not_newer(database);
  }
  switch_wal_on(database);
  if (version_of(database) == newest()) return;
  Transaction transaction(database);
  // Another process may have done it meanwhile.
  if (is_empty_file(database))
    database.run(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
  check_owner(database);
  check_not_newer(database);
  for (int64_t version = version_of(database); version < newest(); ++version)
    database.run(migrations()[static_cast<size_t>(version)].sql);
  database.run(rows_view().c_str());
  database.run(("PRAGMA user_version = " + std::to_string(newest())).c_str());
  transaction.commit();
}

void require_newest(Database& database) {
  check_owner(database);
  check_not_newer(database);
  if (const int64_t version = version_of(database); version < newest())
    throw Error("the store `" + database.path() + "` has version " + std::to_string(version) +
                " of an older Baton, and is opened for reading only: anything that writes to it brings it to "
                "version " +
                std::to_string(newest()) + " (baton store merge " + database.path() + ")");
}

}  // namespace baton
