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
#include "baton/frontend/onnx/functions.h"
#include "baton/frontend/onnx/import.h"
#include "baton/frontend/onnx/node_labels.h"
#include "baton/frontend/onnx/operator_check.h"
#include "baton/frontend/onnx/parameters.h"
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

  Imported run();
  /// What the graph's outputs are for these values of its inputs, constants: a tensor, or a tuple of them.
  Expr applied(const ExprList& values);

  Expr tensor(const Value& value) override;
  std::string place(const NodeFile& node) const override;
  Expr keep(const Conversion& node, const std::vector<Type>& types) const override;
  NDArray elements(const TensorFile& tensor) override;
  NDArray elements(const SparseTensorFile& tensor) override { return tensors_.read(tensor); }
  Values run_graph(const AttributeFile& graph, const Values& inputs, const Bindings& bindings) override;
  GraphAttempt try_graph(const AttributeFile& graph) override;
  void skip_graph(const AttributeFile& graph, const std::string& why) override;
  Bindings outer_values(const AttributeFile& graph) const override;
  void explain(const std::string& why) override { made_[frame_.made].why = why; }

 private:
  /// The node that is being converted.
  struct Frame {
    const Scope* scope = nullptr;
    const NodeFile* node = nullptr;
    size_t made = 0;   ///< of made_
    std::string path;  ///< of its origin
  };
  /// An operator of the file, and why it is not in the module if it is not.
  struct Made {
    Ref<const Origin> origin;
    std::string why;
  };

  void check_given() const;
  void take_given(const ValueFile& input);
  Dim extent(const DimFile& dim, std::string_view input, size_t axis);
  Var parameter(const ValueFile& input);
  Expr result(const Value& value);

  Values outputs_of(const GraphFile& graph, Scope& scope, const std::string& path);
  void read_initializers(const GraphFile& graph, Scope& scope);
  void convert(const NodeFile& node, size_t index, Scope& scope, const std::string& path);
  Values inputs_of(const NodeFile& node, const Scope& scope) const;
  Values results_of(const NodeFile& node, Values inputs);
  Values call(const FunctionFile& function, const NodeFile& node, const Values& inputs,
              const std::string& path);
  void enter(const NodeFile& node, const Values& results, Scope& scope) const;
  Values folded(const Conversion& conversion, Values results);
  void retire_nodes(const GraphFile& graph, const std::string& path, const std::string& why);
  int64_t version_of(const NodeFile& node) const;
  static Expr constant(NDArray value);
  Expr extent_value(Dim dim);
  size_t made_for(const NodeFile& node, size_t index, const std::string& path);
  void retire_rest();

  const std::shared_ptr<const ModelFile> file_;
  const ImportOptions& options_;
  const BuildContext& context_;
  TensorReader tensors_;
  const FunctionTable functions_;
  const OperatorCheck operators_;
  IRModule module_ = make_module();
  Frame frame_;
  const OpsetVersions own_opsets_;         ///< of the model
  const OpsetVersions* opsets_ = nullptr;  ///< of the model or function that is being converted
  Initializers initializers_;              ///< of the model, if they are to be parameters
  std::map<std::string, Dim> symbols_;
  std::vector<std::pair<Dim, std::pair<Var, int>>> extent_sources_;  ///< where the number of a symbol is read
  PlaceTable places_;
  NodeLabels labels_;
  std::vector<Made> made_;
  size_t converted_ = 0;  ///< nodes, in each turn of a loop
  /// By the path of a graph or call, the places in made_ of its nodes: a graph can be converted several
  /// times.
  std::unordered_map<std::string, std::vector<size_t>> made_of_;
  std::unordered_map<std::string, std::vector<NodeFile>> calls_;  ///< by path, the nodes of functions' calls
  std::vector<const FunctionFile*> open_calls_;
};

}  // namespace baton::onnx
