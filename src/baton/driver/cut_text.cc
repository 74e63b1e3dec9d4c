#include "baton/driver/cut_text.h"

#include "baton/ir/visit.h"
#include "baton/text/origin_label.h"
#include "baton/text/printer.h"

namespace baton {

namespace {

constexpr const char* kVersion = "#[version = \"0.0.5\"]\n";

bool has_constants(const IRModuleNode& module) {
  bool found = false;
  for (const auto& [name, function] : module.functions())
    post_order(Expr(function), [&](const Expr& node) {
      const auto* constant = as<ConstantNode>(node);
      found |= constant && !constant->is_scalar();
    });
  return found;
}

}  // namespace

std::string readable_text(const IRModuleNode& module) {
  PrintOptions options;
  options.spans = false;
  options.metadata = has_constants(module) ? PrintOptions::Metadata::kFull : PrintOptions::Metadata::kNone;
  return print(module, options);
}

std::string cut_text(const Cut& cut, const std::string& title) {
  std::string comments = "// " + title + ".\n";
  for (const CutOperator& each : cut.operators) comments += "// " + origin_label(*each.origin) + ": " + each.why + "\n";
  for (const CutParam& param : cut.params)
    if (param.kind == CutParam::Kind::kValue) comments += "// input %" + param.var->name() + ": the value of " + param.label + "\n";
  for (size_t i = 0; i < cut.outputs.size(); ++i) comments += "// output " + std::to_string(i) + ": the value of " + cut.outputs[i].label + "\n";
  const std::string text = readable_text(*cut.module);
  return text.starts_with(kVersion) ? kVersion + comments + text.substr(std::string_view(kVersion).size()) : comments + text;
}

}  // namespace baton
