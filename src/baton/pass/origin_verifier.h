#pragma once
// Conservation of origins, checked after every pass (an ordinary instrument; always on in tests).
#include "baton/pass/pass.h"

namespace baton {

/// Every origin in the module's table is carried by a reachable node or retired with pass and reason; every operator
/// call (and constant made by a pass) has origins, or causes and a reason; a primitive function and its call stand
/// for the union over the body's calls. Throws InternalError that names pass, operator and line.
void verify_origins(const IRModuleNode& module, const std::string& after_pass);

class OriginVerifier final : public PassInstrument {
 public:
  std::string name() const override { return "OriginVerifier"; }
  void run_before_pass(const IRModule& module, const PassInfo& info) override;
  void run_after_pass(const IRModule& module, const PassInfo& info) override;
};

}  // namespace baton
