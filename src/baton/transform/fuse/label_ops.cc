// Gives every function, nested ones too, attributes that are shown in graph.json and reports: `hash` (16
// hexadecimal digits of its structural hash before labelling) and the layout attributes of the calls visited
// since the last function was entered (a later call overrides an earlier one). A kernel thus gets those of
// its own calls, and the enclosing function those of the last kernel.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "baton/ir/structural.h"
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
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs),
                       function->info(), function->type_params());
}

class Labeller final : public Rewriter {
  bool enter(const Expr& node) override {
    if (node->kind() == ExprKind::kFunction) labels_.clear();
    return true;
  }

  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    if (const auto* call = as<CallNode>(rebuilt); call && call->attrs()) note(*call->attrs());
    Function function = as_ref<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    function = without_attr(function, "hash");
    function = with_attr(function, "hash", hexadecimal(structural_hash(Expr(function))));
    for (const auto& [name, layout] : labels_) function = with_attr(function, name, layout);
    return Expr(function);
  }

  void note(const AttrsNode& attrs) {
    for (const AttrField& field : attrs.schema().fields) {
      if (field.name.find("layout") == std::string::npos) continue;
      const AttrValue value = field.get(attrs.data());
      const std::string* text = value.as<std::string>();
      if (!text) continue;
      const auto at = std::ranges::find(labels_, field.name, [](const auto& label) { return label.first; });
      if (at == labels_.end())
        labels_.emplace_back(field.name, *text);
      else
        at->second = *text;
    }
  }

  std::vector<std::pair<std::string, std::string>>
      labels_;  // of the calls since the last function was entered
};

}  // namespace

Pass label_ops() {
  return function_pass({1, "LabelOps", {}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Labeller().run(Expr(function)));
                       });
}

}  // namespace baton
