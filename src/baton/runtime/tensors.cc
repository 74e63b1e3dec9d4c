#include "baton/runtime/tensors.h"

#include <HalideRuntime.h>

namespace baton {
namespace {

constexpr size_t kVector = 64;
constexpr size_t kPage = 4096;
// Distance between the starts of two tensors modulo the page size: an odd number of cache lines, so that 64
// consecutive tensors have different offsets.
constexpr size_t kColourStep = 13 * kVector;

// Halide kernels take Halide buffers; backends use the equivalent baton_tensor.
static_assert(sizeof(baton_tensor) == sizeof(halide_buffer_t) &&
              sizeof(baton_dimension) == sizeof(halide_dimension_t));
static_assert(offsetof(baton_tensor, memory) == offsetof(halide_buffer_t, device) &&
              offsetof(baton_tensor, host) == offsetof(halide_buffer_t, host) &&
              offsetof(baton_tensor, type) == offsetof(halide_buffer_t, type) &&
              offsetof(baton_tensor, dimensions) == offsetof(halide_buffer_t, dimensions) &&
              offsetof(baton_tensor, dim) == offsetof(halide_buffer_t, dim));

uint8_t type_code(DType dtype) {
  const halide_type_code_t codes[] = {halide_type_int, halide_type_uint, halide_type_float,
                                      halide_type_handle, halide_type_bfloat};
  return static_cast<uint8_t>(codes[static_cast<size_t>(dtype.code)]);
}

}  // namespace

baton_tensor tensor_header(DType dtype, int32_t rank, baton_dimension* dimensions) {
  baton_tensor tensor{};
  tensor.type = {type_code(dtype), dtype.bits, dtype.lanes};
  tensor.dimensions = rank;
  tensor.dim = dimensions;
  return tensor;
}

void set_extents(baton_tensor& tensor, std::span<const int64_t> shape) {
  int64_t stride = 1;
  baton_dimension* next = tensor.dim;  // dim[0] is the innermost
  for (size_t i = shape.size(); i-- > 0;) {
    *next++ = {0, static_cast<int32_t>(shape[i]), static_cast<int32_t>(stride), 0};
    stride *= shape[i];
  }
}

size_t bytes_of(const baton_tensor& tensor) {
  size_t bytes = (size_t{tensor.type.bits} * tensor.type.lanes + 7) / 8;
  for (int32_t i = 0; i < tensor.dimensions; ++i) bytes *= static_cast<size_t>(tensor.dim[i].extent);
  return bytes;
}

size_t ArenaLayout::place(size_t bytes) {
  const size_t wanted = placed_++ * kColourStep % kPage;
  const size_t offset = end_ + (wanted + kPage - end_ % kPage) % kPage;
  end_ = (offset + bytes + kVector - 1) / kVector * kVector;
  return offset;
}

size_t ArenaLayout::end() const { return end_ + kPage; }

}  // namespace baton
