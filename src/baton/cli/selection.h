#pragma once
// Which part of a model a verb is about: --kernel, --nodes, --operators.
#include <memory>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/cut/cut_program.h"

namespace baton::cli {

struct SelectionFlags {
  CutSelection selection;
  void add(Flags& flags);
  /// As it was given: "--nodes 3:7".
  std::string text() const;
};

/// A model whose parts are asked for.
struct CutModel {
  LoadedModel model;
  std::unique_ptr<CutProgram> program;
};
CutModel load_for_cut(const ModelFlags& flags);

/// One line for each operator: its name, and why it belongs to the cut.
std::string operator_lines(const std::vector<CutOperator>& operators);

}  // namespace baton::cli
