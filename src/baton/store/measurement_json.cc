#include "baton/store/measurement_json.h"

#include "baton/support/error.h"
#include "baton/support/json_fields.h"

namespace baton {
namespace {

using json_fields::Field;
using json_fields::may_lack;
using json_fields::or_null;
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

using O = WorkOperator;
constexpr Field<O> kOperatorFields[] = {
    required<O, &O::op>("op"),
    json_text<O, &O::attributes>("attributes"),
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
template <auto member>
constexpr Field<M> origins_field(const char* name) {
  return {[](const char* key, const M& row, Json& object) {
            if (!(row.*member).empty()) object[key] = rows_json<S>(row.*member, kOriginFields);
          },
          [](const char* key, const Json& object, M& row) {
            if (object.contains(key)) row.*member = rows_of<S>(object.at(key), kOriginFields);
          },
          name};
}
constexpr Field<M> kFields[] = {
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
    required<M, &M::machine>("machine"),
    required<M, &M::threads>("threads"),
    {[](const char* key, const M& row, Json& object) {
       object[key] = std::string(cache_state_name(row.cache));
     },
     [](const char* key, const Json& object, M& row) { row.cache = state_of_cache(object.at(key)); },
     "cache"},
    required<M, &M::median_us>("median_us"),
    required<M, &M::cv>("cv"),
    or_null<M, &M::plus_minus_us>("plus_minus_us"),
    required<M, &M::samples_us>("samples_us"),
    unless_empty<M, &M::disturbed>("disturbed"),
    unless_empty<M, &M::outliers>("outliers"),
    unless_empty<M, &M::unreliable>("unreliable"),
    unless_empty<M, &M::simulated>("simulated"),
    may_lack<M, &M::load>("load"),
    may_lack<M, &M::others_busy>("others_busy"),
    may_lack<M, &M::core_ns>("core_ns"),
    may_lack<M, &M::reference_us>("reference_us"),
    required<M, &M::begun_s>("begun_s"),
    unless_empty<M, &M::model>("model"),
    unless_empty<M, &M::model_id>("model_id"),
    unless_empty<M, &M::family>("family"),
    may_lack<M, &M::node>("node"),
    may_lack<M, &M::calls>("calls"),
    origins_field<&M::origins>("origins"),
    origins_field<&M::made_for>("made_for"),
    may_lack<M, &M::share>("share"),
    unless_empty<M, &M::method>("method"),
    unless_empty<M, &M::campaign>("campaign"),
    unless_empty<M, &M::configuration>("configuration"),
};

}  // namespace

Json measurement_json(const Measurement& measurement) {
  Json json, fields;
  json_fields::write<M>(kFields, measurement, fields);
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
    json_fields::read<M>(kFields, json, measurement);
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
