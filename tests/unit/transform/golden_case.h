#pragma once
// The cases of tests/reference/passes.jsonl.gz: a module, passes with arguments, and TVM 0.11.1's output.
#include <map>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"
#include "baton/support/json.h"

namespace baton::golden {

/// The outcome of a case.
enum class Verdict {
  kPassed,
  kFailed,   ///< different text or constants, or an exception
  kSkipped,  ///< uses a pass or an operator that does not exist yet
};

struct Result {
  Verdict verdict = Verdict::kPassed;
  std::string why;
};

class PassCases {
 public:
  /// Reads the reference files.
  PassCases();
  const std::vector<Json>& cases() const { return cases_; }
  Result run(const Json& which);
  /// The module of a case, typed, with its constants bound; null, with the reason in `why`, when it cannot be
  /// read.
  IRModule input(const Json& which, std::string& why);
  /// The same as read, without types.
  IRModule untyped_input(const Json& which) const;

 private:
  struct Input {
    IRModule module;
    std::string why;
  };
  std::vector<Json> cases_;
  std::map<std::string, Json> texts_;    // by module name
  std::map<std::string, Input> inputs_;  // by module name and binding
};

/// Text without comments, metadata and white space, local variables renumbered by first appearance, hashes
/// erased.
std::string structure_of(const std::string& text);

/// The pass and arguments of a step, as for make_pass. RAII: the compilers in the case's `register` support
/// all calls of the operators listed there.
class TargetRules {
 public:
  explicit TargetRules(const Json& which);
  ~TargetRules();
  TargetRules(const TargetRules&) = delete;
  TargetRules& operator=(const TargetRules&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;
};

PassArgs pass_args(const Json& args);
PassContextRef pass_context(const Json& which);

}  // namespace baton::golden
