#pragma once
// What a line of passes.def registers: BATON_PASS names a function without arguments, BATON_PASS_WITH one
// that reads them.
#include "baton/pass/pass.h"

namespace baton {

/// Arguments are refused: the pass has none.
inline PassFactory pass_factory(const char* name, Pass (*make)()) {
  return [name, make](const PassArgs& args) {
    PassArgReader(name, args).finish();
    return make();
  };
}
inline PassFactory pass_factory(const char*, Pass (*make)(const PassArgs&)) { return make; }

}  // namespace baton
