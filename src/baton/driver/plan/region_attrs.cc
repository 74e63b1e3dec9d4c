#include "baton/driver/plan/region_attrs.h"

#include "baton/ir/build.h"

namespace baton {
namespace {

constexpr const char* kRegion = "region";
constexpr const char* kCompiler = "compiler";

}  // namespace

Function of_region(const Function& kernel, const std::string& compiler, const std::string& region) {
  return with_attr(with_attr(kernel, kCompiler, compiler), kRegion, region);
}

std::string region_of(const FunctionNode& kernel) { return text_attr(kernel, kRegion); }
std::string compiler_of(const FunctionNode& kernel) { return text_attr(kernel, kCompiler); }

Function of_refused_region(const Function& kernel, const std::string& why) {
  return with_attr(kernel, kFallback, why);
}
std::string refusal_of_region(const FunctionNode& kernel) { return text_attr(kernel, kFallback); }

Function without_region(const Function& kernel) {
  return without_attrs(kernel, {kRegion, kCompiler, kFallback});
}

}  // namespace baton
