#pragma once
// Conservation of origins, checked after every pass (an ordinary instrument; always on in tests).
#include <memory>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// Every origin in the module's table is carried by a reachable node or retired with pass and reason; every
/// operator call has origins, or causes and a reason; a primitive function and its calls stand for the union
/// over the calls of operators in its body (or all for nothing, as in text that was fused already; a pass
/// makes none such). Throws InternalError that names pass, operator and line.
void verify_origins(const IRModuleNode& module, const std::string& after_pass);

/// verify_origins after every pass, and two rules that need the module before it: a pass makes no Origin, and
/// the constants it makes stand for something.
class OriginVerifier final : public PassInstrument {
 public:
  std::string name() const override { return "OriginVerifier"; }
  void enter_pass_ctx() override { forget(); }
  void exit_pass_ctx() override { forget(); }
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  struct ModuleFacts;

 private:
  /// Enough to see that a module is the same as before, and what the rules need to know of it.
  struct Snapshot {
    std::vector<Function> functions;
    size_t origins = 0, retired = 0;
    bool trusted = true;  ///< verified, or what the user gave
    std::shared_ptr<ModuleFacts> facts;
    bool describes(const IRModuleNode& module) const;
  };
  static Snapshot snapshot(const IRModuleNode& module, std::shared_ptr<ModuleFacts> facts);
  void forget() {
    running_.clear();
    last_ = {};
  }
  struct Running {
    std::string pass;  ///< with those around it: "InferType, inside FuseOps"
    Snapshot before;
  };
  std::vector<Running> running_;  // outermost first
  Snapshot last_;                 // the module seen last
};

}  // namespace baton
