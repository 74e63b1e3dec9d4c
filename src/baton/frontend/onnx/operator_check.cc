#include "baton/frontend/onnx/operator_check.h"

#include <algorithm>

#include "baton/frontend/onnx/node_labels.h"
#include "baton/frontend/onnx/operators.h"
#include "baton/support/error.h"

namespace baton::onnx {

namespace {

constexpr std::string_view kForOneMachine = "com.microsoft.nchwc";

/// "ai.onnx" where a reader needs to see a domain.
std::string domain_text(std::string_view domain) { return std::string(domain.empty() ? "ai.onnx" : domain); }

}  // namespace

OperatorCheck::OperatorCheck(const ModelFile& file, const FunctionTable& functions)
    : file_(file), functions_(functions) {
  nodes_ = visit(file.graph.nodes, file.opsets, "", true);
}

size_t OperatorCheck::visit(const std::vector<NodeFile>& nodes, const OpsetVersions& opsets,
                            const std::string& path, bool is_certain) {
  size_t count = nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeFile& node = nodes[i];
    const std::string name = path + label_of(node, i);
    if (const FunctionFile* function = functions_.find(node)) {
      count += visit_call(*function, name, is_certain);
    } else {
      add(node, name, opsets, is_certain);
    }
    // Only one branch of an If is computed, and perhaps importing knows which.
    for (const AttributeFile& attribute : node.attributes)
      for (const auto& graph : attribute.graphs)
        count += visit(graph->nodes, opsets, name + "/" + label_of(attribute) + "/",
                       is_certain && node.op_type != "If");
    count = std::min(count, kMostNodes + 1);
  }
  return count;
}

size_t OperatorCheck::visit_call(const FunctionFile& function, const std::string& name, bool is_certain) {
  if (++calls_ > kMostCalls)
    throw Error(file_.path + ": `" + name + "`: functions call each other more than " +
                std::to_string(kMostCalls) + " deep");
  const auto [known, is_new] = visited_.try_emplace({&function, is_certain}, 0);
  if (is_new) known->second = visit(function.nodes, function.opsets, name + "/", is_certain);
  --calls_;
  return known->second;
}

void OperatorCheck::add(const NodeFile& node, const std::string& name, const OpsetVersions& opsets,
                        bool is_certain) {
  if (node.domain == kForOneMachine)
    throw NotSupported(file_.path + ": it has operators of " + std::string(kForOneMachine) + ", such as " +
                       std::string(node.op_type) + " `" + name +
                       "`: ONNX Runtime optimised it for one machine; export it again");
  const auto version = opsets.find(node.domain);
  const bool has_version = version != opsets.end();
  if (find_operator(node.domain, node.op_type)) {
    if (node.domain.empty() && !has_version && !file_.opsets.contains("") && without_version_.empty())
      without_version_ = std::string(node.op_type) + " `" + name + "`";
    return;
  }
  any_certain_ |= is_certain;
  missing_[domain_text(node.domain) + "." + std::string(node.op_type) +
           (has_version ? " (version " + std::to_string(version->second) + ")" : "")]
      .push_back(name);
}

void OperatorCheck::check_versions(const OpsetVersions& opsets) const {
  const auto version = opsets.find("");
  if (version == opsets.end()) return;
  if (version->second > kNewestOpset)
    throw NotSupported(file_.path + ": it is written in version " + std::to_string(version->second) +
                       " of ONNX's operators; this version of Baton knows them up to " +
                       std::to_string(kNewestOpset));
  if (version->second < 1)
    throw Error(file_.path + ": it is written in version " + std::to_string(version->second) +
                " of ONNX's operators, which there is not");
}

void OperatorCheck::require() const {
  check_versions(file_.opsets);
  for (const FunctionFile& each : file_.functions) check_versions(each.opsets);
  if (any_certain_) refuse();
  if (nodes_ > kMostNodes)
    throw NotSupported(file_.path + ": with those of its functions it has more than " +
                       std::to_string(kMostNodes) + " nodes");
  if (!without_version_.empty())
    throw Error(file_.path + ": it does not say which version of ONNX's operators it is written in " +
                "(opset_import), and has " + without_version_);
}

void OperatorCheck::refuse() const {
  constexpr size_t kNamed = 3;
  std::string text = file_.path + ": there is no rule for " + std::to_string(missing_.size()) +
                     (missing_.size() == 1 ? " operator:" : " operators:");
  for (const auto& [op, nodes] : missing_) {
    text += "\n  " + op + ": " + std::to_string(nodes.size()) + (nodes.size() == 1 ? " node (" : " nodes (");
    for (size_t i = 0; i < std::min(kNamed, nodes.size()); ++i) text += (i ? ", " : "") + nodes[i];
    text += nodes.size() > kNamed ? ", ...)" : ")";
  }
  throw NotSupported(text);
}

}  // namespace baton::onnx
