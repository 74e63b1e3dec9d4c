#include "baton/store/store.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "baton/store/query.h"
#include "baton/store/reader.h"
#include "baton/store/schema.h"
#include "baton/store/writer.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"

namespace baton {
namespace {

/// Rows of a transaction of merge(): large enough for speed, small enough that other writers get their turn.
constexpr size_t kMergeBatch = 5000;

StoreTable table_of(Statement& statement) {
  StoreTable table;
  for (int i = 0; i < statement.columns(); ++i) table.columns.push_back(statement.name(i));
  while (statement.step()) {
    std::vector<StoreCell>& row = table.rows.emplace_back();
    row.reserve(table.columns.size());
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.cell(i));
  }
  return table;
}

}  // namespace

struct Store::State {
  std::unique_ptr<Database> database;
  Mode mode;
  // Made when first needed, and closed before the connection.
  std::unique_ptr<StoreWriter> writer = nullptr;
  std::unique_ptr<StoreReader> reader = nullptr;

  StoreReader& reading() {
    if (!reader) reader = std::make_unique<StoreReader>(*database);
    return *reader;
  }
  /// The configurations of a campaign, in order; `having`: a clause over the rows of each.
  std::vector<std::string> configurations(const std::string& campaign, const char* having) {
    Statement rows = database->prepare(
        std::string("SELECT configuration FROM measurement"
                    " WHERE campaign = (SELECT id FROM campaign WHERE name = ?) AND configuration IS NOT NULL"
                    " GROUP BY configuration") +
        having + " ORDER BY configuration");
    rows.bind(1, std::string_view(campaign));
    std::vector<std::string> all;
    while (rows.step()) all.push_back(rows.text(0));
    return all;
  }
  StoreWriter& writing() {
    if (!writer) writer = std::make_unique<StoreWriter>(*database);
    return *writer;
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::string& path, Mode mode) {
  auto database =
      Database::open(path, mode == Mode::kRead ? Database::Access::kRead : Database::Access::kCreate);
  if (mode == Mode::kWrite) {
    migrate(*database);
    // A crash of the machine may lose the last transactions, a killed process none.
    database->run("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536");
  } else {
    require_newest(*database);
    database->run("PRAGMA query_only = 1; PRAGMA cache_size = -65536");
  }
  return Store(std::make_unique<State>(State{std::move(database), mode}));
}

int64_t Store::insert(std::span<const Measurement> measurements) {
  if (state_->mode == Mode::kRead) throw Error("the store `" + path() + "` was opened for reading");
  StoreWriter& writer = state_->writing();
  Transaction transaction(*state_->database);
  try {
    int64_t added = 0;
    for (const Measurement& measurement : measurements) added += writer.insert(measurement);
    transaction.commit();
    return added;
  } catch (...) {
    writer.forget();
    throw;
  }
}

int64_t Store::merge(const Store& other) {
  int64_t added = 0;
  std::vector<Measurement> batch;
  other.each({}, [&](const Measurement& measurement) {
    batch.push_back(measurement);
    if (batch.size() == kMergeBatch) {
      added += insert(batch);
      batch.clear();
    }
    return true;
  });
  return added + insert(batch);
}

void Store::each(const StoreQuery& query, const std::function<bool(const Measurement&)>& each) const {
  const Selection selection(query);
  Statement rows = state_->database->prepare(StoreReader::select() + selection.order_and_limit());
  selection.bind(rows);
  StoreReader& reader = state_->reading();
  while (rows.step())
    if (!each(reader.read(rows))) return;
}

std::vector<Measurement> Store::select(const StoreQuery& query) const {
  std::vector<Measurement> all;
  each(query, [&](const Measurement& measurement) {
    all.push_back(measurement);
    return true;
  });
  return all;
}

int64_t Store::count(const StoreQuery& query) const {
  const Selection selection(query);
  Statement rows = state_->database->prepare("SELECT count(*) FROM (SELECT 1 FROM measurement m" +
                                             selection.order_and_limit() + ")");
  selection.bind(rows);
  rows.step();
  return rows.integer(0);
}

StoreTable Store::table(const StoreQuery& query, const std::vector<std::string>& columns) const {
  const Selection selection(query);
  std::string wanted;
  if (!columns.empty()) {
    const Statement all = state_->database->prepare("SELECT * FROM rows LIMIT 0");
    std::vector<std::string> known;
    for (int i = 0; i < all.columns(); ++i) known.push_back(all.name(i));
    for (const std::string& column : columns) {
      if (std::find(known.begin(), known.end(), column) == known.end()) {
        std::string names;
        for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
        throw UsageError("rows of a store have no column `" + column + "`; there are: " + names);
      }
      wanted += (wanted.empty() ? "rows." : ", rows.") + column;
    }
  }
  Statement rows = state_->database->prepare("SELECT " + (wanted.empty() ? "rows.*" : wanted) +
                                             " FROM measurement m JOIN rows ON rows.measurement = m.id" +
                                             selection.order_and_limit());
  selection.bind(rows);
  return table_of(rows);
}

std::vector<StorePlace> Store::places(const StoreQuery& query) const {
  const Selection selection(query);
  Statement rows = state_->database->prepare(
      "SELECT machine.name, device.name, lower(hex(device.identity)), count(*) FROM (SELECT m.machine, "
      "m.device"
      " FROM measurement m" +
      selection.order_and_limit() +
      ") AS m JOIN machine ON machine.id = m.machine JOIN device ON device.id = m.device"
      " GROUP BY m.machine, device.identity ORDER BY count(*) DESC, machine.name, device.name, 3");
  selection.bind(rows);
  std::vector<StorePlace> places;
  while (rows.step()) places.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3)});
  return places;
}

StoreTable Store::sql(const std::string& statement) const {
  Statement rows = state_->database->prepare_reading(statement);
  return table_of(rows);
}

std::optional<Measurement> Store::newest(const Work& work, const BuildFacts& build, const DeviceSheet& device,
                                         int threads, CacheState cache) const {
  Statement rows = state_->database->prepare(
      StoreReader::select() +
      " WHERE m.work = (SELECT id FROM work WHERE hash = ?) AND m.build = (SELECT id FROM build WHERE hash = "
      "?)"
      " AND m.device IN (SELECT id FROM device WHERE identity = ?) AND m.threads = ? AND m.cache = ?"
      " AND m.unreliable IS NULL ORDER BY m.begun_s DESC, m.id DESC");
  int at = 0;
  for (const Digest& digest : {work.digest(), build.digest(), sheet_identity(device)})
    rows.bind(++at, digest);
  rows.bind(4, int64_t{threads}).bind(5, cache_state_name(cache));
  while (rows.step())
    if (Measurement found = state_->reading().read(rows); may_be_same_processor(found.device, device))
      return found;
  return {};
}

std::vector<std::string> Store::finished(const std::string& campaign) const {
  return state_->configurations(campaign, "");
}

std::vector<std::string> Store::failed(const std::string& campaign) const {
  return state_->configurations(campaign, " HAVING min(coalesce(unreliable, '') LIKE 'failed: %')");
}

std::vector<std::string> Store::damage() const {
  std::vector<std::string> found;
  for (const char* check : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
    Statement rows = state_->database->prepare(check);
    while (rows.step()) {
      std::string line = rows.text(0);
      for (int i = 1; i < rows.columns(); ++i) line += " " + rows.text(i);
      if (line != "ok") found.push_back(line);
    }
  }
  if (!found.empty()) return found;
  Statement rows = state_->database->prepare(StoreReader::select() + " ORDER BY m.id");
  while (rows.step()) {
    try {
      state_->reading().read(rows);
    } catch (const Error& error) {
      found.emplace_back(error.what());
    }
  }
  return found;
}

const std::string& Store::path() const { return state_->database->path(); }

std::string default_store_path() {
  const std::shared_ptr<const Environment> given = environment();
  if (!given->store.empty()) return given->store;
  std::filesystem::path cache = given->cache_home;
  if (cache.empty()) {
    if (given->home.empty())
      throw Error("where is the store? Neither BATON_STORE nor HOME is set: give its file");
    cache = std::filesystem::path(given->home) / ".cache";
  }
  std::error_code ignored;  // opening the store reports it
  std::filesystem::create_directories(cache / "baton", ignored);
  return (cache / "baton" / "measurements.db").string();
}

}  // namespace baton
