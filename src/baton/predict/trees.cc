#include "baton/predict/trees.h"

#include <algorithm>
#include <cstring>

#include "baton/support/error.h"

namespace baton {

namespace {

constexpr size_t kNodeBytes = 3 * 4;

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

template <class T>
T take(const std::string& bytes, size_t& at) {
  if (bytes.size() - at < sizeof(T)) throw Error("its trees end early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

void Trees::add(const std::vector<TreeNode>& tree) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  struct Place {
    int32_t of;
    uint32_t depth;
  };
  std::vector<Place> order{{0, 0}};  // of the nodes here: level by level
  for (size_t i = 0; i < order.size(); ++i) {
    const TreeNode& from = tree[static_cast<size_t>(order[i].of)];
    const auto number = static_cast<uint32_t>(first + i);
    if (from.feature < 0) {
      nodes_.push_back({from.value, number, 0});
      continue;
    }
    nodes_.push_back(
        {from.value, static_cast<uint32_t>(first + order.size()),
         static_cast<uint32_t>(from.feature) << 2 | (from.unknown == from.right ? 2U : 0U) | 1U});
    for (const int32_t child : {from.left, from.right}) order.push_back({child, order[i].depth + 1});
  }
  trees_.push_back({first, order.back().depth});
}

// Tree by tree: its nodes stay in the nearest cache for all rows. Some rows together, and without branches:
// each step of a row waits for the one before.
std::vector<double> Trees::sums(const FeatureRows& rows, size_t first, size_t last) const {
  constexpr size_t kTogether = 8;
  std::vector<double> sums(rows.rows());
  for (size_t t = first; t < std::min(last, trees_.size()); ++t)
    for (size_t begin = 0; begin < sums.size(); begin += kTogether) {
      const size_t count = std::min(kTogether, sums.size() - begin);
      const float* values = rows.values.data() + begin * rows.columns;
      uint32_t at[kTogether];
      std::fill_n(at, count, trees_[t].root);
      for (uint32_t step = 0; step < trees_[t].depth; ++step)
        for (size_t i = 0; i < count; ++i) {
          const Node& node = nodes_[at[i]];
          const float value = values[i * rows.columns + node.feature()];
          const uint32_t right = static_cast<uint32_t>(value >= node.value) |
                                 (static_cast<uint32_t>(value != value) & node.split >> 1);
          at[i] = node.left + (right & node.split & 1U);
        }
      for (size_t i = 0; i < count; ++i) sums[begin + i] += nodes_[at[i]].value;
    }
  return sums;
}

double Trees::sum(std::span<const float> row) const {
  return sums({row.size(), std::vector<float>(row.begin(), row.end())}).front();
}

void Trees::add_uses(std::vector<double>& uses) const {
  // A split at depth d parts 2^-d of the rows, about.
  for (const Tree& tree : trees_) {
    std::vector<std::pair<uint32_t, double>> waiting{{tree.root, 1.0}};
    while (!waiting.empty()) {
      const auto [at, part] = waiting.back();
      waiting.pop_back();
      const Node& node = nodes_[at];
      if (node.is_leaf()) continue;
      uses.at(node.feature()) += part;
      waiting.emplace_back(node.left, part / 2);
      waiting.emplace_back(node.left + 1, part / 2);
    }
  }
}

void Trees::append_to(std::string& bytes) const {
  append(bytes, static_cast<uint32_t>(trees_.size()));
  for (size_t t = 0; t < trees_.size(); ++t) {
    const uint32_t begin = trees_[t].root;
    const auto end = t + 1 < trees_.size() ? trees_[t + 1].root : static_cast<uint32_t>(nodes_.size());
    append(bytes, end - begin);
    for (uint32_t i = begin; i < end; ++i) {
      const Node& node = nodes_[i];
      append(bytes, node.value);
      append(bytes, node.left - begin);
      append(bytes, node.split);
    }
  }
}

Trees Trees::read(const std::string& bytes, size_t& at, size_t columns) {
  Trees trees;
  const auto count = take<uint32_t>(bytes, at);
  for (uint32_t t = 0; t < count; ++t) {
    const auto nodes = take<uint32_t>(bytes, at);
    if (nodes == 0 || (bytes.size() - at) / kNodeBytes < nodes) throw Error("its trees end early");
    const auto first = static_cast<uint32_t>(trees.nodes_.size());
    std::vector<uint32_t> depths(nodes);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < nodes; ++i) {
      Node node;
      node.value = take<float>(bytes, at);
      const auto left = take<uint32_t>(bytes, at);
      node.split = take<uint32_t>(bytes, at);
      node.left = first + left;
      deepest = std::max(deepest, depths[i]);
      // Children come after their parent, so that every walk ends; a leaf stays where it is.
      const bool right = node.is_leaf()
                             ? left == i
                             : (node.split & 1U) && node.feature() < columns && left > i && left < nodes - 1;
      if (!right) throw Error("a tree of it has a split that leads nowhere");
      if (!node.is_leaf()) depths[left] = depths[left + 1] = depths[i] + 1;
      trees.nodes_.push_back(node);
    }
    trees.trees_.push_back({first, deepest});
  }
  return trees;
}

}  // namespace baton
