#include "baton/pass/config.h"

#include <algorithm>

#include "baton/support/diagnostic.h"

namespace baton {

namespace {

// The type name of a value, as shown in messages.
std::string type_of(const AttrValue& value) {
  if (value.as<bool>() || value.as<int64_t>()) return "IntImm";
  if (value.as<double>()) return "FloatImm";
  if (value.as<std::string>()) return "runtime.String";
  if (value.as<AttrList>()) return "Array";
  return value.is_none() ? "None" : "Object";
}

// A dictionary is encoded as a list of [key, value] lists.
bool is_dict(const AttrValue& value) {
  const AttrList* items = value.as<AttrList>();
  return items && std::all_of(items->begin(), items->end(), [](const AttrValue& item) {
           const AttrList* pair = item.as<AttrList>();
           return pair && pair->size() == 2 && (*pair)[0].as<std::string>();
         });
}

}  // namespace

const std::vector<ConfigOption>& config_options() {
  static const std::vector<ConfigOption> options = {
#define BATON_CONFIG(key, type, doc) {key, type, doc},
#include "baton/pass/config.def"
#undef BATON_CONFIG
  };
  return options;
}

const ConfigOption* find_config_option(const std::string& key) {
  for (const ConfigOption& option : config_options())
    if (option.key == key) return &option;
  return nullptr;
}

void PassConfig::set(const std::string& key, AttrValue value) {
  const ConfigOption* option = find_config_option(key);
  if (!option) {
    std::vector<std::string> keys;
    std::string all;
    for (const ConfigOption& each : config_options()) {
      keys.push_back(each.key);
      all += (all.empty() ? "" : " ,") + each.key;
    }
    const std::string near = did_you_mean(key, keys);
    throw UsageError("Invalid config option '" + key + "'" +
                     (near.empty() ? "" : ", did you mean '" + near + "'?") + " candidates are: " + all);
  }
  const bool fits = option->is_dict() ? is_dict(value) : type_of(value) == option->type;
  if (!fits)
    throw UsageError("expect config " + key + " to have type " + option->type + " but get " + type_of(value));
  values_[key] = std::move(value);
}

int64_t PassConfig::integer(const std::string& key, int64_t fallback) const {
  const auto at = values_.find(key);
  if (at == values_.end()) return fallback;
  if (const bool* flag = at->second.as<bool>()) return *flag;
  return *at->second.as<int64_t>();
}

std::string PassConfig::text(const std::string& key, const std::string& fallback) const {
  const auto at = values_.find(key);
  return at == values_.end() ? fallback : *at->second.as<std::string>();
}

Precision precision_of(const PassConfig& config) {
  const std::string precision = config.text("baton.precision", "f32");
  if (precision == "f32") return Precision::kFloat32;
  if (precision == "strict") return Precision::kStrict;
  if (precision == "bf16") return Precision::kBfloat16;
  throw UsageError("baton.precision is \"" + precision + "\": \"f32\", \"strict\" and \"bf16\" are known");
}

}  // namespace baton
