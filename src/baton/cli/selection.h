#pragma once
// Selects a part of a model: --kernel, --nodes, --operators.
#include <memory>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/cut/cut_program.h"

namespace baton::cli {

struct SelectionFlags {
  CutSelection selection;
  void add(Flags& flags);
  bool any() const {
    return !selection.kernel.empty() || !selection.nodes.empty() || !selection.operators.empty();
  }
  /// As given by the user: "--nodes 3:7".
  std::string text() const;
};

/// A model to select from.
struct CutModel {
  LoadedModel model;
  std::unique_ptr<CutProgram> program;
};
CutModel load_for_cut(const ModelFlags& flags);

/// One line per operator: its name, and why it belongs to the cut.
std::string operator_lines(const std::vector<CutOperator>& operators);

}  // namespace baton::cli
