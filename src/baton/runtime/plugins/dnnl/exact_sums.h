#pragma once
// Whether an implementation of oneDNN adds products of bytes as integers do. Some saturate pairs of products
// in 16 bits, halve the weights, or pass through float32; which do is not documented, so they are tried.
#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include "baton/runtime/plugins/dnnl/region_blob.h"

namespace baton::dnnl_plugin {

/// One implementation of a convolution or matrix product of bytes with sums in int32.
struct ProductOfBytes {
  const dnnl_blob::Step& step;
  const dnnl_blob::Dims& result;
  dnnl_blob::ElementType data_type;
  dnnl::primitive primitive;
  std::string implementation;
  dnnl::memory::desc data, weights, sums, scratch;  ///< as the primitive wants them
};

/// Runs it on data and weights whose sums are odd and as large as the step's can be (Step::largest): sums
/// that saturate in 16 bits, and those that pass through float32, which has 24, differ then. An
/// implementation is run once per process for each description; thread safe.
bool sums_are_exact(const ProductOfBytes& product);

}  // namespace baton::dnnl_plugin
