#include "baton/store/measurement_json.h"

#include "baton/store/columns.h"
#include "baton/support/error.h"
#include "baton/support/json_fields.h"

namespace baton {
namespace {

using json_fields::Field;
using json_fields::may_lack;
using json_fields::required;
using json_fields::unless_empty;

constexpr int kVersion = 1;

/// A text that holds JSON as a member that is JSON; where that would not read back as the same text, as text.
Json embedded(const std::string& text) {
  Json json = Json::parse_or_discard(text);
  return json.is_object() && json.dump() == text ? json : Json(text);
}
std::string embedded_text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

template <class Row, std::string Row::* text>
constexpr Field<Row> json_text(const char* name) {
  return {[](const char* key, const Row& row, Json& object) { object[key] = embedded(row.*text); },
          [](const char* key, const Json& object, Row& row) { row.*text = embedded_text(object.at(key)); },
          name};
}

/// An object, or one in a text, as earlier versions wrote what was not laid out as they do.
void read_attributes(const char* key, const Json& object, WorkOperator& row) {
  const Json& json = object.at(key);
  row.attributes = json.is_string() ? Json::parse(json.get<std::string>()) : json;
}
void write_attributes(const char* key, const WorkOperator& row, Json& object) {
  object[key] = row.attributes;
}

using O = WorkOperator;
constexpr Field<O> kOperatorFields[] = {
    required<O, &O::op>("op"),
    {write_attributes, read_attributes, "attributes"},
    required<O, &O::input_types>("input_types"),
    required<O, &O::type>("type"),
};

using S = WorkOrigin;
constexpr Field<S> kOriginFields[] = {
    required<S, &S::id>("id"),
    required<S, &S::op>("op"),
    unless_empty<S, &S::source>("source"),
};

template <class Row>
Json rows_json(const std::vector<Row>& rows, std::span<const Field<Row>> fields) {
  Json list = Json::array();
  for (const Row& row : rows) json_fields::write(fields, row, list.emplace_back());
  return list;
}
template <class Row>
std::vector<Row> rows_of(const Json& list, std::span<const Field<Row>> fields) {
  if (!list.is_array()) throw Error("a list was expected, and is `" + list.dump().substr(0, 40) + "`");
  std::vector<Row> rows;
  for (const Json& each : list) json_fields::read(fields, each, rows.emplace_back());
  return rows;
}

WorkKind kind_of_work(const Json& json) {
  const auto kind = work_kind_named(json.get<std::string>());
  if (!kind) throw Error("`" + json.get<std::string>() + "` is not a kind of work");
  return *kind;
}
CacheState state_of_cache(const Json& json) {
  const auto state = cache_state_named(json.get<std::string>());
  if (!state) throw Error("`" + json.get<std::string>() + "` is not a state of caches");
  return *state;
}
DeviceSheet sheet_of(const Json& json) {
  const auto sheet = DeviceSheet::from_text(json.get<std::string>());
  if (!sheet) throw Error("its device sheet cannot be read; a newer Baton may have written it");
  return *sheet;
}

using W = Work;
constexpr Field<W> kWorkFields[] = {
    {[](const char* key, const W& work, Json& object) {
       object[key] = std::string(work_kind_name(work.kind));
     },
     [](const char* key, const Json& object, W& work) { work.kind = kind_of_work(object.at(key)); }, "kind"},
    required<W, &W::text>("text"),
    may_lack<W, &W::brief>("brief"),
    {[](const char* key, const W& work, Json& object) {
       object[key] = rows_json<O>(work.operators, kOperatorFields);
     },
     [](const char* key, const Json& object, W& work) {
       work.operators = rows_of<O>(object.at(key), kOperatorFields);
     },
     "operators"},
    may_lack<W, &W::flops>("flops"),
    may_lack<W, &W::bytes>("bytes"),
};

using B = BuildFacts;
constexpr Field<B> kBuildFields[] = {
    required<B, &B::backend>("backend"),
    required<B, &B::target>("target"),
    may_lack<B, &B::compiler>("compiler"),
    may_lack<B, &B::opt_level>("opt_level"),
    unless_empty<B, &B::template_name>("template"),
    json_text<B, &B::parameters>("parameters"),
    may_lack<B, &B::precision>("precision"),
};

using M = Measurement;
/// What a measurement shares with others; its own members are kMeasurementColumns.
constexpr Field<M> kSharedFields[] = {
    {[](const char* key, const M& row, Json& object) {
       json_fields::write<W>(kWorkFields, row.work, object[key]);
     },
     [](const char* key, const Json& object, M& row) {
       json_fields::read<W>(kWorkFields, object.at(key), row.work);
     },
     "work"},
    {[](const char* key, const M& row, Json& object) {
       json_fields::write<B>(kBuildFields, row.build, object[key]);
     },
     [](const char* key, const Json& object, M& row) {
       json_fields::read<B>(kBuildFields, object.at(key), row.build);
     },
     "build"},
    {[](const char* key, const M& row, Json& object) { object[key] = row.device.text(); },
     [](const char* key, const Json& object, M& row) { row.device = sheet_of(object.at(key)); }, "device"},
};

template <class Value>
Json json_of(const Value& value) {
  return value;
}
Json json_of(CacheState state) { return std::string(cache_state_name(state)); }
Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json json_of(const std::vector<WorkOrigin>& origins) { return rows_json<S>(origins, kOriginFields); }

template <class Value>
void read_into(const Json& json, Value& value) {
  value = json.get<Value>();
}
void read_into(const Json& json, CacheState& state) { state = state_of_cache(json); }
void read_into(const Json& json, std::optional<double>& value) { value = json.get<double>(); }
void read_into(const Json& json, std::vector<WorkOrigin>& origins) {
  origins = rows_of<S>(json, kOriginFields);
}

}  // namespace

Json measurement_json(const Measurement& measurement) {
  Json json, fields;
  json_fields::write<M>(kSharedFields, measurement, fields);
  for_each_column(measurement, [&](const MeasurementColumn& column, const auto& value) {
    if constexpr (requires { value.empty(); })
      if (value.empty() && !column.required) return;
    fields[column.name] = json_of(value);
  });
  json["baton_measurement"] = kVersion;
  json.update(fields);
  return json;
}

Measurement read_measurement(const Json& json) {
  if (!json.is_object() || !json.contains("baton_measurement"))
    throw Error("this is not a measurement: it has no member \"baton_measurement\"");
  if (json.at("baton_measurement") != kVersion)
    throw Error("a measurement of version " + json.at("baton_measurement").dump() +
                "; this Baton reads version " + std::to_string(kVersion));
  Measurement measurement;
  try {
    json_fields::read<M>(kSharedFields, json, measurement);
    for_each_column(measurement, [&](const MeasurementColumn& column, auto& value) {
      const auto at = json.find(column.name);
      if (column.required)
        read_into(json.at(column.name), value);
      else if (at != json.end() && !at->is_null())
        read_into(*at, value);
    });
  } catch (const JsonError& why) {
    throw Error(std::string("a measurement is malformed: ") + why.what());
  }
  check_measurement(measurement);
  return measurement;
}

std::string measurement_line(const Measurement& measurement) {
  return measurement_json(measurement).dump(-1, JsonUtf8::kReplace);
}

Measurement measurement_from_line(std::string_view line) {
  Json json;
  try {
    json = Json::parse(line);
  } catch (const JsonError& why) {
    throw Error(std::string("this is not JSON: ") + why.what());
  }
  return read_measurement(json);
}

}  // namespace baton
