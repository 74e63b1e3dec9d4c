#pragma once
// Targets as Relay names them: "llvm -mcpu=skylake-avx512". Passes that choose by the processor ask for the current one.
#include <map>
#include <string>

namespace baton {

class Target {
 public:
  explicit Target(const std::string& text);  ///< UsageError when the text is empty
  const std::string& text() const { return text_; }
  const std::string& kind() const { return kind_; }  ///< "llvm"
  /// The value of `-name=value`; "" when it is not given.
  std::string option(const std::string& name) const;

  /// float32 values in a vector register of the processor that -mcpu or -mattr name; 4 when they say nothing.
  int float_lanes() const;
  bool has_vnni() const;  ///< multiplies and adds up int8 in one instruction
  /// The target of the innermost TargetScope of this thread, or null.
  static const Target* current();

 private:
  std::string text_, kind_;
  std::map<std::string, std::string> options_;
};

/// Makes a target the current one; leaving takes the innermost away.
void enter_target(const std::string& text);
void exit_target();

class TargetScope {
 public:
  explicit TargetScope(const std::string& text) { enter_target(text); }
  ~TargetScope() { exit_target(); }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
};

}  // namespace baton
