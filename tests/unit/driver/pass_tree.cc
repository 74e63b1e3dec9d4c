#include "driver/pass_tree.h"

#include <algorithm>

#include "baton/support/json.h"

namespace baton {

namespace {

bool of_code_generator(const std::string& name) {
  return name.starts_with("tir.") || name == "LowerTE" || name == "LowerTensorExpr" ||
         name.ends_with("TargetHook");
}

// Behind the subtree that begins at `at`.
size_t end_of(const PassTree& tree, size_t at) {
  size_t end = at + 1;
  while (end < tree.size() && tree[end].first > tree[at].first) ++end;
  return end;
}

}  // namespace

std::string pass_tree_text(const PassTree& tree) {
  PassTree kept;
  for (size_t at = 0; at < tree.size();) {
    if (of_code_generator(tree[at].second))
      at = end_of(tree, at);
    else
      kept.push_back(tree[at++]);
  }
  for (size_t at = kept.size(); at-- > 0;)
    if (kept[at].second == "sequential" && end_of(kept, at) == at + 1)
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(at));
  std::string text;
  for (const auto& [depth, name] : kept)
    text += std::string(static_cast<size_t>(depth) * 2, ' ') + name + "\n";
  return text;
}

PassTree reference_pass_tree(const Json& golden) {
  PassTree tree;
  for (const auto& entry : golden["pass_tree"])
    tree.emplace_back(entry[0].get<int>(), entry[1].get<std::string>());
  return tree;
}

PassTree before_kernels(PassTree tree) {
  size_t end = 0;
  for (size_t at = 0; at < tree.size() && !of_code_generator(tree[at].second); ++at)
    if (tree[at] == std::pair<int, std::string>(0, "sequential")) end = at;
  tree.resize(end);
  return tree;
}

}  // namespace baton
