#include "baton/frontend/onnx/operators.h"

#include <map>

namespace baton::onnx {

#define BATON_ONNX_OPS(list) const std::vector<Operator>& list();
#include "baton/frontend/onnx/onnx_ops.def"
#undef BATON_ONNX_OPS

namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, const Operator*>& table() {
  static const std::map<Key, const Operator*> all = [] {
    std::map<Key, const Operator*> made;
    for (const std::vector<Operator>* list : {
#define BATON_ONNX_OPS(list) &list(),
#include "baton/frontend/onnx/onnx_ops.def"
#undef BATON_ONNX_OPS
         })
      for (const Operator& each : *list) made[{each.domain, each.name}] = &each;
    return made;
  }();
  return all;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name) {
  const auto at = table().find({domain, name});
  return at == table().end() ? nullptr : at->second;
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const auto& [key, each] : table()) all.push_back(each);
  return all;
}

}  // namespace baton::onnx
