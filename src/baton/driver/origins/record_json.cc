#include "baton/driver/origins/record_json.h"

#include <unordered_map>

#include "baton/support/json.h"

namespace baton {
namespace {

/// How a form writes a field.
enum class Show { kNot, kValue, kOrNull };  // kOrNull: null where it is empty
/// Whether a reader accepts an object without the field: other versions did not write it.
enum class Lack { kNever, kInProfiles, kAnywhere };
/// How a packed table stores it: not at all, in the row, in "values", or as a list of indices into "values".
enum class Pack { kNot, kDirect, kShared, kListOfShared };

struct RecordField {
  const char* name;
  Show origins, explain, profile;
  Lack lack;
  Pack pack;
  Json (*write)(const OperatorRecord&);  ///< null when empty
  void (*read)(const Json&, OperatorRecord&);

  Show shown(RecordForm form) const {
    return form == RecordForm::kOrigins ? origins : form == RecordForm::kExplain ? explain : profile;
  }
};

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
std::string text_of(const Json& json) { return json.is_null() ? std::string() : json.get<std::string>(); }

template <auto member>
Json write(const OperatorRecord& record) {
  return record.*member;
}

template <auto member>
void read(const Json& json, OperatorRecord& record) {
  json.get_to(record.*member);
}

template <std::string OperatorRecord::* member>
Json write_text(const OperatorRecord& record) {
  return text_or_null(record.*member);
}

template <std::string OperatorRecord::* member>
void read_text(const Json& json, OperatorRecord& record) {
  record.*member = text_of(json);
}

AttrValue attr_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return {};
  if (json.is_object()) return json.dump();  // null for all operators
  AttrList items;
  for (const Json& item : json) items.push_back(attr_of(item));
  return items;
}

void read_attrs(const Json& json, OperatorRecord& record) {
  if (json.is_null()) return;
  for (const auto& [name, value] : json.items()) record.attrs.emplace_back(name, attr_of(value));
}

Json write_input_types(const OperatorRecord& record) {
  Json types = Json::array();
  for (const std::string& type : record.input_types) types.push_back(text_or_null(type));
  return types;
}

void read_input_types(const Json& json, OperatorRecord& record) {
  for (const Json& type : json) record.input_types.push_back(text_of(type));
}

Json write_retired(const OperatorRecord& record) {
  if (record.retired_by.empty()) return nullptr;
  return {{"pass", record.retired_by}, {"reason", record.retired_why}};
}

void read_retired(const Json& json, OperatorRecord& record) {
  if (json.is_null()) return;
  json.at("pass").get_to(record.retired_by);
  json.at("reason").get_to(record.retired_why);
}

Json write_source_line(const OperatorRecord& record) {
  const SourceLine& line = record.source_line;
  if (!line) return nullptr;
  return {{"file", line.file},
          {"line", line.line},
          {"function", text_or_null(line.function)},
          {"text", text_or_null(line.text)}};
}

void read_source_line(const Json& json, OperatorRecord& record) {
  if (json.is_null()) return;
  const auto text = [&](const char* name) { return json.contains(name) ? text_of(json.at(name)) : ""; };
  record.source_line = {text("file"), json.at("line").get<uint32_t>(), text("function"), text("text")};
}

Json write_time(const OperatorRecord&) { return nullptr; }
void read_time(const Json&, OperatorRecord&) {}

using Record = OperatorRecord;
using enum Show;

constexpr RecordField kFields[] = {
    // name, in origins.json, in explain, in a profile, may lack, packed
    {"id", kValue, kValue, kValue, Lack::kNever, Pack::kNot, write<&Record::id>, read<&Record::id>},
    {"op", kValue, kValue, kValue, Lack::kNever, Pack::kShared, write<&Record::op>, read<&Record::op>},
    {"name", kValue, kValue, kNot, Lack::kNever, Pack::kDirect, write<&Record::name>, read<&Record::name>},
    {"line", kValue, kValue, kValue, Lack::kNever, Pack::kDirect, write<&Record::line>, read<&Record::line>},
    {"column", kValue, kValue, kValue, Lack::kNever, Pack::kDirect, write<&Record::column>,
     read<&Record::column>},
    {"text", kNot, kOrNull, kNot, Lack::kNever, Pack::kNot, write_text<&Record::text>,
     read_text<&Record::text>},
    {"source", kOrNull, kOrNull, kOrNull, Lack::kInProfiles, Pack::kShared, write_text<&Record::source>,
     read_text<&Record::source>},
    {"attrs", kValue, kValue, kValue, Lack::kNever, Pack::kShared, attrs_json, read_attrs},
    {"type", kOrNull, kOrNull, kValue, Lack::kInProfiles, Pack::kShared, write_text<&Record::type>,
     read_text<&Record::type>},
    {"inputs", kValue, kValue, kValue, Lack::kInProfiles, Pack::kDirect, write<&Record::inputs>,
     read<&Record::inputs>},
    {"input_types", kOrNull, kValue, kValue, Lack::kInProfiles, Pack::kListOfShared, write_input_types,
     read_input_types},
    {"nodes", kValue, kValue, kValue, Lack::kInProfiles, Pack::kDirect, write<&Record::nodes>,
     read<&Record::nodes>},
    {"folded_into", kValue, kValue, kValue, Lack::kInProfiles, Pack::kDirect, write<&Record::folded_into>,
     read<&Record::folded_into>},
    {"fused_with", kValue, kValue, kValue, Lack::kInProfiles, Pack::kNot, write<&Record::fused_with>,
     read<&Record::fused_with>},
    {"fused", kValue, kOrNull, kNot, Lack::kNever, Pack::kShared, write_text<&Record::fused>,
     read_text<&Record::fused>},
    {"not_fused", kValue, kOrNull, kOrNull, Lack::kInProfiles, Pack::kShared, write_text<&Record::not_fused>,
     read_text<&Record::not_fused>},
    {"inside_us", kNot, kNot, kOrNull, Lack::kInProfiles, Pack::kNot, write_time, read_time},
    {"unfused_us", kNot, kNot, kOrNull, Lack::kInProfiles, Pack::kNot, write_time, read_time},
    {"retired", kOrNull, kOrNull, kOrNull, Lack::kNever, Pack::kShared, write_retired, read_retired},
    // Later additions; a packed row without them is shorter.
    {"file", kOrNull, kOrNull, kOrNull, Lack::kAnywhere, Pack::kShared, write_text<&Record::file>,
     read_text<&Record::file>},
    {"brief", kValue, kValue, kValue, Lack::kAnywhere, Pack::kShared, write<&Record::brief>,
     read<&Record::brief>},
    {"weight", kOrNull, kOrNull, kOrNull, Lack::kAnywhere, Pack::kShared, write_text<&Record::weight>,
     read_text<&Record::weight>},
    {"flops", kValue, kValue, kValue, Lack::kAnywhere, Pack::kDirect, write<&Record::flops>,
     read<&Record::flops>},
    {"bytes", kValue, kValue, kValue, Lack::kAnywhere, Pack::kDirect, write<&Record::bytes>,
     read<&Record::bytes>},
    {"weight_name", kOrNull, kOrNull, kOrNull, Lack::kAnywhere, Pack::kShared,
     write_text<&Record::weight_name>, read_text<&Record::weight_name>},
    {"module", kOrNull, kOrNull, kOrNull, Lack::kAnywhere, Pack::kShared, write_text<&Record::module>,
     read_text<&Record::module>},
    {"source_line", kOrNull, kOrNull, kOrNull, Lack::kAnywhere, Pack::kShared, write_source_line,
     read_source_line}};

/// Empty text fields that are shown as empty.
Json empty_instead_of_null(Json json) {
  if (json.is_null()) return "";
  if (json.is_array())
    for (Json& item : json)
      if (item.is_null()) item = "";
  return json;
}

Json shown(const RecordField& field, Show show, const OperatorRecord& record) {
  Json json = field.write(record);
  return show == kOrNull ? json : empty_instead_of_null(std::move(json));
}

/// Values shared by rows, in first-use order.
class SharedValues {
 public:
  Json index(const Json& value) {
    const auto [at, fresh] = known_.emplace(value.dump(), known_.size());
    if (fresh) list_.push_back(value);
    return at->second;
  }
  const Json& list() const { return list_; }

 private:
  std::unordered_map<std::string, size_t> known_;
  Json list_ = Json::array();
};

}  // namespace

Json attr_json(const AttrValue& value) {
  if (const bool* flag = value.as<bool>()) return *flag;
  if (const int64_t* number = value.as<int64_t>()) return *number;
  if (const double* number = value.as<double>()) return *number;
  if (const std::string* text = value.as<std::string>()) return *text;
  if (value.is_none()) return nullptr;
  Json items = Json::array();
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& item : *list) items.push_back(attr_json(item));
  return items;
}

Json attrs_json(const OperatorRecord& record) {
  Json object = Json::object();
  for (const auto& [name, value] : record.attrs) object[name] = attr_json(value);
  return object;
}

Json to_json(const OperatorRecord& record, RecordForm form) {
  Json json = Json::object();
  for (const RecordField& field : kFields)
    if (const Show show = field.shown(form); show != kNot) json[field.name] = shown(field, show, record);
  return json;
}

OperatorRecord read_record(const Json& json, RecordForm form) {
  OperatorRecord record;
  for (const RecordField& field : kFields) {
    if (field.shown(form) == kNot) continue;
    const bool optional =
        field.lack == Lack::kAnywhere || (form == RecordForm::kProfile && field.lack == Lack::kInProfiles);
    if (!optional || json.contains(field.name)) field.read(json.at(field.name), record);
  }
  return record;
}

Json packed(const OriginReport& report) {
  SharedValues values;
  Json rows = Json::array();
  for (const OperatorRecord& record : report.operators) {
    Json row = Json::array();
    for (const RecordField& field : kFields) {
      if (field.pack == Pack::kNot) continue;
      Json value = shown(field, field.origins, record);
      if (field.pack == Pack::kDirect) row.push_back(std::move(value));
      if (field.pack == Pack::kShared) row.push_back(values.index(value));
      if (field.pack != Pack::kListOfShared) continue;
      row.push_back(Json::array());
      for (const Json& item : value) row.back().push_back(values.index(item));
    }
    rows.push_back(std::move(row));
  }
  return {{"schema", 2}, {"values", values.list()}, {"operators", std::move(rows)}};
}

OriginReport unpacked(const Json& json) {
  const Json& values = json.at("values");
  OriginReport report;
  for (const Json& row : json.at("operators")) {
    OperatorRecord record;
    record.id = static_cast<uint32_t>(report.operators.size());
    size_t at = 0;
    for (const RecordField& field : kFields) {
      if (field.pack == Pack::kNot) continue;
      if (field.lack == Lack::kAnywhere && at >= row.size()) continue;
      const Json& value = row.at(at++);
      if (field.pack == Pack::kDirect) field.read(value, record);
      if (field.pack == Pack::kShared) field.read(values.at(value.get<size_t>()), record);
      if (field.pack != Pack::kListOfShared) continue;
      Json items = Json::array();
      for (const Json& item : value) items.push_back(values.at(item.get<size_t>()));
      field.read(items, record);
    }
    report.operators.push_back(std::move(record));
  }
  return report;
}

}  // namespace baton
