#pragma once
// A sum of regression trees. Trained by XGBoost (boosting.h), evaluated here: predicting needs no library.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace baton {

/// Rows of features, one after the other.
struct FeatureRows {
  size_t columns = 0;
  std::vector<float> values;
  size_t rows() const { return columns ? values.size() / columns : 0; }
  std::span<const float> row(size_t i) const { return {values.data() + i * columns, columns}; }
};

struct TreeNode {
  float value = 0;       ///< a leaf's, or what the feature is compared with: less goes left
  int32_t feature = -1;  ///< -1: a leaf
  int32_t left = 0, right = 0, unknown = 0;  ///< node numbers; `unknown`: where NaN goes, one of the two
};

class Trees {
 public:
  /// `tree`: its root first, every node but that the child of one that comes before it. The values of leaves
  /// are rounded to what files keep of them, eight bits.
  void add(const std::vector<TreeNode>& tree);
  size_t count() const { return trees_.size(); }
  /// The sum of the trees from `first` to before `last` for each row.
  std::vector<double> sums(const FeatureRows& rows, size_t first = 0, size_t last = SIZE_MAX) const;
  double sum(std::span<const float> row) const;
  /// Adds the loss reductions of each feature's splits: how often trees ask for it, by rows that it parts.
  void add_uses(std::vector<double>& uses) const;

  /// Little endian, for the predictor's file.
  void append_to(std::string& bytes) const;
  /// Reads what append_to() wrote at `at`, and moves `at`. Throws Error when it is damaged; `columns`:
  /// features that there are.
  static Trees read(const std::string& bytes, size_t& at, size_t columns);

 private:
  /// Siblings are neighbours, and small: a prediction reads all nodes of some thousand trees once.
  struct Node {
    float value = 0;
    uint32_t left = 0;   ///< of a leaf: itself
    uint32_t split = 0;  ///< 0: a leaf; otherwise 1, 2 where NaN goes right, and 4 times the feature
    bool is_leaf() const { return split == 0; }
    size_t feature() const { return split >> 2; }
  };
  struct Tree {
    uint32_t root = 0, depth = 0;
  };
  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
};

}  // namespace baton
