#pragma once
// Writes bundles: what a runner measures on another machine. See docs/design/0037.
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/farm/job/manifest.h"

namespace baton {

struct BundleOptions {
  std::string model;  ///< its name, for people
  int threads = 1;    ///< of the reference run
  /// Ranges of the inputs, by name; the others have the tensor rule's own range.
  std::vector<std::pair<std::string, ValueRange>> ranges = {};
  /// Outputs to expect. Empty: those of a reference run of this build, which then must run on this machine.
  std::vector<NDArray> reference = {};
  /// nullopt: 1e-3 of the element and 1e-4 of the largest, ten times as much for 16 bits, exact for integers.
  std::optional<Tolerance> tolerance = {};
  std::string secret_key = {};  ///< signs the manifest; empty: not signed
};

/// Writes the folder, which must not exist: it appears when it is complete. Returns the bundle's digest.
/// Throws Error when it cannot be written, or when `result` has code for another machine and no reference is
/// given.
std::string write_bundle(const BuildResult& result, const std::string& folder, const BundleOptions& options);

/// The outputs of a run of `result` here on a bundle's inputs: the reference for the same program built for
/// another machine.
std::vector<NDArray> reference_outputs(const BuildResult& result, const BundleOptions& options);

/// Adds the signature to a bundle that has none, or another one.
void sign_bundle(const std::string& folder, const std::string& secret_key);

}  // namespace baton
