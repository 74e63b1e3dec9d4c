#pragma once
// An ONNX file as a Relay module: graphs, names and origins. What a node computes, rules say (ops/,
// onnx_ops.def).
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/frontend/onnx/conversion.h"
#include "baton/frontend/onnx/import.h"
#include "baton/frontend/onnx/tensor_data.h"
#include "baton/ir/module.h"

namespace baton::onnx {

/// Names of one graph and of those around it.
struct Scope {
  const Scope* around = nullptr;
  std::unordered_map<std::string_view, Value> names;

  /// Null: nobody made it.
  const Value* find(std::string_view name) const;
};

class Importer final : public Surroundings {
 public:
  Importer(std::shared_ptr<const ModelFile> file, const ImportOptions& options, const BuildContext& context);

  IRModule run();
  /// What the graph's outputs are for these values of its inputs, constants: a tensor, or a tuple of them.
  Expr applied(const ExprList& values);

  Expr tensor(const Value& value) override;
  std::string place(const NodeFile& node) const override;
  Expr keep(const Conversion& node, const std::vector<Type>& types) const override;
  NDArray elements(const TensorFile& tensor) override;
  NDArray elements(const SparseTensorFile& tensor) override { return tensors_.read(tensor); }

 private:
  Var parameter(const ValueFile& input);
  Dim extent(const DimFile& dim, std::string_view input, size_t axis);
  void check_given() const;
  void take_given(const ValueFile& input);
  void check_operators() const;
  void check_operators(const std::vector<NodeFile>& nodes,
                       std::map<std::string, std::vector<std::string>>& missing,
                       const OpsetVersions& opsets) const;
  Values outputs_of(const GraphFile& graph, Scope& scope, const std::string& path);
  void convert(const NodeFile& node, size_t index, Scope& scope, const std::string& path);
  Values folded(const Conversion& conversion, Values results);
  static Expr constant(NDArray value);
  Expr extent_value(Dim dim);
  std::string name_of(const NodeFile& node, size_t index, const std::string& path);
  void retire_rest();

  const std::shared_ptr<const ModelFile> file_;
  const ImportOptions& options_;
  const BuildContext& context_;
  TensorReader tensors_;
  IRModule module_ = make_module();
  const Scope* scope_ = nullptr;
  const OpsetVersions* opsets_ = nullptr;
  std::map<std::string, Dim> symbols_;
  std::vector<std::pair<Dim, std::pair<Var, int>>> extent_sources_;  ///< where the number of a symbol is read
  std::map<std::string, int> seen_names_;
  std::vector<std::pair<Ref<const Origin>, std::string>> made_;  ///< of each node, and why it is not there
};

}  // namespace baton::onnx
