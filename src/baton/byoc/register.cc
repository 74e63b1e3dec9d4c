#include "baton/byoc/register.h"

#include "baton/pass/pass.h"

namespace baton {

#define BATON_PASS(name, function) Pass function();
#define BATON_PASS_WITH(name, function) Pass function(const PassArgs& args);
#include "baton/byoc/passes.def"
#undef BATON_PASS
#undef BATON_PASS_WITH

namespace {

PassFactory without_arguments(const char* name, Pass (*make)()) {
  return [name, make](const PassArgs& args) {
    PassArgReader(name, args).finish();
    return make();
  };
}

}  // namespace

void register_byoc_passes() {
  static const bool once = [] {
#define BATON_PASS(name, function) register_pass(name, without_arguments(name, &function));
#define BATON_PASS_WITH(name, function) register_pass(name, &function);
#include "baton/byoc/passes.def"
#undef BATON_PASS
#undef BATON_PASS_WITH
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace baton
