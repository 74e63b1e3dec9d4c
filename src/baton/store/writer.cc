#include "baton/store/writer.h"

#include <concepts>

#include "baton/store/columns.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

/// Shared rows whose numbers are remembered; more than that, and they are looked up anew.
constexpr size_t kRemembered = 200'000;

/// Binds the values of own_column() of all columns, one after the other; empty texts are stored as NULL.
class OwnColumns {
 public:
  OwnColumns(Statement& statement, int first) : statement_(statement), at_(first) {}
  void bind(const std::string& value) {
    if (value.empty())
      statement_.bind_null(at_++);
    else
      statement_.bind(at_++, std::string_view(value));
  }
  void bind(CacheState value) { statement_.bind(at_++, cache_state_name(value)); }
  template <std::integral Integer>
  void bind(Integer value) {
    statement_.bind(at_++, static_cast<int64_t>(value));
  }
  void bind(double value) { statement_.bind(at_++, value); }
  void bind(const std::optional<double>& value) {
    if (value)
      bind(*value);
    else
      statement_.bind_null(at_++);
  }
  template <class T>
  void bind(const std::vector<T>& values) {
    bind(values.size());
  }

 private:
  Statement& statement_;
  int at_;
};

constexpr int kSharedColumns = 8;
std::string insert_measurement() {
  std::string names = "hash, work, build, device, machine, model, campaign, origin_set";
  std::string values = "?, ?, ?, ?, ?, ?, ?, ?";
  for (const MeasurementColumn& column : kMeasurementColumns) {
    const char* own = own_column(column);
    if (!own) continue;
    names += std::string(", ") + own;
    values += ", ?";
  }
  return "INSERT OR IGNORE INTO measurement (" + names + ") VALUES (" + values + ")";
}

std::string as_bytes_of(const std::vector<WorkOrigin>& origins) {
  std::string bytes = std::to_string(origins.size()) + ":";
  for (const WorkOrigin& origin : origins)
    for (const std::string& text : {std::to_string(origin.id), origin.op, origin.source})
      bytes += std::to_string(text.size()) + ":" + text;
  return bytes;
}

/// "nn.conv2d + nn.relu"
std::string joined_operators(const Work& work) {
  std::string text;
  for (const WorkOperator& op : work.operators) text += (text.empty() ? "" : " + ") + op.op;
  return text;
}

void require_object(const Json& json, const std::string& text, const char* what) {
  if (!json.is_object())
    throw Error(std::string("a measurement's ") + what + " are not a JSON object: `" + text.substr(0, 60) +
                "`");
}

}  // namespace

StoreWriter::StoreWriter(Database& database)
    : database_(database),
      last_digest_(sheet_digest(last_sheet_)),
      find_work_(database.prepare("SELECT id FROM work WHERE hash = ?")),
      add_work_(database.prepare("INSERT INTO work (hash, kind, text, brief, flops, bytes, operators) VALUES "
                                 "(?, ?, ?, ?, ?, ?, ?)")),
      add_operator_(
          database.prepare("INSERT INTO operator (work, position, op, attributes, input_types, type)"
                           " VALUES (?, ?, ?, ?, ?, ?)")),
      add_attributes_(database.prepare("INSERT INTO attribute (work, position, name, value)"
                                       " SELECT ?1, ?2, key, value FROM json_each(?3)")),
      find_build_(database.prepare("SELECT id FROM build WHERE hash = ?")),
      add_build_(database.prepare(
          "INSERT INTO build (hash, backend, target, compiler, opt_level, template, parameters, precision)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")),
      find_device_(database.prepare("SELECT id FROM device WHERE hash = ?")),
      add_device_(database.prepare(
          "INSERT INTO device (hash, kind, name, cores, gflops, gbytes_per_s, sheet, identity)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")),
      find_machine_(database.prepare("SELECT id FROM machine WHERE name = ?")),
      add_machine_(database.prepare("INSERT INTO machine (name) VALUES (?)")),
      find_campaign_(database.prepare("SELECT id FROM campaign WHERE name = ?")),
      add_campaign_(database.prepare("INSERT INTO campaign (name) VALUES (?)")),
      find_model_(database.prepare("SELECT id FROM model WHERE name = ? AND work_id = ? AND family = ?")),
      add_model_(database.prepare("INSERT INTO model (name, work_id, family) VALUES (?, ?, ?)")),
      find_origins_(database.prepare("SELECT id FROM origin_set WHERE hash = ?")),
      add_origins_(database.prepare("INSERT INTO origin_set (hash) VALUES (?)")),
      add_origin_(database.prepare("INSERT INTO origin (origin_set, made_for, position, operator, op, source)"
                                   " VALUES (?, ?, ?, ?, ?, ?)")),
      add_(database.prepare(insert_measurement())),
      add_samples_(database.prepare(
          "INSERT INTO sample (measurement, samples_us, disturbed, outliers) VALUES (?, ?, ?, ?)")) {}

void StoreWriter::forget() {
  works_.clear();
  builds_.clear();
  devices_.clear();
  origins_.clear();
  machines_.clear();
  campaigns_.clear();
  models_.clear();
}

std::optional<int64_t> StoreWriter::known_row(Rows& rows, Statement& find, const Digest& digest) {
  if (const auto known = rows.find(digest); known != rows.end()) return known->second;
  find.bind(1, digest);
  if (!find.step()) return {};
  const int64_t row = find.integer(0);
  find.reset();
  if (rows.size() >= kRemembered) rows.clear();
  rows.emplace(digest, row);
  return row;
}

int64_t StoreWriter::work_row(const Work& work, const Digest& digest) {
  if (const auto known = known_row(works_, find_work_, digest)) return *known;
  add_work_.bind(1, digest);
  add_work_.bind(2, work_kind_name(work.kind))
      .bind(3, std::string_view(work.text))
      .bind(4, std::string_view(work.brief))
      .bind(5, work.flops)
      .bind(6, work.bytes)
      .bind(7, std::string_view(joined_operators(work)))
      .run();
  const int64_t row = database_.last_row();
  for (size_t i = 0; i < work.operators.size(); ++i) {
    const WorkOperator& op = work.operators[i];
    const std::string attributes = op.attributes.dump();
    require_object(op.attributes, attributes, "attributes");
    const auto position = static_cast<int64_t>(i);
    add_operator_.bind(1, row)
        .bind(2, position)
        .bind(3, std::string_view(op.op))
        .bind(4, std::string_view(attributes))
        .bind(5, std::string_view(Json(op.input_types).dump()))
        .bind(6, std::string_view(op.type))
        .run();
    add_attributes_.bind(1, row).bind(2, position).bind(3, std::string_view(attributes)).run();
  }
  return works_[digest] = row;
}

int64_t StoreWriter::build_row(const BuildFacts& build, const Digest& digest) {
  if (const auto known = known_row(builds_, find_build_, digest)) return *known;
  require_object(Json::parse_or_discard(build.parameters), build.parameters, "parameters");
  add_build_.bind(1, digest);
  add_build_.bind(2, std::string_view(build.backend))
      .bind(3, std::string_view(build.target))
      .bind(4, std::string_view(build.compiler))
      .bind(5, int64_t{build.opt_level})
      .bind(6, std::string_view(build.template_name))
      .bind(7, std::string_view(build.parameters))
      .bind(8, std::string_view(build.precision))
      .run();
  return builds_[digest] = database_.last_row();
}

int64_t StoreWriter::device_row(const DeviceSheet& sheet, const Digest& digest) {
  if (const auto known = known_row(devices_, find_device_, digest)) return *known;
  add_device_.bind(1, digest);
  add_device_.bind(2, std::string_view(sheet.kind))
      .bind(3, std::string_view(sheet.name))
      .bind(4, int64_t{sheet.cores})
      .bind_null(5)
      .bind_null(6)
      .bind(7, std::string_view(sheet.text()))
      .bind(8, sheet_identity(sheet));
  if (sheet.peaks) add_device_.bind(5, sheet.peaks->gflops).bind(6, sheet.peaks->gbytes_per_s);
  add_device_.run();
  return devices_[digest] = database_.last_row();
}

int64_t StoreWriter::named_row(std::unordered_map<std::string, int64_t>& known, Statement& find,
                               Statement& add, const std::string& name) {
  if (const auto at = known.find(name); at != known.end()) return at->second;
  find.bind(1, std::string_view(name));
  if (find.step()) {
    known[name] = find.integer(0);
    find.reset();
    return known[name];
  }
  add.bind(1, std::string_view(name)).run();
  return known[name] = database_.last_row();
}

int64_t StoreWriter::model_row(const Measurement& measurement) {
  const std::string key = measurement.model + '\n' + measurement.model_id + '\n' + measurement.family;
  if (const auto at = models_.find(key); at != models_.end()) return at->second;
  for (Statement* statement : {&find_model_, &add_model_})
    statement->bind(1, std::string_view(measurement.model))
        .bind(2, std::string_view(measurement.model_id))
        .bind(3, std::string_view(measurement.family));
  if (find_model_.step()) {
    models_[key] = find_model_.integer(0);
    find_model_.reset();
    return models_[key];
  }
  add_model_.run();
  return models_[key] = database_.last_row();
}

std::optional<int64_t> StoreWriter::origin_row(const Measurement& measurement) {
  if (measurement.origins.empty() && measurement.made_for.empty()) return {};
  const std::string bytes = as_bytes_of(measurement.origins) + as_bytes_of(measurement.made_for);
  const Digest digest = digest128(bytes.data(), bytes.size());
  if (const auto known = known_row(origins_, find_origins_, digest)) return known;
  add_origins_.bind(1, digest).run();
  const int64_t row = database_.last_row();
  for (const bool made_for : {false, true}) {
    const std::vector<WorkOrigin>& origins = made_for ? measurement.made_for : measurement.origins;
    for (size_t i = 0; i < origins.size(); ++i)
      add_origin_.bind(1, row)
          .bind(2, int64_t{made_for})
          .bind(3, static_cast<int64_t>(i))
          .bind(4, int64_t{origins[i].id})
          .bind(5, std::string_view(origins[i].op))
          .bind(6, std::string_view(origins[i].source))
          .run();
  }
  return origins_[digest] = row;
}

const Digest& StoreWriter::digest_of(const DeviceSheet& sheet) {
  if (!(sheet == last_sheet_)) {
    last_sheet_ = sheet;
    last_digest_ = sheet_digest(sheet);
  }
  return last_digest_;
}

bool StoreWriter::insert(const Measurement& m) {
  check_measurement(m);
  const MeasurementKeys keys{m.work.digest(), m.build.digest(), digest_of(m.device)};
  add_.bind(1, m.digest(keys));
  add_.bind(2, work_row(m.work, keys.work))
      .bind(3, build_row(m.build, keys.build))
      .bind(4, device_row(m.device, keys.device))
      .bind(5, named_row(machines_, find_machine_, add_machine_, m.machine));
  for (const int at : {6, 7, 8}) add_.bind_null(at);
  if (!m.model.empty() || !m.model_id.empty() || !m.family.empty()) add_.bind(6, model_row(m));
  if (!m.campaign.empty()) add_.bind(7, named_row(campaigns_, find_campaign_, add_campaign_, m.campaign));
  if (const auto origins = origin_row(m)) add_.bind(8, *origins);
  OwnColumns columns(add_, kSharedColumns + 1);
  for_each_column(m, [&](const MeasurementColumn& column, const auto& value) {
    if (own_column(column)) columns.bind(value);
  });
  add_.run();
  if (database_.changes() == 0) return false;
  add_samples_.bind(1, database_.last_row());
  add_samples_.bind_blob(2, std::as_bytes(std::span(m.samples_us)));
  add_samples_.bind_blob(3, std::as_bytes(std::span(m.disturbed)));
  add_samples_.bind_blob(4, std::as_bytes(std::span(m.outliers)));
  add_samples_.run();
  return true;
}

}  // namespace baton
