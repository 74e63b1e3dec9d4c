#pragma once
// Which steps of a program a cut takes: those of the operators that were chosen, what was folded into them,
// and what a pass dropped between them. A set that could not run alone is refused.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baton/driver/cut/cut_graph.h"
#include "baton/driver/plan/plan.h"

namespace baton {

/// What a build made of the operators: its plan, and the table that says which are retired.
struct CutPlan {
  const GraphPlan* plan = nullptr;
  const OriginTable* table = nullptr;
};

/// An operator that was chosen.
struct ChosenOperator {
  const Origin* origin;
  std::string why;      ///< "computed by node 12 `fused_nn_conv2d_add`"
  bool folded = false;  ///< only a constant that a chosen node reads was computed from it
};

/// Those of nodes of graph.json: what they compute, and what was folded into constants that they read. Throws
/// Error when none of them computes an operator of the program.
std::vector<ChosenOperator> operators_of_nodes(const CutPlan& built, const std::vector<int>& nodes);

/// A source operator of a cut, or one that was left out although it was chosen.
struct CutOperator {
  const Origin* origin;
  std::string why;
};

struct CutChoice {
  std::vector<bool> chosen;            ///< by node of the graph: steps
  std::vector<CutOperator> operators;  ///< in the order of evaluation
  std::vector<CutOperator> left_out;
};

/// `built` is asked when there is a hole; it may return nulls where nothing can be built. Throws Error for
/// what main does not compute, for a hole (with the edge, and what would close it) and for a part of a branch
/// or loop.
CutChoice choose_steps(const CutGraph& graph, const std::vector<ChosenOperator>& wanted,
                       const std::function<CutPlan()>& built);

/// "3", "5:7,9": what --nodes takes.
std::string node_list(std::vector<int> nodes);
/// "node 12 `fused_nn_relu`".
std::string node_label(const GraphPlan& plan, int node);
/// "%3 nn.relu, %5 add".
std::string operator_labels(std::span<const Origin* const> origins);

}  // namespace baton
