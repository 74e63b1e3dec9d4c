#include "baton/ir/analysis/kernel_extents.h"

#include <algorithm>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"

namespace baton {

std::vector<Dim> kernel_extents(const FunctionNode& function) {
  std::vector<Dim> vars;
  const auto look = [&](const Type& type) {
    for (const TensorTypeNode* tensor : flat_types(type))
      for (const Dim dim : tensor->shape())
        visit_extent_vars(dim, [&](Dim var) {
          if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
        });
  };
  for (const Var& param : function.params()) look(param->checked_type());
  look(function.body()->checked_type());
  return vars;
}

}  // namespace baton
