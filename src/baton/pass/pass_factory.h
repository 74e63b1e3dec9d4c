#pragma once
// Adapters for passes.def: BATON_PASS names a function without arguments, BATON_PASS_WITH one that takes a
// PassArgReader.
#include "baton/pass/pass.h"

namespace baton {

/// For a pass without arguments: any argument is rejected.
inline PassFactory pass_factory(const char* name, Pass (*make)()) {
  return [name, make](const PassArgs& args) {
    PassArgReader(name, args).finish();
    return make();
  };
}
inline PassFactory pass_factory(const char*, Pass (*make)(const PassArgs&)) { return make; }

}  // namespace baton
