#pragma once
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/module.h"

namespace baton::onnx {

/// By id: the name of each node of an imported file, and why it is retired ("" while it is there).
inline std::vector<std::pair<std::string, std::string>> nodes_of(const IRModule& module) {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (uint32_t i = 0; i < module->origins().size(); ++i) {
    const Retired* retired = module->origins().retired(OriginId(i));
    nodes.emplace_back(module->origins().at(OriginId(i)).source_name(), retired ? retired->reason : "");
  }
  return nodes;
}

}  // namespace baton::onnx
