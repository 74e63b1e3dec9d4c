#include "baton/frontend/onnx/source_nodes.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "baton/frontend/onnx/functions.h"
#include "baton/frontend/onnx/module_path.h"
#include "baton/frontend/onnx/node_labels.h"
#include "baton/frontend/onnx/operator_check.h"
#include "baton/support/error.h"

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

class Collector {
 public:
  explicit Collector(const ModelFile& file) : file_(file), functions_(file) {}

  void collect(const GraphFile& graph, const Names* around, const std::string& path) {
    Names names{around, {}, {}};
    for (const TensorFile& each : graph.initializers) names.constants.insert(each.name);
    for (const SparseTensorFile& each : graph.sparse_initializers) names.constants.insert(each.values.name);
    for (size_t i = 0; i < graph.nodes.size(); ++i) add(graph.nodes[i], i, names, path);
  }

  std::vector<SourceNode> take() { return std::move(nodes_); }

 private:
  void add(const NodeFile& node, size_t index, Names& names, const std::string& path) {
    if (nodes_.size() >= kMostNodes)
      throw NotSupported(file_.path + ": with those of its functions it has more than " +
                         std::to_string(kMostNodes) + " nodes");
    const auto id = static_cast<uint32_t>(nodes_.size());
    SourceNode one{labels_.unique(node, index, path),
                   std::string(node.name),
                   std::string(node.op_type),
                   {node.outputs.begin(), node.outputs.end()},
                   {},
                   node.op_type == "Constant" || !node.inputs.empty(),
                   false,
                   module_path(node, path),
                   source_line(node)};
    std::erase(one.outputs, "");
    std::set<uint32_t> inputs;
    for (const std::string_view input : node.inputs) {
      if (const uint32_t maker = names.maker(input); maker != kNotMade) inputs.insert(maker);
      one.is_constant &= input.empty() || names.is_constant(input);
    }
    const std::string inner = one.label + "/";
    nodes_.push_back(std::move(one));
    if (const FunctionFile* function = functions_.find(node)) {
      add_call(*function, node, names, inner);
      nodes_[id].is_call = true;
      nodes_[id].outputs.clear();
      return;
    }
    for (const AttributeFile& attribute : node.attributes)
      for (const auto& graph : attribute.graphs) {
        collect(*graph, &names, inner + label_of(attribute) + "/");
        nodes_[id].is_constant = false;
      }
    // What the graphs inside it read, it reads.
    for (uint32_t i = id + 1; i < nodes_.size(); ++i)
      for (const uint32_t input : nodes_[i].inputs)
        if (input < id) inputs.insert(input);
    nodes_[id].inputs.assign(inputs.begin(), inputs.end());
    for (const std::string_view output : node.outputs) {
      if (output.empty()) continue;
      names.makers[output] = id;
      if (nodes_[id].is_constant) names.constants.insert(output);
    }
  }

  /// The function's nodes stand for the call, under the names that the call gives its inputs and outputs.
  void add_call(const FunctionFile& function, const NodeFile& call, Names& names, const std::string& path) {
    if (++calls_ > kMostCalls)
      throw Error(file_.path + ": `" + path + "`: functions call each other more than " +
                  std::to_string(kMostCalls) + " deep");
    Names own;
    for (size_t i = 0; i < std::min(function.inputs.size(), call.inputs.size()); ++i) {
      const std::string_view given = call.inputs[i];
      if (const uint32_t maker = names.maker(given); maker != kNotMade)
        own.makers[function.inputs[i]] = maker;
      if (names.is_constant(given)) own.constants.insert(function.inputs[i]);
    }
    const std::vector<NodeFile> nodes = nodes_of_call(function, call);
    for (size_t i = 0; i < nodes.size(); ++i) add(nodes[i], i, own, path);
    for (size_t i = 0; i < std::min(function.outputs.size(), call.outputs.size()); ++i) {
      const uint32_t maker = own.maker(function.outputs[i]);
      if (maker == kNotMade || call.outputs[i].empty()) continue;
      names.makers[call.outputs[i]] = maker;
      if (own.is_constant(function.outputs[i])) names.constants.insert(call.outputs[i]);
      // Engines that take functions apart keep the tensors that the call makes.
      nodes_[maker].outputs.emplace_back(call.outputs[i]);
    }
    --calls_;
  }

  const ModelFile& file_;
  const FunctionTable functions_;
  NodeLabels labels_;
  std::vector<SourceNode> nodes_;
  int calls_ = 0;  ///< that are being added, one within the other
};

}  // namespace

std::vector<SourceNode> source_nodes(const ModelFile& file) {
  Collector collector(file);
  collector.collect(file.graph, nullptr, "");
  return collector.take();
}

}  // namespace baton::onnx
