#include "baton/driver/origins/origin_pack.h"

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include <zlib.h>

#include "baton/support/error.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

enum class Store { kDirect, kShared, kListOfShared };

/// A column of the table: a field of an operator, and whether its value is one of "values".
struct Column {
  const char* name;
  Store store;
};

constexpr Column kColumns[] = {
    {"op", Store::kShared},        {"name", Store::kDirect},        {"line", Store::kDirect},
    {"column", Store::kDirect},    {"source", Store::kShared},      {"attrs", Store::kShared},
    {"type", Store::kShared},      {"inputs", Store::kDirect},      {"input_types", Store::kListOfShared},
    {"nodes", Store::kDirect},     {"folded_into", Store::kDirect}, {"fused", Store::kShared},
    {"not_fused", Store::kShared}, {"retired", Store::kShared}};

// The first byte of every stream that compress2() makes; JSON begins with a brace.
constexpr char kZlib = 0x78;

std::string deflated(const std::string& text) {
  std::string out(compressBound(text.size()), '\0');
  uLongf size = out.size();
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  BATON_CHECK(code == Z_OK && out[0] == kZlib, "zlib cannot compress the table of origins");
  out.resize(size);
  return out;
}

std::string inflated(std::string_view bytes) {
  z_stream stream{};
  BATON_CHECK(inflateInit(&stream) == Z_OK, "zlib cannot begin");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int code = Z_OK;
  for (char block[1 << 15]; code == Z_OK;) {
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(block, sizeof block - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END)
    throw Error("its origins.json is damaged: the stream of zlib breaks off or does not add up");
  return text;
}

class Values {
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

void add_fused_with(Json& operators) {
  std::map<uint32_t, std::vector<uint32_t>> of_node;
  for (uint32_t id = 0; id < operators.size(); ++id)
    for (const Json& node : operators[id].at("nodes")) of_node[node.get<uint32_t>()].push_back(id);
  for (uint32_t id = 0; id < operators.size(); ++id) {
    std::set<uint32_t> others;
    for (const Json& node : operators[id].at("nodes"))
      others.insert(of_node[node.get<uint32_t>()].begin(), of_node[node.get<uint32_t>()].end());
    others.erase(id);
    operators[id]["fused_with"] = others;
  }
}

std::string packed_origins(std::string_view origins_json) {
  const Json origins = Json::parse(origins_json);
  Values values;
  Json rows = Json::array();
  for (const Json& entry : origins.at("operators")) {
    Json row = Json::array();
    for (const Column& column : kColumns) {
      const Json& value = entry.at(column.name);
      if (column.store == Store::kDirect) row.push_back(value);
      if (column.store == Store::kShared) row.push_back(values.index(value));
      if (column.store != Store::kListOfShared) continue;
      row.push_back(Json::array());
      for (const Json& item : value) row.back().push_back(values.index(item));
    }
    rows.push_back(std::move(row));
  }
  return deflated(Json{{"schema", 2}, {"values", values.list()}, {"operators", std::move(rows)}}.dump());
}

nlohmann::ordered_json unpacked_origins(std::string_view origins_json) {
  const bool packed = !origins_json.empty() && origins_json[0] == kZlib;
  Json origins = Json::parse(packed ? inflated(origins_json) : std::string(origins_json));
  const Json schema = origins.at("schema");
  if (schema == 1) return origins;
  if (schema != 2)
    throw Error("its origins.json is of schema " + schema.dump() +
                ", and this Baton reads 1 and 2: it was built by another version; build it again");
  const Json& values = origins.at("values");
  Json operators = Json::array();
  for (const Json& row : origins.at("operators")) {
    Json entry{{"id", operators.size()}};
    size_t at = 0;
    for (const Column& column : kColumns) {
      const Json& value = row.at(at++);
      if (column.store == Store::kDirect) entry[column.name] = value;
      if (column.store == Store::kShared) entry[column.name] = values.at(value.get<size_t>());
      if (std::string_view(column.name) == "folded_into")
        entry["fused_with"] = Json::array();  // its place in the order
      if (column.store != Store::kListOfShared) continue;
      entry[column.name] = Json::array();
      for (const Json& item : value) entry[column.name].push_back(values.at(item.get<size_t>()));
    }
    operators.push_back(std::move(entry));
  }
  add_fused_with(operators);
  return Json{{"schema", 1}, {"operators", std::move(operators)}};
}

}  // namespace baton
