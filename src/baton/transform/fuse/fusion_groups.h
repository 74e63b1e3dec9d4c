#pragma once
// Decides which operators of a function share a kernel: the dataflow graph, its post-dominator tree, and
// groups formed in three phases (the rules of FuseOps, see fuse_ops.cc). Near linear in the size of the
// function.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/support/pointer_map.h"

namespace baton {

struct FusionOptions {
  int level = 3;             ///< 0: one kernel per operator
  size_t max_depth = 256;    ///< maximum operators per kernel
  bool link_params = false;  ///< keep constants inside kernels
};

/// Why an operator is not fused with its users.
enum class NotFused : uint8_t {
  kFused,           ///< it is fused
  kLevel,           ///< fusion is off
  kOpaque,          ///< the operator is never fused
  kEscapes,         ///< its value is needed itself: a result, a let, a branch, a function argument
  kNoCommonUser,    ///< its users have no common post-dominating operator
  kDepth,           ///< the kernel would become larger than max_depth
  kTupleUser,       ///< its users meet in a tuple that is not a kernel's intermediate value
  kNotElementwise,  ///< after a convolution or matrix product only elementwise operators follow
  kReduction,       ///< nothing follows a reduction in its kernel
  kBlocked,         ///< an operator on the path to the common user prevents it
};

/// The type of `expr`; throws Error, suggesting InferType, when it has none.
const Type& type_for_fusion(const Expr& expr);

/// The groups of one function. Nodes are indexed in post-order.
class FusionGroups {
 public:
  /// `function` must be typed.
  FusionGroups(const Function& function, const FusionOptions& options);

  bool knows(const ExprNode* node) const { return index_.contains(node); }
  /// The output node of `node`'s group.
  const Expr& root_of(const ExprNode* node) const { return nodes_[root(*index_.find(node))].expr; }
  bool same_group(const ExprNode* a, const ExprNode* b) const {
    return root(*index_.find(a)) == root(*index_.find(b));
  }

  /// The operator calls that are not fused with their users, in post-order.
  struct Refusal {
    Expr call;
    NotFused why;
    std::string text;
  };
  std::vector<Refusal> refusals() const;

  /// The operator calls that are fused with their users, in post-order: up to which node, and by which rule.
  struct Joint {
    Expr call;
    std::string text;
  };
  std::vector<Joint> joints() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    Expr expr;
    Fuse pattern = Fuse::kOpaque;
    bool escapes = false;         // has a user that is not an operator
    uint32_t first_edge = kNone;  // head of the list of edges to its users
    // Post-dominator tree: `to_parent` is the strongest pattern on the edges to the parent. `jump` links to a
    // higher ancestor, so that common ancestors are found in logarithmic time.
    uint32_t parent = kNone, depth = 0, jump = kNone;
    Fuse to_parent = Fuse::kElementwise, to_jump = Fuse::kElementwise;
    // Group (a union-find forest).
    mutable uint32_t leader;
    Fuse group_pattern = Fuse::kOpaque;
    bool has_anchor = false;
    uint32_t size = 1;
    // For reports of why it is not fused.
    NotFused why = NotFused::kFused;
    uint32_t blocker = kNone;
    uint32_t joined = kNone;  // the common user it was first merged with
  };
  struct Edge {
    uint32_t user;
    uint32_t next;
    Fuse pattern;
  };

  void add_nodes(const Function& function);
  void add_edges(uint32_t user);
  void use(const Expr& value, uint32_t user, Fuse pattern);
  void escape(const Expr& value);
  void build_tree();
  uint32_t common_ancestor(uint32_t a, uint32_t b, Fuse& pattern) const;

  uint32_t root(uint32_t node) const;
  void run_phase(int phase);
  NotFused try_fuse(uint32_t node, int phase);
  size_t size_with(uint32_t node, uint32_t sink);
  template <class Allowed>
  bool path_allows(uint32_t node, uint32_t sink, Allowed allowed);
  void merge(uint32_t node, uint32_t sink);
  bool mark(uint32_t node);
  std::string name_of(uint32_t node) const;
  std::string blocked_text(uint32_t at) const;

  FusionOptions options_;
  PointerMap<uint32_t> index_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<uint32_t> marks_, todo_;
  uint32_t mark_ = 0;
};

/// The message for a reason: "its users meet in no common operator".
const char* not_fused_text(NotFused why);

}  // namespace baton
