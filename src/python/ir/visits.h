#pragma once
// Origin handling for Python code that rewrites programs.
#include <string>

#include "baton/ir/module.h"

namespace baton::python {

/// The union of the origins of all nodes.
OriginSet origins_in(const Expr& root);
OriginSet origins_in(const IRModuleNode& module);

/// The causes for nodes that a Python pass builds outside the visits of an ExprFunctor: all operators of its
/// input; none() when there are none.
OriginSet made_in_pass(const OriginSet& given, const std::string& pass);

/// Retires the origins of `before` that are not in `after`, dropped by a Python pass. Only inside a pass.
void retire_left_out(const OriginSet& before, const OriginSet& after, const std::string& pass);

}  // namespace baton::python
