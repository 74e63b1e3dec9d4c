// Programs come from files: nothing in them is believed.
#pragma once

#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// Fails, with what is wrong, unless every word, index and target is in range. A machine runs checked
/// programs only.
Status check(const Program& program);

}  // namespace baton::vm
