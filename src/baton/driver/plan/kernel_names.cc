#include "baton/driver/plan/kernel_names.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/diagnostic.h"

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
  // TVM's names contain std::hash of the C++ library it is built with, which is the one used here.
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

std::string similar_kernels(const std::string& wanted, const std::vector<std::string>& names) {
  constexpr std::string_view kBeginning = "tvmgen_default_";
  const auto bare = [&](const std::string& name) {
    return name.starts_with(kBeginning) ? name.substr(kBeginning.size()) : name;
  };
  const std::set<std::string> distinct = [&] {
    std::set<std::string> all;  // several nodes may share a name
    for (const std::string& name : names) all.insert(bare(name));
    return all;
  }();
  const std::vector<std::string> candidates(distinct.begin(), distinct.end());
  // With or without the common prefix, as in the request.
  const auto shown = [&](const std::string& name) {
    return wanted == bare(wanted) ? name : std::string(kBeginning) + name;
  };
  if (const std::string near = did_you_mean(bare(wanted), candidates); !near.empty())
    return "; did you mean `" + shown(near) + "`?";
  // "nn_dens": a partial last word counts as a whole word.
  const auto words_of = [](const std::string& text) {
    std::set<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, '_');)
      if (!word.empty() && word != "fused" && word != "nn") words.insert(word);
    return words;
  };
  const std::set<std::string> words = words_of(bare(wanted));
  std::map<size_t, std::vector<std::string>, std::greater<>> by_count;
  for (const std::string& candidate : candidates) {
    const std::set<std::string> has = words_of(candidate);
    const auto known = [&](const std::string& word) {
      return std::any_of(has.begin(), has.end(),
                         [&](const std::string& each) { return each.starts_with(word); });
    };
    const auto count = static_cast<size_t>(std::count_if(words.begin(), words.end(), known));
    if (count) by_count[count].push_back(shown(candidate));
  }
  if (by_count.empty()) return "";
  constexpr size_t kMost = 6;
  const std::vector<std::string>& best = by_count.begin()->second;
  std::string text = "; nearest are:";
  for (size_t i = 0; i < best.size() && i < kMost; ++i) text += "\n  " + best[i];
  return best.size() > kMost ? text + "\n  and " + std::to_string(best.size() - kMost) + " more" : text;
}

}  // namespace baton
