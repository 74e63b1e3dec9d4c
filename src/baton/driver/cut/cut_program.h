#pragma once
// A program that parts are cut out of, or marked in: which operators a user means by nodes, a kernel or
// names.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/cut_graph.h"

namespace baton {

/// Exactly one is not empty: see driver/cut/node_selection.h.
struct CutSelection {
  std::string kernel, nodes, operators;
};

class CutProgram {
 public:
  /// A program that is not built: where its nodes are asked for, it is optimized under `options`, and no
  /// kernel is made.
  CutProgram(const IRModule& module, BuildOptions options);
  /// What was built: its nodes are those of its graph.json. `built` must stay.
  CutProgram(const BuildResult& built, BuildOptions options);

  const BuildOptions& options() const { return options_; }
  const CutGraph& graph() const { return graph_; }
  /// Throws NotSupported for a program that no plan can be made of.
  CutPlan plan();
  /// Nodes of graph.json that are meant; none for operators. Throws UsageError: driver/cut/node_selection.h,
  /// and unless exactly one of the three is given.
  std::vector<int> nodes(const CutSelection& selection);
  /// Throws as choose_steps.
  CutChoice choose(const CutSelection& selection);

 private:
  BuildOptions options_;
  IRModule source_;
  CutGraph graph_;
  const BuildResult* built_ = nullptr;
  IRModule optimized_;
  std::optional<GraphPlan> plan_;
};

}  // namespace baton
