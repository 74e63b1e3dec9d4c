#pragma once
// Targets: a kind of code generator with its options, and the target of the host that drives it.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace baton {

struct Target;
using TargetRef = std::shared_ptr<const Target>;

struct Target {
  using Value = std::variant<int64_t, std::string>;
  std::string kind;                                  ///< "llvm", "cuda", ...
  std::vector<std::string> keys;                     ///< what schedules are chosen by: "cuda", "gpu"
  std::vector<std::pair<std::string, Value>> attrs;  ///< options and their defaults
  TargetRef host;                                    ///< null: none

  /// "llvm", "llvm -mcpu=skylake", "cuda -arch=sm_80". UsageError for an unknown kind or an unknown option.
  static TargetRef parse(std::string_view options);
  /// The inverse of text(); null for malformed text. Addresses are ignored.
  static TargetRef from_text(std::string_view text);

  /// The DLPack device type: cpu 1, cuda 2, ...
  int device_type() const;
  /// "cuda -keys=cuda,gpu -arch=sm_20", options sorted.
  std::string options() const;
  /// The shortest input form: "cuda -arch=sm_80", without defaults.
  std::string asked() const;
  /// The form inside a virtual device: `Target(id=?, kind='llvm', keys={'cpu'})`. Where TVM prints an
  /// object's address there is a `?`; numbers are hexadecimal, as TVM prints them after an address.
  std::string text() const;
  bool operator==(const Target& other) const;
};

/// Registers a kind of target, or changes its device type: DLPack's, or that of a simulated device. Kinds
/// that TVM has too keep theirs.
void set_target_kind(const std::string& name, int device_type);

/// Registers a family of kinds: `resolve` gives the kind that "NAME -OPTION=VALUE" is for, from VALUE, or
/// from an empty text where the option is not given. It may throw UsageError.
void set_target_family(const std::string& name, const std::string& option,
                       std::function<std::string(const std::string& value)> resolve);

bool same_target(const TargetRef& a, const TargetRef& b);
/// `target` with host `host`.
TargetRef with_host(const TargetRef& target, TargetRef host);

}  // namespace baton
