#pragma once
// Origin conservation, checked after every pass by an instrument (always on in tests).
#include <memory>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// Invariants: every origin in the module's table is carried by a reachable node or retired with pass and
/// reason; every operator call has origins, or causes and a reason; a primitive function and its calls carry
/// the union of the origins of the operator calls in its body (or all carry none, as in parsed text that was
/// already fused; no pass may create such). Throws InternalError that names pass, operator and line.
void verify_origins(const IRModuleNode& module, const std::string& after_pass);

/// Runs verify_origins after every pass and checks two rules that need the module before it: a pass creates
/// no Origin, and constants created by a pass have origins or causes.
class OriginVerifier final : public PassInstrument {
 public:
  std::string name() const override { return "OriginVerifier"; }
  void enter_pass_ctx() override { forget(); }
  void exit_pass_ctx() override { forget(); }
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;

  struct ModuleFacts;

 private:
  /// Identifies an unchanged module, and holds the facts that the rules need.
  struct Snapshot {
    std::vector<Function> functions;
    size_t origins = 0, retired = 0;
    bool trusted = true;  ///< verified, or user input
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
