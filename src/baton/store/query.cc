#include "baton/store/query.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "baton/support/json.h"

namespace baton {
namespace {

/// As json_each() has the value of a member.
StoreCell attribute_cell(const std::string& value) {
  const Json json = Json::parse_or_discard(value);
  if (json.is_discarded()) return value;
  if (json.is_null()) return {};
  if (json.is_boolean()) return int64_t{json.get<bool>()};
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return json.dump();
}

/// "nn.*" is a pattern, "nn.relu" a name.
std::string comparison(const std::string& op) {
  return op.find_first_of("*?") == std::string::npos ? " = ?" : " GLOB ?";
}

/// The digest that 32 hexadecimal digits are; nullopt for other texts.
std::optional<Digest> digest_of(const std::string& hex) {
  if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  return Digest{std::stoull(hex.substr(0, 16), nullptr, 16), std::stoull(hex.substr(16), nullptr, 16)};
}

}  // namespace

Selection::Selection(const StoreQuery& query) : limit_(query.limit) {
  select_works(query);
  const auto text = [&](const std::string& sql, const std::string& value) {
    if (!value.empty()) condition(sql, StoreCell{value});
  };
  text("m.build IN (SELECT id FROM build WHERE backend = ?)", query.backend);
  text("m.build IN (SELECT id FROM build WHERE target = ?)", query.target);
  text("m.build IN (SELECT id FROM build WHERE precision = ?)", query.precision);
  text("m.machine = (SELECT id FROM machine WHERE name = ?)", query.machine);
  text("m.device IN (SELECT id FROM device WHERE name = ?)", query.device);
  if (!query.sheet.empty()) digest("m.device IN (SELECT id FROM device WHERE identity = ?)", query.sheet);
  text("m.model IN (SELECT id FROM model WHERE family = ?)", query.family);
  text("m.model IN (SELECT id FROM model WHERE name = ?)", query.model);
  text("m.model IN (SELECT id FROM model WHERE work_id = ?)", query.model_id);
  text("m.campaign = (SELECT id FROM campaign WHERE name = ?)", query.campaign);
  text("m.configuration = ?", query.configuration);
  if (!query.work_id.empty()) digest("m.work = (SELECT id FROM work WHERE hash = ?)", query.work_id);
  if (query.threads) condition("m.threads = ?", StoreCell{int64_t{*query.threads}});
  if (query.cache) text("m.cache = ?", std::string(cache_state_name(*query.cache)));
  if (query.reliable_only) add("m.unreliable IS NULL");
}

void Selection::select_works(const StoreQuery& query) {
  // Sets of works are intersected first: there are far fewer works than measurements.
  std::string sets;
  const auto set = [&](const std::string& sql) { sets += (sets.empty() ? "" : " INTERSECT ") + sql; };
  if (query.kind) {
    set("SELECT id FROM work WHERE kind = ?");
    value(std::string(work_kind_name(*query.kind)));
  }
  std::map<std::string, std::vector<const AttributeQuery*>> by_op;
  for (const AttributeQuery& each : query.attributes) by_op[each.op].push_back(&each);
  for (const auto& [op, wanted] : by_op) {
    std::string sql =
        "SELECT o.work FROM operator o WHERE " + (op.empty() ? std::string("1") : "(o.op" + comparison(op));
    if (!op.empty()) value(op);
    // When an operator of the model was built as another one, such as a dense layer with packed weights,
    // the attributes are those of what was built.
    if (std::ranges::count(query.operators, op)) {
      sql += " OR NOT EXISTS (SELECT 1 FROM operator p WHERE p.work = o.work AND p.op" + comparison(op) + ")";
      value(op);
    }
    if (!op.empty()) sql += ")";
    for (const AttributeQuery* attribute : wanted) {
      sql +=
          " AND EXISTS (SELECT 1 FROM attribute a WHERE a.work = o.work AND a.position = o.position"
          " AND a.name = ? AND a.value IS ?)";
      value(attribute->name);
      value(attribute_cell(attribute->value));
    }
    set(sql);
  }
  if (!sets.empty()) add("m.work IN (" + sets + ")");
  // By the name in the model or by that of what was built: nn.dense may be built as nn.contrib_dense_pack.
  for (const std::string& op : query.operators) {
    add("(m.work IN (SELECT work FROM operator WHERE op" + comparison(op) +
        ") OR m.origin_set IN (SELECT origin_set FROM origin WHERE made_for = 0 AND op" + comparison(op) +
        "))");
    value(op);
    value(op);
  }
}

void Selection::add(const std::string& sql) { where_ += (where_.empty() ? " WHERE " : " AND ") + sql; }
void Selection::condition(const std::string& sql, const StoreCell& value) {
  add(sql);
  this->value(value);
}
void Selection::digest(const std::string& sql, const std::string& hex) {
  const std::optional<Digest> digest = digest_of(hex);
  add(digest ? sql : "0");  // nothing has another id
  if (digest) values_.push_back({{}, digest});
}

std::string Selection::order_and_limit() const {
  return where_ + " ORDER BY m.id" + (limit_ > 0 ? " LIMIT " + std::to_string(limit_) : "");
}

void Selection::bind(Statement& statement) const {
  int at = 0;
  for (const Value& value : values_) {
    ++at;
    if (value.digest)
      statement.bind(at, *value.digest);
    else
      statement.bind(at, value.cell);
  }
}

}  // namespace baton
