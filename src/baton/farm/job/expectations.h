#pragma once
// A model's outputs beside those of the reference run of its bundle.
#include <string>
#include <vector>

#include "baton/farm/job/manifest.h"
#include "baton/runtime/executor.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// Sets all inputs to the bundle's. Throws Error when they are not those of the model.
void set_bundle_inputs(Executor& executor, const std::vector<BundleInput>& inputs);

std::vector<NDArray> outputs_of(const Executor& executor);

/// What is kept of the outputs of a reference run: their summaries, and up to 4096 elements of each.
struct Expectations {
  std::vector<BundleOutput> outputs;
  NamedArrays sampled;  ///< float64, one array per output
};
Expectations expect(const std::vector<NDArray>& outputs);

/// How the outputs differ from the expected ones: "output0[128] is 0.73, expected 0.71 (12 of 4096 elements
/// that were compared)"; empty: they do not.
std::string difference(const std::vector<NDArray>& outputs, const std::vector<BundleOutput>& expected,
                       const NamedArrays& sampled, const Tolerance& tolerance);

}  // namespace baton
