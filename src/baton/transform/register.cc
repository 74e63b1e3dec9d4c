#include "baton/transform/register.h"

#include "baton/pass/pass.h"

namespace baton {

#define BATON_PASS(name, function) Pass function();
#include "baton/transform/passes.def"
#undef BATON_PASS

void register_all_passes() {
  static const bool once = [] {
#define BATON_PASS(name, function) register_pass(name, [] { return function(); });
#include "baton/transform/passes.def"
#undef BATON_PASS
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace baton
