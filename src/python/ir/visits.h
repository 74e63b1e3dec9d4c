#pragma once
// What surrounds Python code that rewrites programs: which operators stand behind the nodes that it builds.
#include <string>

#include "baton/ir/module.h"

namespace baton::python {

/// The union of the origins of all nodes.
OriginSet origins_in(const Expr& root);
OriginSet origins_in(const IRModuleNode& module);

/// For the body of a pass that is written in Python: what it builds, outside the visits of an ExprFunctor, is
/// made for all operators of what it was given; none() when there are none.
OriginSet made_in_pass(const OriginSet& given, const std::string& pass);

/// Retires the origins of `before` that are not in `after`: a pass written in Python left them out. In a pass
/// only.
void retire_left_out(const OriginSet& before, const OriginSet& after, const std::string& pass);

}  // namespace baton::python
