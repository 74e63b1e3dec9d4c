#include "baton/profile/foreign/join.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace baton {

namespace {

class Joiner {
 public:
  Joiner(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes)
      : profile_(profile), nodes_(nodes), row_of_(nodes.size(), kNone) {
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].name.empty() && !nodes[i].is_call) by_name_.try_emplace(nodes[i].name, i);
      for (const std::string& each : nodes[i].outputs) by_tensor_.try_emplace(each, i);
    }
    for (uint32_t i = 0; i < profile.rows.size(); ++i) rows_by_name_.try_emplace(profile.rows[i].name, i);
  }

  std::vector<JoinedRow> run() {
    std::vector<std::vector<uint32_t>> anchors;
    for (const EngineRow& row : profile_.rows) anchors.push_back(anchors_of(row));
    // A step that changes a layout makes a tensor of the source again, which another one computes.
    for (const bool changes : {false, true})
      for (uint32_t i = 0; i < anchors.size(); ++i)
        if (changes_layout(profile_.rows[i]) == changes)
          for (const uint32_t node : anchors[i]) claim(node, i);
    std::vector<JoinedRow> joined(anchors.size());
    for (uint32_t i = 0; i < anchors.size(); ++i)
      if (std::ranges::none_of(anchors[i], [&](uint32_t node) { return row_of_[node] == i; }))
        joined[i].made_for = anchors[i].empty() ? neighbours_of(profile_.rows[i], anchors) : anchors[i];
    spread();
    for (uint32_t node = 0; node < nodes_.size(); ++node)
      if (row_of_[node] != kNone) joined[row_of_[node]].nodes.push_back(node);
    return joined;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  static bool changes_layout(const EngineRow& row) { return row.op.starts_with("Reorder"); }

  void claim(uint32_t node, uint32_t row) {
    if (row_of_[node] != kNone || !nodes_[node].is_computed()) return;
    row_of_[node] = row;
    claimed_.push_back(node);
  }

  /// What nobody names was fused into the step that reads it: the nearest one.
  void spread() {
    while (!claimed_.empty()) {
      const uint32_t node = claimed_.front();
      claimed_.pop_front();
      for (const uint32_t input : nodes_[node].inputs) claim(input, row_of_[node]);
    }
  }

  std::vector<uint32_t> anchors_of(const EngineRow& row) const {
    std::set<uint32_t> found;
    for (const std::string& tensor : row.outputs)
      if (const auto at = by_tensor_.find(tensor); at != by_tensor_.end()) found.insert(at->second);
    for (const std::string& member : row.members) add_members(member, found);
    if (found.empty())
      if (const auto node = named(row.name)) found.insert(*node);
    std::erase_if(found, [&](uint32_t node) { return !nodes_[node].is_computed(); });
    return {found.begin(), found.end()};
  }

  /// A name, or several with commas between them, of which names may have some themselves.
  void add_members(std::string_view text, std::set<uint32_t>& found) const {
    while (!text.empty()) {
      size_t end = text.size();
      std::optional<uint32_t> node = exact(text);
      while (!node && (end = text.rfind(',', end - 1)) != std::string_view::npos && end > 0)
        node = exact(text.substr(0, end));
      if (node) {
        found.insert(*node);
      } else {
        end = std::min(text.find(','), text.size());
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::optional<uint32_t> exact(std::string_view name) const {
    for (const auto* names : {&by_name_, &by_tensor_})
      if (const auto at = names->find(std::string(name)); at != names->end()) return at->second;
    return {};
  }

  /// `T_nchwc` makes the tensor T; `N/XFusion/`, `N@0/XFusion` and `N_token_3` were made of N;
  /// `If_0_then_branch__Inline_0__N` was N in a branch.
  std::optional<uint32_t> named(std::string_view name) const {
    constexpr std::string_view kBlocked = "_nchwc", kInline = "__Inline_";
    if (const auto node = exact(name)) return node;
    if (name.ends_with(kBlocked))
      if (const auto node = exact(name.substr(0, name.size() - kBlocked.size()))) return node;
    if (const size_t at = name.rfind(kInline); at != std::string_view::npos)
      if (const size_t end = name.find("__", at + kInline.size()); end != std::string_view::npos)
        if (const auto node = named(name.substr(end + 2))) return node;
    size_t end = name.size();
    while (end > 0) {
      size_t cut = std::string_view::npos;
      for (const std::string_view sign : {"/", "@", "_token_"})
        if (const size_t at = name.rfind(sign, end - 1);
            at != std::string_view::npos && (cut == std::string_view::npos || at > cut))
          cut = at;
      if (cut == std::string_view::npos || cut == 0) return {};
      if (const auto node = exact(name.substr(0, cut))) return node;
      end = cut;
    }
    return {};
  }

  /// A change between two steps: of the tensors that it reads, else of what stands at the ends of its name,
  /// `X_abcd_acdb_Y`.
  std::vector<uint32_t> neighbours_of(const EngineRow& row,
                                      const std::vector<std::vector<uint32_t>>& anchors) const {
    for (const std::string& tensor : row.inputs)
      if (const auto at = by_tensor_.find(tensor); at != by_tensor_.end() && nodes_[at->second].is_computed())
        return {at->second};
    for (const std::string& tensor : row.outputs)
      for (uint32_t i = 0; i < profile_.rows.size(); ++i)
        if (!anchors[i].empty() &&
            std::ranges::find(profile_.rows[i].inputs, tensor) != profile_.rows[i].inputs.end())
          return anchors[i];
    const std::string_view name = row.name;
    const auto found = [&](std::string_view part) -> std::vector<uint32_t> {
      if (const auto node = exact(part)) return {*node};
      if (const auto at = rows_by_name_.find(std::string(part)); at != rows_by_name_.end())
        return anchors[at->second];
      return {};
    };
    for (size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1))
      if (auto of = found(name.substr(at + 1)); !of.empty()) return of;
    for (size_t at = name.rfind('_'); at != std::string_view::npos && at > 0; at = name.rfind('_', at - 1))
      if (auto of = found(name.substr(0, at)); !of.empty()) return of;
    return {};
  }

  const EngineProfile& profile_;
  const std::vector<onnx::SourceNode>& nodes_;
  std::unordered_map<std::string, uint32_t> by_name_, by_tensor_, rows_by_name_;
  std::vector<uint32_t> row_of_;
  std::deque<uint32_t> claimed_;
};

}  // namespace

std::vector<JoinedRow> join(const EngineProfile& profile, const std::vector<onnx::SourceNode>& nodes) {
  return Joiner(profile, nodes).run();
}

}  // namespace baton
