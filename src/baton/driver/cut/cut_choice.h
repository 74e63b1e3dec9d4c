#pragma once
// Computes the steps of a cut: those of the chosen operators, operators folded into them, and dropped
// operators between them. Non-convex sets are rejected.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baton/driver/cut/cut_graph.h"
#include "baton/driver/plan/plan.h"

namespace baton {

/// Results of a build needed for cutting: its plan, and the origin table, which lists retired operators.
struct CutPlan {
  const GraphPlan* plan = nullptr;
  const OriginTable* table = nullptr;
};

/// A chosen operator.
struct ChosenOperator {
  const Origin* origin;
  std::string why;      ///< "computed by node 12 `fused_nn_conv2d_add`"
  bool folded = false;  ///< only folded into a constant that a chosen node reads
};

/// The operators of graph.json nodes: those they compute, and those folded into constants they read. Throws
/// Error when there are none.
std::vector<ChosenOperator> operators_of_nodes(const CutPlan& built, const std::vector<int>& nodes);

/// A source operator of a cut, or one left out although it was chosen.
struct CutOperator {
  const Origin* origin;
  std::string why;
};

struct CutChoice {
  std::vector<bool> chosen;            ///< per graph node: whether the step is chosen
  std::vector<CutOperator> operators;  ///< in evaluation order
  std::vector<CutOperator> left_out;
};

/// `built` is called only to resolve a hole; it may return nulls when the program cannot be built. Throws
/// Error for an operator not in main, for a hole (with the edge, and what would close it) and for a part of a
/// branch or loop.
CutChoice choose_steps(const CutGraph& graph, const std::vector<ChosenOperator>& wanted,
                       const std::function<CutPlan()>& built);

/// "3", "5:7,9": the syntax of --nodes.
std::string node_list(std::vector<int> nodes);
/// "node 12 `fused_nn_relu`".
std::string node_label(const GraphPlan& plan, int node);
/// "%3 nn.relu, %5 add".
std::string operator_labels(std::span<const Origin* const> origins);

}  // namespace baton
