// Normalization before device planning: an annotation on a tuple moves to its items, and one on a function's
// result or a let's value also constrains the result.
//   on_device(t).i  ->  on_device(t.i)        fn () { on_device(x) }  ->  fn () { on_device(x,
//   constrain_result=True) }
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/devices/plan_devices.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

class AnnotationRewriter final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(rebuilt)) {
      const CallNode* place = call_of(item->tuple(), "on_device");
      if (!place) return rebuilt;
      const OriginScope scope(place->origins());
      return call_expr(place->callee(), {get_item(place->args()[0], item->index())}, place->attrs());
    }
    if (const auto* function = as<FunctionNode>(rebuilt)) {
      const Expr body = constrained(function->body());
      return body == function->body() ? rebuilt : Expr(remake_function(*function, function->params(), body));
    }
    if (const auto* let = as<LetNode>(rebuilt)) {
      const Expr value = constrained(let->value());
      return value == let->value() ? rebuilt : make_let(let->var(), value, let->body(), let->with_type({}));
    }
    return rebuilt;
  }

  static Expr constrained(const Expr& expr) {
    const CallNode* place = call_of(expr, "on_device");
    if (!place || bool_attr(*place, "constrain_result") || !bool_attr(*place, "constrain_body")) return expr;
    return with_attrs(*place, with_fields(place->attrs(), {{"constrain_result", true}}));
  }
};

}  // namespace

Pass plan_devices_rewrite() {
  return module_pass({0, "PlanDevicesRewrite", {}}, [](IRModule module, const BuildContext& context) {
    std::vector<std::pair<std::string, Function>> updates;
    for (const auto& [name, function] : module->functions())
      if (has_places(*function))
        updates.emplace_back(name, as_ref<FunctionNode>(AnnotationRewriter().run(Expr(function))));
    for (auto& [name, function] : updates) module->replace(name, std::move(function));
    return (*make_pass("InferType"))(module, context);
  });
}

}  // namespace baton
