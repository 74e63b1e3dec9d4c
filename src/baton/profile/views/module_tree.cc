#include "baton/profile/views/module_tree.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "baton/profile/views/time_shares.h"

namespace baton {

namespace {

// Names of a path that count: damaged reports may hold any text.
constexpr size_t kMostDepth = 64;

std::string cut(std::string_view path) {
  size_t depth = 0;
  for (size_t at = 0; at < path.size(); ++at)
    if (path[at] == '/' && ++depth == kMostDepth) return std::string(path.substr(0, at));
  return std::string(path);
}

/// The path without its last name.
std::string_view outer_path(std::string_view path) {
  const size_t at = path.rfind('/');
  return at == path.npos ? std::string_view() : path.substr(0, at);
}

bool is_within(std::string_view path, std::string_view outer) {
  return outer.empty() ||
         (path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/'));
}

class TreeMaker {
 public:
  explicit TreeMaker(const ProfileReport& report) : report_(report) {
    rows_.emplace_back();
    of_path_[""] = 0;
    for (const OperatorRow& row : report.operators) {
      const size_t at = row_of(cut(row.module));
      rows_[at].operators.push_back(row.id);
      for (size_t up = at;; up = rows_[up].parent) {
        ++rows_[up].operator_count;
        if (up == 0) break;
      }
    }
  }

  std::vector<ModuleRow> make() {
    for (const KernelRow& kernel : report_.kernels)
      for (const TimeShare& share : time_shares(kernel)) add(share);
    // A row's number is above its parent's.
    for (size_t at = rows_.size(); at-- > 0;) {
      ModuleRow& row = rows_[at];
      row.us += row.own_us + row.rest_us + row.added_us;
      if (at == 0) break;
      rows_[row.parent].us += row.us;
      rows_[row.parent].estimated |= row.estimated;
    }
    mark_alike();
    return std::move(rows_);
  }

 private:
  /// Adds it and those around it.
  size_t row_of(const std::string& path) {
    if (const auto known = of_path_.find(path); known != of_path_.end()) return known->second;
    const std::string_view outer = outer_path(path);
    const size_t parent = row_of(std::string(outer));
    ModuleRow row;
    row.path = path;
    row.name = outer.empty() ? path : path.substr(outer.size() + 1);
    row.parent = parent;
    rows_.push_back(std::move(row));
    const size_t at = rows_.size() - 1;
    rows_[at].first_alike = at;
    rows_[parent].children.push_back(at);
    return of_path_[path] = at;
  }

  void add(const TimeShare& share) {
    ModuleRow& row = rows_[row_of(cut(common_module(report_, share.ids)))];
    (share.by == PortionBy::kRest  ? row.rest_us
     : share.by == PortionBy::kOwn ? row.added_us
                                   : row.own_us) += share.us;
    row.estimated |= share.by == PortionBy::kEqual;
  }

  /// Equal for modules of the same structure.
  std::string structure(size_t at) const {
    std::string text;
    std::vector<size_t> todo = {at};
    while (!todo.empty()) {
      const ModuleRow& row = rows_[todo.back()];
      todo.pop_back();
      text += row.path.substr(rows_[at].path.size()) + '\n';
      for (const uint32_t id : row.operators) {
        const OperatorRow& each = report_.operators[id];
        text += each.op + ' ' + each.brief + ' ' + each.type + '\n';
      }
      todo.insert(todo.end(), row.children.rbegin(), row.children.rend());
    }
    return text;
  }

  void mark_alike() {
    for (size_t parent = 0; parent < rows_.size(); ++parent) {
      std::map<std::string, std::vector<size_t>> groups;
      for (const size_t child : rows_[parent].children) {
        if (rows_[child].operator_count < 2) continue;
        std::string key = rows_[child].name;
        std::erase_if(key, [](unsigned char c) { return std::isdigit(c); });
        groups[key + '\n' + structure(child)].push_back(child);
      }
      for (const auto& [key, members] : groups)
        for (const size_t each : members) {
          rows_[each].alike = members.size();
          rows_[each].first_alike = members.front();
        }
    }
  }

  const ProfileReport& report_;
  std::vector<ModuleRow> rows_;
  std::map<std::string, size_t> of_path_;
};

}  // namespace

std::vector<ModuleRow> module_tree(const ProfileReport& report) { return TreeMaker(report).make(); }

namespace {

/// A module that only B has stands behind all others within what holds it.
std::vector<ModulePair>::iterator place_for(const std::string& path, std::vector<ModulePair>& pairs) {
  const std::string_view outer = outer_path(path);
  const auto last = std::find_if(pairs.rbegin(), pairs.rend(), [&](const ModulePair& each) {
    return outer.empty() || is_within(each.path, outer);
  });
  return last.base();
}

/// In A's order, to which B's modules are added.
void add_pairs(const std::vector<ModuleRow>& tree, size_t at, double ModulePair::* us,
               std::vector<ModulePair>& pairs) {
  const ModuleRow& module = tree[at];
  auto pair = std::ranges::find(pairs, module.path, &ModulePair::path);
  if (pair == pairs.end()) pair = pairs.insert(place_for(module.path, pairs), {module.path});
  *pair.*us = module.us;
  for (const size_t child : module.children) add_pairs(tree, child, us, pairs);
}

}  // namespace

std::vector<ModulePair> module_pairs(const ProfileReport& a, const ProfileReport& b) {
  std::vector<ModulePair> pairs;
  add_pairs(module_tree(a), 0, &ModulePair::a_us, pairs);
  add_pairs(module_tree(b), 0, &ModulePair::b_us, pairs);
  return pairs;
}

bool has_modules(const ProfileReport& report) {
  return std::ranges::any_of(report.operators, [](const OperatorRow& row) { return !row.module.empty(); });
}

std::string common_module(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  if (ids.empty()) return "";
  std::string_view common = report.operators.at(ids.front()).module;
  for (const uint32_t id : ids)
    while (!is_within(report.operators.at(id).module, common)) common = outer_path(common);
  return std::string(common);
}

}  // namespace baton
