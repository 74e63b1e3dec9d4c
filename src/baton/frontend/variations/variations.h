#pragma once
// Random variations of families of networks: programs like those that people run, in other widths, depths,
// image sizes, windows and batches. For measuring what predictors learn from.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/frontend/variations/variation_options.h"
#include "baton/ir/module.h"

namespace baton::variations {

/// A family of networks.
struct Family {
  const char* name;  ///< "resnet"
  const char* doc;
};
const std::vector<Family>& families();  ///< sorted by name
/// Null when there is none.
const Family* find_family(const std::string& name);

/// The variation of that number: the same program on every machine, typed, with the input `data` and the
/// weights as further parameters of main. It takes 0.3 to 60 ms on one core of a processor with 60 GFLOP/s
/// and 10 GB/s. Error for an unknown family, suggesting the nearest.
IRModule variation(const std::string& family, uint64_t seed, const VariationOptions& options = {});

/// What that processor would take for `module`, microseconds.
double estimated_us(const IRModuleNode& module);

}  // namespace baton::variations
