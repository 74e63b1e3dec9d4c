// Every function, also inside others, gets attributes that travel into graph.json and reports: `hash` (16 hexadecimal
// digits of its structural hash, before it has labels) and the layouts of its calls (of two calls the later one's).

#include <cinttypes>
#include <cstdio>
#include <map>

#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

std::string hexadecimal(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

Function without_attr(const Function& function, std::string_view name) {
  if (!function->attr(name)) return function;
  FunctionAttrs attrs = function->attrs();
  std::erase_if(attrs, [&](const auto& attr) { return attr.first == name; });
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs), function->info(),
                       function->type_params());
}

// Layout attributes of the calls of `function`, not of functions inside it.
std::map<std::string, std::string> layouts_of(const FunctionNode& function) {
  std::map<std::string, std::string> layouts;
  post_order(
      function.body(),
      [&](const Expr& node) {
        const auto* call = as<CallNode>(node);
        if (!call || !call->attrs()) return;
        for (const AttrField& field : call->attrs()->schema().fields) {
          if (field.name.find("layout") == std::string::npos) continue;
          const AttrValue value = field.get(call->attrs()->data());
          if (const std::string* text = value.as<std::string>()) layouts[field.name] = *text;
        }
      },
      [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
  return layouts;
}

class Labeller final : public Rewriter {
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    Function function = as_ref<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    function = without_attr(function, "hash");
    const uint64_t hash = structural_hash(Expr(function));
    for (const auto& [name, layout] : layouts_of(*function)) function = with_attr(function, name, layout);
    return Expr(with_attr(function, "hash", hexadecimal(hash)));
  }
};

}  // namespace

Pass label_ops() {
  return function_pass({1, "LabelOps", {}}, [](const Function& function, const IRModule&, const PassContext&) {
    return as_ref<FunctionNode>(Labeller().run(Expr(function)));
  });
}

}  // namespace baton
