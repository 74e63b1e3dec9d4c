#pragma once
// Fusion: operators that become one kernel are put into one primitive function.
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// FuseOps at a level (-1: that of the context; 0: every operator a kernel of its own).
Pass fuse_ops_at(int level);

/// For `explain`: one line for each operator of `function` (typed, before FuseOps) that will not share a kernel with
/// what uses its result, and why.
struct FusionReason {
  Expr call;
  std::string text;
};
std::vector<FusionReason> fusion_reasons(const Function& function, const PassContext& context);

}  // namespace baton
