#pragma once
// A function as oneDNN primitives: what lowering makes, and blobs hold.
#include <vector>

#include "baton/ir/expr.h"
#include "baton/runtime/plugins/dnnl/region_blob.h"

namespace baton {

/// The primitives of one function, and the constants they read.
struct DnnlRegion {
  dnnl_blob::Region region;
  std::vector<NDArray> constants;  ///< of the constant tensors, in their order
  /// By step: the operators that it computes; for a copy of a result, those that it is for.
  std::vector<OriginSet> origins;
};

}  // namespace baton
