#include <algorithm>

#include "baton/frontend/workloads/networks.h"

namespace baton::workloads {

const std::vector<Workload>& all_workloads() {
  static const std::vector<Workload> list = {
#define BATON_WORKLOAD(name, doc, ...) {name, doc, [] { return __VA_ARGS__; }},
#include "baton/frontend/workloads/workloads.def"
#undef BATON_WORKLOAD
  };
  return list;
}

const Workload* find_workload(const std::string& name) {
  auto plain = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
    return text;
  };
  const auto& list = all_workloads();
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const Workload& w) { return plain(w.name) == plain(name); });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace baton::workloads
