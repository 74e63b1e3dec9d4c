#pragma once
// A program to cut from or mark in; resolves a user's selection by nodes, kernel or operators.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/cut_graph.h"

namespace baton {

/// Exactly one field is set; see driver/cut/node_selection.h.
struct CutSelection {
  std::string kernel, nodes, operators;
};

class CutProgram {
 public:
  /// A program that is not built: when nodes are needed, it is optimized under `options` without compiling
  /// kernels.
  CutProgram(const IRModule& module, BuildOptions options);
  /// A built program: nodes are those of its graph.json. `built` must outlive this.
  CutProgram(const BuildResult& built, BuildOptions options);

  const BuildOptions& options() const { return options_; }
  const CutGraph& graph() const { return graph_; }
  /// Throws NotSupported when the program cannot be planned.
  CutPlan plan();
  /// The selected nodes of graph.json; empty when operators are selected. Throws UsageError as in
  /// driver/cut/node_selection.h, and unless exactly one field is set.
  std::vector<int> nodes(const CutSelection& selection);
  /// Throws as choose_steps does.
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
