#pragma once
// Alpha-renaming copies: a variable is bound only once in a module.
#include <map>
#include <string>
#include <unordered_map>

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

/// `expr` with fresh variables for those that it binds, and with `values` substituted for others. Types,
/// spans and origins are kept.
Expr with_own_variables(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values = {});

/// Renames variables bound by more than one function of `module`: a function extracted from another may share
/// nodes with it. Functions in `kept`, by name, are not changed, but the variables they bind are considered.
void separate_variables(IRModuleNode& module, const std::map<std::string, Function>& kept);

}  // namespace baton
