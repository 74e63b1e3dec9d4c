#include "baton/store/reader.h"

#include <concepts>
#include <cstring>

#include "baton/store/columns.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

/// Shared rows that are kept: enough for a campaign, not for any store.
constexpr size_t kKept = 20'000;

/// The values of columns of a row, one after the other. False: not what was stored.
class Columns {
 public:
  Columns(const Statement& row, int first) : row_(row), at_(first) {}
  bool read(std::string& value) { return value = row_.text(at_++), true; }
  template <std::integral Integer>
  bool read(Integer& value) {
    return value = static_cast<Integer>(row_.integer(at_++)), true;
  }
  bool read(double& value) { return value = row_.real(at_++), true; }
  bool read(std::optional<double>& value) {
    if (!row_.is_null(at_)) value = row_.real(at_);
    return ++at_, true;
  }
  bool read(CacheState& value) {
    const auto state = cache_state_named(row_.text(at_++));
    if (state) value = *state;
    return state.has_value();
  }
  template <class T>
  bool read(std::vector<T>& values) {
    const int64_t count = row_.integer(at_++);
    const std::string_view blob = row_.blob(at_++);
    if (blob.size() != static_cast<size_t>(count) * sizeof(T)) return false;
    values.resize(static_cast<size_t>(count));
    if (!blob.empty()) std::memcpy(values.data(), blob.data(), blob.size());
    return true;
  }
  bool read(std::vector<WorkOrigin>&) { return true; }  // of the origin set

 private:
  const Statement& row_;
  int at_;
};

template <class Map>
auto* find_kept(Map& map, int64_t id) {
  const auto at = map.find(id);
  if (at == map.end() && map.size() >= kKept) map.clear();
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

StoreReader::StoreReader(Database& database)
    : database_(database),
      find_work_(database.prepare("SELECT kind, text, brief, flops, bytes, hash FROM work WHERE id = ?")),
      find_operators_(database.prepare(
          "SELECT op, attributes, input_types, type FROM operator WHERE work = ? ORDER BY position")),
      find_build_(database.prepare("SELECT backend, target, compiler, opt_level, template, parameters, "
                                   "precision FROM build WHERE id = ?")),
      find_device_(database.prepare("SELECT sheet FROM device WHERE id = ?")),
      find_origins_(database.prepare("SELECT made_for, operator, op, source FROM origin WHERE origin_set = ? "
                                     "ORDER BY made_for, position")) {}

const std::string& StoreReader::select() {
  static const std::string text = [] {
    std::string columns = "SELECT m.id, m.hash, m.work, m.build, m.device, m.origin_set";
    for (const MeasurementColumn& column : kMeasurementColumns) {
      if (const std::string selected = selected_column(column); !selected.empty()) columns += ", " + selected;
      if (is_list(column)) columns += std::string(", s.") + column.name;
    }
    return columns +
           " FROM measurement m"
           " LEFT JOIN sample s ON s.measurement = m.id"
           " LEFT JOIN machine ON machine.id = m.machine"
           " LEFT JOIN model ON model.id = m.model"
           " LEFT JOIN campaign ON campaign.id = m.campaign";
  }();
  return text;
}

void StoreReader::damaged(const std::string& what) const {
  throw Error(
      "the store `" + database_.path() + "` is damaged: " + what +
      " is not what was stored; baton store stats --check lists all damage, a copy of the file is whole");
}

const StoreReader::KeyedWork& StoreReader::work(int64_t id) {
  if (const KeyedWork* kept = find_kept(works_, id)) return *kept;
  find_work_.bind(1, id);
  if (!find_work_.step()) damaged("work " + std::to_string(id));
  KeyedWork read;
  Work& work = read.work;
  const auto kind = work_kind_named(find_work_.text(0));
  work.text = find_work_.text(1);
  work.brief = find_work_.text(2);
  work.flops = find_work_.real(3);
  work.bytes = find_work_.real(4);
  const Digest hash = find_work_.digest(5);
  find_work_.reset();
  if (!kind) damaged("work " + std::to_string(id));
  work.kind = *kind;
  read.digest = work.digest();
  if (read.digest != hash) damaged("work " + std::to_string(id));
  find_operators_.bind(1, id);
  while (find_operators_.step()) {
    const Json types = Json::parse_or_discard(find_operators_.text(2));
    Json attributes = Json::parse_or_discard(find_operators_.text(1));
    if (!attributes.is_object() || !types.is_array() ||
        !std::all_of(types.begin(), types.end(), [](const auto& t) { return t.is_string(); })) {
      find_operators_.reset();
      damaged("work " + std::to_string(id));
    }
    work.operators.push_back({find_operators_.text(0), std::move(attributes),
                              types.get<std::vector<std::string>>(), find_operators_.text(3)});
  }
  return works_[id] = std::move(read);
}

const StoreReader::KeyedBuild& StoreReader::build(int64_t id) {
  if (const KeyedBuild* kept = find_kept(builds_, id)) return *kept;
  find_build_.bind(1, id);
  if (!find_build_.step()) damaged("build " + std::to_string(id));
  KeyedBuild read;
  read.build = {
      find_build_.text(0), find_build_.text(1), find_build_.text(2), static_cast<int>(find_build_.integer(3)),
      find_build_.text(4), find_build_.text(5), find_build_.text(6)};
  find_build_.reset();
  read.digest = read.build.digest();
  return builds_[id] = std::move(read);
}

const StoreReader::KeyedDevice& StoreReader::device(int64_t id) {
  if (const KeyedDevice* kept = find_kept(devices_, id)) return *kept;
  find_device_.bind(1, id);
  if (!find_device_.step()) damaged("device sheet " + std::to_string(id));
  const std::string text = find_device_.text(0);
  find_device_.reset();
  const auto sheet = DeviceSheet::from_text(text);
  if (!sheet) damaged("device sheet " + std::to_string(id));
  return devices_[id] = {*sheet, sheet_digest(*sheet)};
}

const StoreReader::Origins& StoreReader::origins(int64_t id) {
  if (const Origins* kept = find_kept(origins_, id)) return *kept;
  Origins read;
  find_origins_.bind(1, id);
  while (find_origins_.step())
    (find_origins_.integer(0) ? read.made_for : read.origins)
        .push_back(
            {static_cast<uint32_t>(find_origins_.integer(1)), find_origins_.text(2), find_origins_.text(3)});
  return origins_[id] = std::move(read);
}

Measurement StoreReader::read(const Statement& row) {
  const std::string what = "row " + std::to_string(row.integer(0));
  Measurement m;
  const KeyedWork& kept_work = work(row.integer(2));
  const KeyedBuild& kept_build = build(row.integer(3));
  const KeyedDevice& kept_device = device(row.integer(4));
  m.work = kept_work.work;
  m.build = kept_build.build;
  m.device = kept_device.sheet;
  if (!row.is_null(5)) {
    const Origins& both = origins(row.integer(5));
    m.origins = both.origins;
    m.made_for = both.made_for;
  }
  Columns columns(row, 6);
  bool whole = true;
  for_each_column(m, [&](const MeasurementColumn&, auto& value) { whole = columns.read(value) && whole; });
  if (!whole || m.digest({kept_work.digest, kept_build.digest, kept_device.digest}) != row.digest(1))
    damaged(what);
  return m;
}

}  // namespace baton
