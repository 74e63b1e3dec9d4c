#pragma once
// What a bundle says of itself: manifest.json. See docs/design/0037.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/ndarray.h"
#include "baton/support/base/tensor_rule.h"

namespace baton {

inline constexpr int kBundleFormat = 1;
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kSignatureFile = "manifest.sig";

/// An input of the model: its value is that of the tensor rule (docs/guide.md).
struct BundleInput {
  std::string name;
  Shape shape;
  DType dtype;
  ValueRange range;
  friend bool operator==(const BundleInput& a, const BundleInput& b) {
    return a.name == b.name && a.shape == b.shape && a.dtype == b.dtype && a.range.lo == b.range.lo &&
           a.range.hi == b.range.hi;
  }
};

/// What the reference run found in one output.
struct BundleOutput {
  Shape shape;
  DType dtype;
  int64_t stride = 1;      ///< of the elements that the file of expectations has
  int64_t not_finite = 0;  ///< elements that are infinite or no number
  double mean = 0;         ///< of the magnitudes of all others
  friend bool operator==(const BundleOutput&, const BundleOutput&) = default;
};

/// An element may differ by `relative` of its magnitude plus `absolute` of the largest one.
struct Tolerance {
  double relative = 0, absolute = 0;
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

struct BundleFile {
  int64_t bytes = 0;
  std::string sha256;
  friend bool operator==(const BundleFile&, const BundleFile&) = default;
};

struct BundleManifest {
  std::string baton;      ///< the version that wrote it
  int64_t created_s = 0;  ///< seconds since 1970
  std::string model, target, code_target;
  std::vector<std::string> plugins;  ///< runtime halves of backends that it needs
  int threads = 1;
  std::string artifact;      ///< file
  std::string expectations;  ///< file: sampled elements of the outputs, float64
  std::vector<BundleInput> inputs;
  std::vector<BundleOutput> outputs;
  Tolerance tolerance;
  std::map<std::string, BundleFile> files;  ///< by name

  std::string text() const;  ///< JSON
  /// Throws Error for another format, a file outside the bundle's folder, and whatever else is wrong.
  static BundleManifest parse(std::string_view text);
  friend bool operator==(const BundleManifest&, const BundleManifest&) = default;
};

}  // namespace baton
