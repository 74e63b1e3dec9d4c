#pragma once
// Copies that bind variables of their own: a variable is bound once in a module.
#include <map>
#include <string>
#include <unordered_map>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

/// `expr` with new variables in the place of those that it binds, and `values` in the place of others. Types,
/// spans and origins stay.
Expr with_own_variables(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values = {});

/// Functions of `module` get variables of their own where they bind one that another function binds too: a
/// function that was cut out of another one may share nodes with what was around it. Those of `kept`, by
/// name, stay; what they bind counts.
void separate_variables(IRModuleNode& module, const std::map<std::string, Function>& kept);

}  // namespace baton
