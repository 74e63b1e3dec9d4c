#pragma once
// Numbers for extents that a program leaves open, before it is built.
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// The shape of a parameter of @main or, one number, the value of all variables of that name. A parameter
/// comes first.
struct GivenShape {
  std::string name;
  std::vector<int64_t> values;
};
/// "x=1,3,224,224", "x=1x3x224x224" or "n=4"; a name may contain `=`. Throws UsageError.
GivenShape parse_given_shape(const std::string& text);

/// The module with the variables of symbolic extents, in all functions, and the `?` of parameters of @main
/// replaced by numbers; types are inferred again. Throws Error for unknown names, for shapes that do not fit,
/// two values of one variable, and extents that become negative.
IRModule freeze_shapes(IRModule module, const std::vector<GivenShape>& given);

/// Throws NotSupported, which says what to give, when parameters of @main have symbolic extents.
void require_known_shapes(const IRModuleNode& module);

}  // namespace baton
