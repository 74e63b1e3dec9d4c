#include "baton/driver/kernel_names.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

constexpr size_t kLongestName = 80;

}  // namespace

std::string kernel_base_name(const FunctionNode& function) {
  std::string name = "fused";
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && call->op()) name += "_" + call->op()->name;
  });
  if (name.size() <= kLongestName) return name;
  char hash[24];
  // The hash is part of the names that TVM gives; it is the one of the C++ library that TVM is built with,
  // and ours.
  std::snprintf(hash, sizeof hash, "_%zx_", std::hash<std::string>()(name));
  return name.substr(0, kLongestName) + hash;
}

std::string kernel_name(const std::string& mod_name, const FunctionNode& function) {
  return region_kernel_name("tvmgen_" + mod_name, function);
}

std::string region_kernel_name(const std::string& region, const FunctionNode& function) {
  std::string name = region + "_" + kernel_base_name(function);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string UniqueNames::make(const std::string& name) {
  std::string unique = name;
  while (!taken_.insert(unique).second) unique = name + "_" + std::to_string(++last_[name]);
  return unique;
}

}  // namespace baton
