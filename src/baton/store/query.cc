#include "baton/store/query.h"

#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

namespace baton {
namespace {

/// As json_each() has the value of a member.
StoreCell attribute_cell(const std::string& value) {
  const nlohmann::json json = nlohmann::json::parse(value, nullptr, false);
  if (json.is_discarded()) return value;
  if (json.is_null()) return {};
  if (json.is_boolean()) return int64_t{json.get<bool>()};
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return json.dump();
}

/// Of 32 hexadecimal digits; nullopt for other texts.
std::optional<Digest> digest_of(const std::string& hex) {
  if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  return Digest{std::stoull(hex.substr(0, 16), nullptr, 16), std::stoull(hex.substr(16), nullptr, 16)};
}

}  // namespace

Selection::Selection(const StoreQuery& query) : limit_(query.limit) {
  if (query.kind)
    text("m.work IN (SELECT id FROM work WHERE kind = ?)", std::string(work_kind_name(*query.kind)));
  if (!query.work_id.empty()) digest("m.work = (SELECT id FROM work WHERE hash = ?)", query.work_id);
  if (!query.backend.empty()) text("m.build IN (SELECT id FROM build WHERE backend = ?)", query.backend);
  if (!query.target.empty()) text("m.build IN (SELECT id FROM build WHERE target = ?)", query.target);
  if (!query.machine.empty()) text("m.machine = (SELECT id FROM machine WHERE name = ?)", query.machine);
  if (!query.device.empty()) text("m.device IN (SELECT id FROM device WHERE name = ?)", query.device);
  if (!query.sheet.empty()) digest("m.device IN (SELECT id FROM device WHERE identity = ?)", query.sheet);
  if (!query.family.empty()) text("m.model IN (SELECT id FROM model WHERE family = ?)", query.family);
  if (!query.model.empty()) text("m.model IN (SELECT id FROM model WHERE name = ?)", query.model);
  if (!query.model_id.empty()) text("m.model IN (SELECT id FROM model WHERE work_id = ?)", query.model_id);
  if (!query.campaign.empty()) text("m.campaign = (SELECT id FROM campaign WHERE name = ?)", query.campaign);
  if (!query.configuration.empty()) text("m.configuration = ?", query.configuration);
  if (query.threads) {
    condition("m.threads = ?");
    values_.emplace_back(StoreCell{int64_t{*query.threads}});
  }
  if (query.cache) text("m.cache = ?", std::string(cache_state_name(*query.cache)));
  for (const std::string& op : query.operators)
    text("m.work IN (SELECT work FROM operator WHERE op = ?)", op);
  add_attributes(query.attributes);
  if (query.reliable_only) condition("m.unreliable IS NULL");
}

void Selection::add_attributes(const std::vector<AttributeQuery>& attributes) {
  std::map<std::string, std::vector<const AttributeQuery*>> by_op;
  for (const AttributeQuery& each : attributes) by_op[each.op].push_back(&each);
  for (const auto& [op, wanted] : by_op) {
    std::string sql = "m.work IN (SELECT o.work FROM operator o WHERE ";
    sql += op.empty() ? "1" : "o.op = ?";
    if (!op.empty()) values_.emplace_back(StoreCell{op});
    for (const AttributeQuery* attribute : wanted) {
      sql +=
          " AND EXISTS (SELECT 1 FROM attribute a WHERE a.work = o.work AND a.position = o.position"
          " AND a.name = ? AND a.value IS ?)";
      values_.emplace_back(StoreCell{attribute->name});
      values_.emplace_back(attribute_cell(attribute->value));
    }
    condition(sql + ")");
  }
}

void Selection::condition(const std::string& sql) { where_ += (where_.empty() ? " WHERE " : " AND ") + sql; }
void Selection::text(const std::string& sql, const std::string& value) {
  condition(sql);
  values_.emplace_back(StoreCell{value});
}
void Selection::digest(const std::string& sql, const std::string& hex) {
  const std::optional<Digest> digest = digest_of(hex);
  condition(digest ? sql : "0");  // nothing has another id
  if (digest) values_.emplace_back(*digest);
}

std::string Selection::order_and_limit() const {
  return where_ + " ORDER BY m.id" + (limit_ > 0 ? " LIMIT " + std::to_string(limit_) : "");
}

void Selection::bind(Statement& statement) const {
  int at = 0;
  for (const auto& value : values_) {
    ++at;
    if (const auto* digest = std::get_if<Digest>(&value))
      statement.bind(at, *digest);
    else
      statement.bind(at, std::get<StoreCell>(value));
  }
}

}  // namespace baton
