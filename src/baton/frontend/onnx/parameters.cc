#include "baton/frontend/onnx/parameters.h"

#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

class Substitution final : public Rewriter {
 public:
  explicit Substitution(const PointerMap<Var>& vars) : vars_(vars) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const Var* var = vars_.find(original.get());
    return var ? Expr(*var) : rebuilt;
  }
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }

  const PointerMap<Var>& vars_;
};

}  // namespace

Imported with_parameters(IRModule module, const Initializers& initializers) {
  if (initializers.empty()) return {std::move(module)};
  const Function main = module->find("main");
  PointerMap<bool> is_read;
  post_order(Expr(main), [&](const Expr& node) { is_read[node.get()] = true; });
  PointerMap<Var> vars;
  std::vector<Var> params = main->params();
  Imported imported;
  for (const auto& [name, constant] : initializers) {
    if (!is_read.contains(constant.get())) continue;
    const Type& type = constant->checked_type();
    params.push_back(make_var(std::string(name), type, NodeInfo(OriginSet::none(), Span(), type)));
    vars[constant.get()] = params.back();
    imported.parameters.emplace_back(name, as<ConstantNode>(constant)->value());
  }
  const Expr body = Substitution(vars).run(main->body());
  module->set("main", make_function(std::move(params), body, main->ret_type(), main->attrs(),
                                    NodeInfo(main->origins(), main->span())));
  imported.module = infer_types(module);
  return imported;
}

}  // namespace baton::onnx
