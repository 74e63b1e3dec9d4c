#pragma once
// Functions that a model defines: which node calls one, and the nodes that stand for a call.
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "baton/frontend/onnx/model_file.h"

namespace baton::onnx {

class FunctionTable {
 public:
  explicit FunctionTable(const ModelFile& file);
  /// The function that `node` calls; null: it is an operator.
  const FunctionFile* find(const NodeFile& node) const;

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionFile*> functions_;
};

/// The function's nodes, in graphs of attributes too, with the attributes that refer to the function's own
/// replaced by those of `call`, else by their defaults. An attribute that has neither is left out.
std::vector<NodeFile> nodes_of_call(const FunctionFile& function, const NodeFile& call);

}  // namespace baton::onnx
