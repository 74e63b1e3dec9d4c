#include "baton/frontend/onnx/source_nodes.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace baton::onnx {

namespace {

constexpr uint32_t kNotMade = UINT32_MAX;  // an initializer: no node makes it

struct Names {
  const Names* around = nullptr;
  std::unordered_map<std::string_view, uint32_t> makers;
  std::set<std::string_view> constants;

  uint32_t maker(std::string_view tensor) const {
    for (const Names* names = this; names; names = names->around)
      if (const auto at = names->makers.find(tensor); at != names->makers.end()) return at->second;
    return kNotMade;
  }
  bool is_constant(std::string_view tensor) const {
    for (const Names* names = this; names; names = names->around)
      if (names->constants.contains(tensor)) return true;
    return false;
  }
};

/// "then" of `then_branch`.
std::string_view short_name(std::string_view attribute) {
  for (const std::string_view ending : {"_branch", "_body"})
    if (attribute.ends_with(ending)) attribute.remove_suffix(ending.size());
  return attribute;
}

class Collector {
 public:
  void collect(const GraphFile& graph, const Names* around, const std::string& path,
               std::set<uint32_t>* read_outside) {
    Names names{around, {}, {}};
    const auto first = static_cast<uint32_t>(nodes_.size());
    for (const TensorFile& each : graph.initializers) names.constants.insert(each.name);
    for (const SparseTensorFile& each : graph.sparse_initializers) names.constants.insert(each.values.name);
    for (size_t i = 0; i < graph.nodes.size(); ++i) add(graph.nodes[i], i, names, path);
    if (!read_outside) return;
    for (uint32_t i = first; i < nodes_.size(); ++i)
      for (const uint32_t input : nodes_[i].inputs)
        if (input < first) read_outside->insert(input);
  }

  std::vector<SourceNode> take() { return std::move(nodes_); }

 private:
  void add(const NodeFile& node, size_t index, Names& names, const std::string& path) {
    const auto id = static_cast<uint32_t>(nodes_.size());
    SourceNode one{
        labels_(node, index, path), std::string(node.name), std::string(node.op_type), {}, {}, false};
    bool has_graphs = false;
    std::set<uint32_t> inputs;
    one.is_constant = true;
    for (const std::string_view input : node.inputs) {
      if (const uint32_t maker = names.maker(input); maker != kNotMade) inputs.insert(maker);
      one.is_constant &= input.empty() || names.is_constant(input);
    }
    one.is_constant &= node.op_type == "Constant" || !node.inputs.empty();
    const std::string label = one.label;
    nodes_.push_back(std::move(one));
    for (const AttributeFile& attribute : node.attributes)
      for (const auto& graph : attribute.graphs) {
        has_graphs = true;
        collect(*graph, &names, label + "/" + std::string(short_name(attribute.name)) + "/", &inputs);
      }
    SourceNode& made = nodes_[id];
    made.is_constant &= !has_graphs;
    inputs.erase(id);
    made.inputs.assign(inputs.begin(), inputs.end());
    for (const std::string_view output : node.outputs) {
      if (output.empty()) continue;
      made.outputs.emplace_back(output);
      names.makers[output] = id;
      if (made.is_constant) names.constants.insert(output);
    }
  }

  NodeLabels labels_;
  std::vector<SourceNode> nodes_;
};

}  // namespace

std::string NodeLabels::operator()(const NodeFile& node, size_t index, const std::string& path) {
  std::string name = path + (node.name.empty() ? std::string(node.op_type) + "_" + std::to_string(index)
                                               : std::string(node.name));
  if (const int count = ++seen_[name]; count > 1) name += "#" + std::to_string(count);
  return name;
}

std::vector<SourceNode> source_nodes(const ModelFile& file) {
  Collector collector;
  collector.collect(file.graph, nullptr, "", nullptr);
  return collector.take();
}

}  // namespace baton::onnx
