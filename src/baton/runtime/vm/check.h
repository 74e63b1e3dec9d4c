// Programs come from files: nothing in them is believed.
#pragma once

#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// Fails, with what is wrong, unless every word, index and target is in range. A machine runs checked
/// programs only.
Status check(const Program& program);

/// Fails unless every constant has the type that its pieces expect: those that are bound late have none
/// before.
Status check_constants(const Program& program);

}  // namespace baton::vm
