#pragma once
// Operator fusion: operators of one kernel are grouped in a primitive function.
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton {

/// FuseOps at a level (-1: that of the context; 0: one kernel per operator).
Pass fuse_ops_at(int level);

/// For `explain`: for each operator of `function` (typed, before FuseOps) that is not fused with its users,
/// the reason.
struct FusionReason {
  Expr call;
  std::string text;
};
std::vector<FusionReason> fusion_reasons(const Function& function, const PassContext& context);

/// Whether FuseCells would change a module (typed, after FuseOps).
bool has_cells(const IRModuleNode& module, const PassContext& context);

/// The most operators of a kernel: relay.FuseOps.max_depth.
size_t most_operators(const PassContext& context);

class FusionGroups;

/// The FusionLog of a BuildContext: FuseOps records for each operator call why it is or is not fused with its
/// users.
class FusionLog {
 public:
  struct Entry {
    std::string op;     ///< the called operator
    OriginSet origins;  ///< of the call
    bool fused;         ///< with its users
    std::string
        text;  ///< "only elementwise operators follow, up to `nn.relu`"; "nothing may follow a reduction ..."
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// Called by FuseOps: records the decisions of `groups`.
  void add(const FusionGroups& groups);
  /// Called by FuseCells: these calls are fused with their users after all.
  void join(const std::vector<Ref<const CallNode>>& calls);

 private:
  std::vector<Entry> entries_;
};

}  // namespace baton
