#include "baton/predict/trees.h"

#include <cmath>
#include <cstring>

#include "baton/support/error.h"

namespace baton {

namespace {

constexpr size_t kNodeBytes = 4 + 4 * 4;

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

void Trees::add(std::vector<TreeNode> tree) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  roots_.push_back(first);
  for (TreeNode& node : tree) {
    if (node.feature >= 0) {
      node.left += static_cast<int32_t>(first);
      node.right += static_cast<int32_t>(first);
      node.unknown += static_cast<int32_t>(first);
    }
    nodes_.push_back(node);
  }
}

// Tree by tree: its nodes stay in the nearest cache for all rows.
std::vector<double> Trees::sums(const FeatureRows& rows, size_t most) const {
  std::vector<double> sums(rows.rows());
  for (size_t t = 0; t < std::min(most, roots_.size()); ++t)
    for (size_t i = 0; i < sums.size(); ++i) {
      const float* row = rows.values.data() + i * rows.columns;
      const TreeNode* node = &nodes_[roots_[t]];
      while (node->feature >= 0) {
        const float value = row[node->feature];
        node = &nodes_[std::isnan(value) ? node->unknown : value < node->value ? node->left : node->right];
      }
      sums[i] += node->value;
    }
  return sums;
}

double Trees::sum(std::span<const float> row) const {
  return sums({row.size(), std::vector<float>(row.begin(), row.end())}).front();
}

void Trees::add_uses(std::vector<double>& uses) const {
  // A split at depth d parts 2^-d of the rows, about.
  for (size_t t = 0; t < roots_.size(); ++t) {
    std::vector<std::pair<uint32_t, double>> waiting{{roots_[t], 1.0}};
    while (!waiting.empty()) {
      const auto [at, part] = waiting.back();
      waiting.pop_back();
      const TreeNode& node = nodes_[at];
      if (node.feature < 0) continue;
      uses.at(static_cast<size_t>(node.feature)) += part;
      waiting.emplace_back(node.left, part / 2);
      waiting.emplace_back(node.right, part / 2);
    }
  }
}

void Trees::append_to(std::string& bytes) const {
  append(bytes, static_cast<uint32_t>(roots_.size()));
  append(bytes, static_cast<uint32_t>(nodes_.size()));
  for (const uint32_t root : roots_) append(bytes, root);
  for (const TreeNode& node : nodes_) {
    append(bytes, node.value);
    append(bytes, node.feature);
    append(bytes, node.left);
    append(bytes, node.right);
    append(bytes, node.unknown);
  }
}

Trees Trees::read(const std::string& bytes, size_t& at, size_t columns) {
  Trees trees;
  const auto roots = take<uint32_t>(bytes, at), nodes = take<uint32_t>(bytes, at);
  if ((bytes.size() - at) / kNodeBytes < nodes) throw Error("its trees end early");
  for (uint32_t i = 0; i < roots; ++i) {
    trees.roots_.push_back(take<uint32_t>(bytes, at));
    if (trees.roots_.back() >= nodes) throw Error("a tree of it has no root");
  }
  for (uint32_t i = 0; i < nodes; ++i) {
    TreeNode node;
    node.value = take<float>(bytes, at);
    node.feature = take<int32_t>(bytes, at);
    node.left = take<int32_t>(bytes, at);
    node.right = take<int32_t>(bytes, at);
    node.unknown = take<int32_t>(bytes, at);
    const auto wrong = [&](int32_t to) {
      return to <= static_cast<int32_t>(i) || to >= static_cast<int32_t>(nodes);
    };
    // Children come after their parent, so that every walk ends.
    if (node.feature >= static_cast<int32_t>(columns) ||
        (node.feature >= 0 && (wrong(node.left) || wrong(node.right) || wrong(node.unknown))))
      throw Error("a tree of it has a split that leads nowhere");
    trees.nodes_.push_back(node);
  }
  return trees;
}

}  // namespace baton
