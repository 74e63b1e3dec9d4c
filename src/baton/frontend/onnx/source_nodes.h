#pragma once
// The nodes of an ONNX file as other tools name them, for joining these tools' times with Baton's: no shapes,
// no types, and no rule is needed for any of them.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "baton/frontend/onnx/model_file.h"

namespace baton::onnx {

/// Gives each node the name that reports know it by: its own, else the operator and its place; with the path
/// of the graphs around it, and "#2" behind a name that was there before.
class NodeLabels {
 public:
  /// `path`: "" or "If_3/then/". Asked for each node once, in the order of the file.
  std::string operator()(const NodeFile& node, size_t index, const std::string& path);

 private:
  std::map<std::string, int> seen_;
};

struct SourceNode {
  std::string label;  ///< NodeLabels: what OperatorRecord::source says of it
  std::string name, op;
  std::vector<std::string> outputs;  ///< its tensors' names
  std::vector<uint32_t> inputs;      ///< nodes whose tensors it or a graph inside it reads, ascending
  bool is_constant = false;          ///< follows from the file alone: engines compute it before they run
};

/// All nodes, those of inner graphs behind the node that has them.
std::vector<SourceNode> source_nodes(const ModelFile& file);

}  // namespace baton::onnx
