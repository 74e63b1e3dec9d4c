#include "baton/frontend/onnx/node_labels.h"

namespace baton::onnx {

std::string label_of(const NodeFile& node, size_t index) {
  return node.name.empty() ? std::string(node.op_type) + "_" + std::to_string(index) : std::string(node.name);
}

std::string label_of(const AttributeFile& graph) {
  if (graph.name == "then_branch") return "then";
  if (graph.name == "else_branch") return "else";
  return std::string(graph.name);
}

std::string NodeLabels::unique(const NodeFile& node, size_t index, const std::string& path) {
  std::string name = path + label_of(node, index);
  while (true) {  // "a#2" may be a name of the file, too
    const int count = ++seen_[name];
    if (count == 1) return name;
    name += "#" + std::to_string(count);
  }
}

}  // namespace baton::onnx
