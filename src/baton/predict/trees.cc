#include "baton/predict/trees.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "baton/support/error.h"

namespace baton {

namespace {

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

/// A leaf's value as files keep it: the upper half of the number, which is 0.4 % of it exact. Sums of some
/// hundred leaves are better, since errors of rounding cancel.
float rounded_leaf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000U);
}

/// The lower bytes of all numbers, then the upper ones: each compresses better by itself.
void append_planes(std::string& bytes, const std::vector<uint16_t>& numbers) {
  for (const int shift : {0, 8})
    for (const uint16_t number : numbers) bytes += static_cast<char>(number >> shift & 0xFF);
}

std::vector<uint16_t> take_planes(const std::string& bytes, size_t& at, size_t count) {
  if ((bytes.size() - at) / sizeof(uint16_t) < count) throw Error("its trees end early");
  std::vector<uint16_t> numbers(count);
  for (const int shift : {0, 8})
    for (uint16_t& number : numbers)
      number = static_cast<uint16_t>(number | static_cast<uint8_t>(bytes[at++]) << shift);
  return numbers;
}

uint16_t upper_half(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }
float of_upper_half(uint16_t half) { return std::bit_cast<float>(static_cast<uint32_t>(half) << 16); }

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
      nodes_.push_back({rounded_leaf(from.value), number, 0});
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

// Nodes lie level by level, so that the place of children follows from the nodes before. What they compare
// with is one of few values for each feature, by number: 2 + 2 bytes a node, which compress to half.
void Trees::append_to(std::string& bytes) const {
  std::map<size_t, std::vector<float>> thresholds;  // by feature
  for (const Node& node : nodes_)
    if (!node.is_leaf()) thresholds[node.feature()].push_back(node.value);
  append(bytes, static_cast<uint32_t>(trees_.size()));
  for (size_t t = 0; t < trees_.size(); ++t)
    append(bytes, (t + 1 < trees_.size() ? trees_[t + 1].root : static_cast<uint32_t>(nodes_.size())) -
                      trees_[t].root);
  append(bytes, static_cast<uint32_t>(thresholds.size()));
  for (auto& [feature, values] : thresholds) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    append(bytes, static_cast<uint32_t>(feature));
    append(bytes, static_cast<uint32_t>(values.size()));
    for (const float value : values) append(bytes, value);
  }
  std::vector<uint16_t> codes, leaves, splits;
  for (const Node& node : nodes_) {
    codes.push_back(
        static_cast<uint16_t>(node.is_leaf() ? 0 : 2 * node.feature() + (node.split >> 1 & 1) + 1));
    if (node.is_leaf()) {
      leaves.push_back(upper_half(node.value));
      continue;
    }
    const std::vector<float>& values = thresholds.at(node.feature());
    splits.push_back(static_cast<uint16_t>(std::ranges::lower_bound(values, node.value) - values.begin()));
  }
  for (const auto* each : {&codes, &leaves, &splits}) append_planes(bytes, *each);
}

Trees Trees::read(const std::string& bytes, size_t& at, size_t columns) {
  constexpr const char* kNowhere = "a tree of it has a split that leads nowhere";
  const auto count_of = [&](size_t each) {  // a number of things that are there
    const auto count = take<uint32_t>(bytes, at);
    if ((bytes.size() - at) / each < count) throw Error("its trees end early");
    return count;
  };
  std::vector<uint32_t> sizes(count_of(sizeof(uint32_t)));
  size_t all = 0;
  for (uint32_t& size : sizes) all += size = take<uint32_t>(bytes, at);
  std::map<size_t, std::vector<float>> thresholds;
  for (uint32_t n = count_of(2 * sizeof(uint32_t)); n > 0; --n) {
    std::vector<float>& values = thresholds[take<uint32_t>(bytes, at)];
    values.resize(count_of(sizeof(float)));
    for (float& value : values) value = take<float>(bytes, at);
  }
  const std::vector<uint16_t> codes = take_planes(bytes, at, all);
  const auto leaves = static_cast<size_t>(std::ranges::count(codes, 0));
  const std::vector<uint16_t> values = take_planes(bytes, at, leaves),
                              splits = take_planes(bytes, at, all - leaves);
  auto value_of_leaf = values.begin(), number_of_split = splits.begin();
  Trees trees;
  for (const uint32_t size : sizes) {
    const auto first = static_cast<uint32_t>(trees.nodes_.size());
    std::vector<uint32_t> depths(size);
    uint32_t deepest = 0, next = 1;
    if (size == 0) throw Error("its trees end early");
    for (uint32_t i = 0; i < size; ++i) {
      deepest = std::max(deepest, depths[i]);
      Node node{0, first + i, 0};
      if (const uint32_t code = codes[first + i]; code == 0) {
        node.value = of_upper_half(*value_of_leaf++);
      } else {
        const size_t feature = (code - 1) / 2, number = *number_of_split++;
        const auto of = thresholds.find(feature);
        if (feature >= columns || of == thresholds.end() || number >= of->second.size() || next + 2 > size)
          throw Error(kNowhere);
        node = {of->second[number], first + next,
                static_cast<uint32_t>(feature) << 2 | ((code - 1) & 1) << 1 | 1U};
        depths[next] = depths[next + 1] = depths[i] + 1;
        next += 2;
      }
      trees.nodes_.push_back(node);
    }
    if (next != size) throw Error(kNowhere);
    trees.trees_.push_back({first, deepest});
  }
  return trees;
}

}  // namespace baton
