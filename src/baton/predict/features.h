#pragma once
// The numbers that a kernel's time is predicted from. docs/prediction.md lists them.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "baton/predict/kernel_case.h"

namespace baton {

struct FeatureInfo {
  std::string name;  ///< "log2 flops"
  std::string doc;
  bool is_shape = false;  ///< of the operators' shapes alone: what a predictor by shapes (nn-Meter) has
  bool is_near = false;   ///< counts for the distance between kernels
};

/// An ordered list of features: fixed ones, and one for each operator, template and parameter of a schedule
/// that training has seen.
class FeatureSpace {
 public:
  FeatureSpace() = default;
  /// For these kernels. The order of `cases` does not matter.
  explicit FeatureSpace(std::span<const KernelCase* const> cases);
  /// As text() wrote it: with those fixed features that it names, so that predictors of before a feature was
  /// added stay what they are. Throws Error for a list of another version, or with features not known here.
  static FeatureSpace from_text(const std::string& text);
  /// One name per line, the version first.
  std::string text() const;
  /// A hash of the version and all names.
  uint64_t hash() const;

  size_t size() const { return features_.size(); }
  const std::vector<FeatureInfo>& features() const { return features_; }
  /// Writes size() values; NaN: unknown.
  void write(const KernelCase& kernel, float* to) const;
  std::vector<float> values(const KernelCase& kernel) const;
  /// Operators and schedule templates that training has not seen: "operator nn.lrn"; empty: none.
  std::string unseen(const KernelCase& kernel) const;

 private:
  void list();

  std::vector<size_t> fixed_;                                    // of the list in features.cc, ascending
  std::vector<std::string> operators_, templates_, parameters_;  // sorted
  std::vector<FeatureInfo> features_;
};

/// The version of what the fixed features mean: a predictor of another one is refused. A feature that is
/// added changes none of the others.
constexpr int kFeatureVersion = 6;

}  // namespace baton
