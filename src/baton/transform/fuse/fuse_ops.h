#pragma once
// Fusion: operators that become one kernel are put into one primitive function.
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// FuseOps at a level (-1: that of the context; 0: every operator a kernel of its own).
Pass fuse_ops_at(int level);

/// For `explain`: one line for each operator of `function` (typed, before FuseOps) that will not share a
/// kernel with what uses its result, and why.
struct FusionReason {
  Expr call;
  std::string text;
};
std::vector<FusionReason> fusion_reasons(const Function& function, const PassContext& context);

class FusionGroups;

/// Where FuseOps notes for each operator call why it shares a kernel with what uses its result, or why not:
/// in the log of its context.
class FusionLog {
 public:
  struct Entry {
    std::string op;     ///< that is called
    OriginSet origins;  ///< of the call
    bool fused;         ///< with what uses its result
    std::string
        text;  ///< "only elementwise operators follow, up to `nn.relu`"; "nothing may follow a reduction ..."
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// For FuseOps: notes what `groups` decided.
  void add(const FusionGroups& groups);

 private:
  std::vector<Entry> entries_;
};

}  // namespace baton
