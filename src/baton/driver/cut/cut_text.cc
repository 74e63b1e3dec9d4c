#include "baton/driver/cut/cut_text.h"

#include <algorithm>

#include "baton/ir/visit.h"
#include "baton/support/json.h"
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
  std::string comments;
  const auto say = [&](std::string line) {
    std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    comments += "// " + line + "\n";
  };
  say(title + ".");
  for (const CutOperator& each : cut.operators) say(origin_label(*each.origin) + ": " + each.why);
  for (const CutParam& param : cut.params)
    if (param.kind == CutParam::Kind::kValue)
      say("input %" + param.var->name() + ": the value of " + param.label);
  for (size_t i = 0; i < cut.outputs.size(); ++i)
    say("output " + std::to_string(i) + ": the value of " + cut.outputs[i].label);
  const std::string text = readable_text(*cut.module);
  return text.starts_with(kVersion) ? kVersion + comments + text.substr(std::string_view(kVersion).size())
                                    : comments + text;
}

Json operators_json(const OriginTable& table, const std::vector<CutOperator>& operators) {
  auto rows = Json::array();
  for (const CutOperator& each : operators) {
    const auto id = table.find(each.origin);
    rows.push_back({{"id", id ? Json(index(*id)) : nullptr},
                    {"op", each.origin->op()},
                    {"name", origin_name(*each.origin)},
                    {"line", each.origin->span().line},
                    {"column", each.origin->span().column},
                    {"why", each.why}});
  }
  return rows;
}

}  // namespace baton
