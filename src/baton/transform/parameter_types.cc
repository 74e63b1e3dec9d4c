#include "baton/transform/parameter_types.h"

#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {

namespace {

class ParameterChanger final : public Rewriter {
 public:
  ParameterChanger(const Function& root, const std::vector<Type>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
      const Var& param = root->params()[i];
      params_.insert(param.get(), make_var(param->name(), types[i] ? types[i] : declared_type(*param),
                                           NodeInfo(param->origins(), param->span())));
    }
  }

 private:
  bool enter(const Expr&) override { return true; }

  // Bound variables inside are inferred again.
  Var rewrite_var(const Var& var) override {
    if (const Var* param = params_.find(var.get())) return *param;
    return make_var(var->name(), {}, NodeInfo(var->origins(), var->span()));
  }

  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    return make_function(function->params(), function->body(), {}, function->attrs(), function->with_type({}),
                         function->type_params());
  }

  PointerMap<Var> params_;
};

}  // namespace

Function with_parameter_types(const Function& function, const std::vector<Type>& types) {
  ParameterChanger changer(function, types);
  return as_ref<FunctionNode>(changer.run(Expr(function)));
}

Type with_extent(const Type& type, int64_t axis, Dim extent, const std::string& what) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  if (!tensor) throw UsageError(what + " is no tensor");
  const int64_t at = axis < 0 ? axis + tensor->rank() : axis;
  if (at < 0 || at >= tensor->rank())
    throw UsageError(what + " has no axis " + std::to_string(axis) + ", its rank is " +
                     std::to_string(tensor->rank()));
  std::vector<Dim> shape = tensor->shape();
  shape[static_cast<size_t>(at)] = extent;
  return tensor_type(std::move(shape), tensor->dtype());
}

}  // namespace baton
