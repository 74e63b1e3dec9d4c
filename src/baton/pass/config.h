#pragma once
// The options of PassContext(config={...}): pass options by name, each with a declared type (config.def).
#include <map>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

/// A declared option.
struct ConfigOption {
  std::string key;
  std::string type;  ///< TVM's name: IntImm (bool and int), runtime.String, Array, ...Config (a dict)
  std::string doc;

  bool is_dict() const { return type.ends_with("Config"); }
};

/// All options, sorted by key.
const std::vector<ConfigOption>& config_options();
const ConfigOption* find_config_option(const std::string& key);

class PassConfig {
 public:
  /// Throws UsageError for an unknown key (suggesting the nearest ones) and for a value of the wrong type.
  void set(const std::string& key, AttrValue value);

  /// The value of `key`, or `fallback` when it is not set.
  int64_t integer(const std::string& key, int64_t fallback) const;
  bool flag(const std::string& key, bool fallback) const { return integer(key, fallback) != 0; }
  std::string text(const std::string& key, const std::string& fallback) const;

  const std::map<std::string, AttrValue>& values() const { return values_; }

 private:
  std::map<std::string, AttrValue> values_;
};

/// Values of "baton.precision".
enum class Precision {
  kFloat32,   ///< "f32", the default
  kStrict,    ///< "strict": sums of products, each operation rounded by itself
  kBfloat16,  ///< "bf16": constant weights of memory-bound layers are stored as bfloat16
};
/// UsageError for a precision that is not known.
Precision precision_of(const PassConfig& config);
inline bool is_strict(const PassConfig& config) { return precision_of(config) == Precision::kStrict; }

}  // namespace baton
