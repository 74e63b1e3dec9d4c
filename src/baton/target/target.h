#pragma once
// What code is made for: a kind of code generator with its options, and the target of the host that drives
// it.
#include <cstdint>
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

  /// "llvm", "llvm -mcpu=skylake", "cuda -arch=sm_80". UsageError for an unknown kind or what is no option.
  static TargetRef parse(std::string_view options);
  /// The inverse of text(); null when `text` is none. Addresses are not looked at.
  static TargetRef from_text(std::string_view text);

  /// The device that runs it, as in DLPack: cpu 1, cuda 2, ...
  int device_type() const;
  /// "cuda -keys=cuda,gpu -arch=sm_20", options sorted.
  std::string options() const;
  /// As somebody would ask for it: "cuda -arch=sm_80", defaults left out.
  std::string asked() const;
  /// As inside a virtual device: `Target(id=?, kind='llvm', keys={'cpu'})`. Where TVM writes the address of
  /// an object stands `?`; numbers are hexadecimal, as TVM writes them after that address.
  std::string text() const;
  bool operator==(const Target& other) const;
};

/// Makes a kind of target known whose devices have DLPack's number `device_type`. Changes nothing when there
/// is one of that name.
void add_target_kind(const std::string& name, int device_type);

bool same_target(const TargetRef& a, const TargetRef& b);
/// `target` driven by `host`.
TargetRef with_host(const TargetRef& target, TargetRef host);

}  // namespace baton
