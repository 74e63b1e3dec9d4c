#include "baton/driver/plan/region_attrs.h"

namespace baton {
namespace {

constexpr const char* kRegion = "region";
constexpr const char* kCompiler = "compiler";

}  // namespace

std::string text_attr(const FunctionNode& function, const char* name) {
  const AttrValue* value = function.attr(name);
  const std::string* text = value ? value->as<std::string>() : nullptr;
  return text ? *text : "";
}

Function without_attrs(const Function& function, const std::set<std::string>& names) {
  FunctionAttrs attrs;
  for (const auto& [name, value] : function->attrs())
    if (!names.count(name)) attrs.emplace_back(name, value);
  if (attrs.size() == function->attrs().size()) return function;
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs),
                       NodeInfo(function->origins(), function->span(), function->checked_type()),
                       function->type_params());
}

Function of_region(const Function& kernel, const std::string& compiler, const std::string& region) {
  return with_attr(with_attr(kernel, kCompiler, compiler), kRegion, region);
}

std::string region_of(const FunctionNode& kernel) { return text_attr(kernel, kRegion); }
std::string compiler_of(const FunctionNode& kernel) { return text_attr(kernel, kCompiler); }
Function without_region(const Function& kernel) { return without_attrs(kernel, {kRegion, kCompiler}); }

}  // namespace baton
