#pragma once
// Operators that become others once the values of their arguments are known. Attached through OpDef::rules,
// read by what evaluates programs.
#include "baton/ir/expr.h"

namespace baton {

struct BuildContext;

struct RunTimeRule {
  /// What the call, whose arguments are constants, stands for; typed. Throws Error for values that it cannot
  /// have.
  Expr (*expand)(const CallNode& call, const BuildContext& context) = nullptr;
};

}  // namespace baton
