#pragma once
// The names that reports know the nodes of an ONNX file by.
#include <string>
#include <unordered_map>

#include "baton/frontend/onnx/model_file.h"

namespace baton::onnx {

/// "Conv_3" for a node without a name, the fourth of its graph.
std::string label_of(const NodeFile& node, size_t index);
/// How paths call a graph that is an attribute: "then" for "then_branch".
std::string label_of(const AttributeFile& graph);

/// Names that are different for each node of a file: with the path of the graphs and calls around it, and
/// "#2" behind a name that was there before. Asked once for each node, in the order of the file.
class NodeLabels {
 public:
  /// `path`: "", "If_3/then/" or "Call/".
  std::string unique(const NodeFile& node, size_t index, const std::string& path);

 private:
  std::unordered_map<std::string, int> seen_;
};

}  // namespace baton::onnx
