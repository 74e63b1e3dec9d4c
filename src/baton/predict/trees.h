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
  int32_t left = 0, right = 0, unknown = 0;  ///< node numbers; `unknown`: where NaN goes
};

class Trees {
 public:
  void add(std::vector<TreeNode> tree);
  size_t count() const { return roots_.size(); }
  /// The sum of the first `most` trees for each row.
  std::vector<double> sums(const FeatureRows& rows, size_t most = SIZE_MAX) const;
  double sum(std::span<const float> row) const;
  /// Adds the loss reductions of each feature's splits: how often trees ask for it, by rows that it parts.
  void add_uses(std::vector<double>& uses) const;

  /// Little endian, for the predictor's file.
  void append_to(std::string& bytes) const;
  /// Reads what append_to() wrote at `at`, and moves `at`. Throws Error when it is damaged; `columns`:
  /// features that there are.
  static Trees read(const std::string& bytes, size_t& at, size_t columns);

 private:
  std::vector<TreeNode> nodes_;
  std::vector<uint32_t> roots_;
};

}  // namespace baton
