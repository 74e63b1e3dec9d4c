#include "baton/frontend/onnx/functions.h"

#include <algorithm>

namespace baton::onnx {

namespace {

/// The attributes of one call, by the names that the function gives them.
class CallAttributes {
 public:
  CallAttributes(const FunctionFile& function, const NodeFile& call) : function_(function), call_(call) {}

  std::vector<NodeFile> resolved(const std::vector<NodeFile>& nodes) const {
    std::vector<NodeFile> copies = nodes;  // texts and data are views of the file
    for (NodeFile& node : copies) {
      std::vector<AttributeFile> attributes;
      for (const AttributeFile& each : node.attributes) add(each, attributes);
      node.attributes = std::move(attributes);
    }
    return copies;
  }

 private:
  void add(const AttributeFile& attribute, std::vector<AttributeFile>& to) const {
    AttributeFile copy = attribute;
    if (!attribute.ref_name.empty()) {
      const AttributeFile* value = find(attribute.ref_name);
      if (!value) return;
      copy = *value;
      copy.name = attribute.name;
    } else {
      for (auto& graph : copy.graphs) {
        auto inner = std::make_shared<GraphFile>(*graph);
        inner->nodes = resolved(graph->nodes);
        graph = std::move(inner);
      }
    }
    to.push_back(std::move(copy));
  }

  const AttributeFile* find(std::string_view name) const {
    if (const AttributeFile* given = call_.attribute(name)) return given;
    const auto at = std::ranges::find(function_.defaults, name, &AttributeFile::name);
    return at == function_.defaults.end() ? nullptr : &*at;
  }

  const FunctionFile& function_;
  const NodeFile& call_;
};

}  // namespace

FunctionTable::FunctionTable(const ModelFile& file) {
  for (const FunctionFile& each : file.functions) functions_[{each.domain, each.name, each.overload}] = &each;
}

const FunctionFile* FunctionTable::find(const NodeFile& node) const {
  const auto at = functions_.find({node.domain, node.op_type, node.overload});
  return at == functions_.end() ? nullptr : at->second;
}

std::vector<NodeFile> nodes_of_call(const FunctionFile& function, const NodeFile& call) {
  return CallAttributes(function, call).resolved(function.nodes);
}

}  // namespace baton::onnx
