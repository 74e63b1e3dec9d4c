#include "baton/transform/register.h"

#include "baton/pass/pass_factory.h"

namespace baton {

#define BATON_PASS(name, function) Pass function();
#define BATON_PASS_WITH(name, function) Pass function(const PassArgs& args);
#include "baton/transform/passes.def"
#undef BATON_PASS
#undef BATON_PASS_WITH

void register_all_passes() {
  static const bool once = [] {
#define BATON_PASS(name, function) register_pass(name, pass_factory(name, &function));
#define BATON_PASS_WITH BATON_PASS
#include "baton/transform/passes.def"
#undef BATON_PASS
#undef BATON_PASS_WITH
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace baton
