#pragma once
// The nodes of an ONNX file as other tools name them, for joining these tools' times with Baton's: no shapes,
// no types, and no rule is needed for any of them.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/frontend/onnx/model_file.h"
#include "baton/ir/origin.h"

namespace baton::onnx {

struct SourceNode {
  std::string label;  ///< NodeLabels::unique: what OperatorRecord::source says of it
  std::string name, op;
  std::vector<std::string> outputs;  ///< its tensors' names
  std::vector<uint32_t> inputs;      ///< nodes whose tensors it or a graph inside it reads, ascending
  bool is_constant = false;          ///< follows from the file alone: engines compute it before they run
  bool is_call = false;              ///< of a function of the model, whose nodes stand for it
  std::string module = {};           ///< module_path.h, as of origins
  SourceLine line = {};

  /// Whether a step of an engine may be its.
  bool is_computed() const { return !is_constant && !is_call; }
};

/// All nodes, those of inner graphs and of called functions behind the node that has them. Throws Error for
/// functions that call themselves.
std::vector<SourceNode> source_nodes(const ModelFile& file);

}  // namespace baton::onnx
