#pragma once
// What PassContext(config={...}) holds: options of passes by name, each of a declared type (config.def).
#include <map>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

/// One option that exists.
struct ConfigOption {
  std::string key;
  std::string type;  ///< as TVM names it: IntImm (bool and int), runtime.String, Array, ...Config (a dict)
  std::string doc;

  bool is_dict() const { return type.ends_with("Config"); }
};

/// All of them, sorted by key.
const std::vector<ConfigOption>& config_options();
const ConfigOption* find_config_option(const std::string& key);

class PassConfig {
 public:
  /// Throws UsageError for a key that does not exist (with the nearest ones) and a value of another type.
  void set(const std::string& key, AttrValue value);

  /// The value of `key`, or `fallback` when it was not set.
  int64_t integer(const std::string& key, int64_t fallback) const;
  bool flag(const std::string& key, bool fallback) const { return integer(key, fallback) != 0; }
  std::string text(const std::string& key, const std::string& fallback) const;

  const std::map<std::string, AttrValue>& values() const { return values_; }

 private:
  std::map<std::string, AttrValue> values_;
};

}  // namespace baton
