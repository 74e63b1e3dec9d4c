// Tensors as kernels take them, and where they lie in a block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "baton/runtime/baton_backend.h"
#include "baton/support/base/dtype.h"

namespace baton {

/// A tensor of `rank` axes, which are described at `dimensions`, without memory.
baton_tensor tensor_header(DType dtype, int32_t rank, baton_dimension* dimensions);

/// Sets the extents of a dense tensor, given in Relay order. They must fit into 31 bits.
void set_extents(baton_tensor& tensor, std::span<const int64_t> shape);

/// The bytes of its elements.
size_t bytes_of(const baton_tensor& tensor);

/// Places tensors one behind the other in one block of memory. Their starts differ modulo the page size,
/// which avoids stalls of loads behind stores at the same page offset of another tensor.
class ArenaLayout {
 public:
  /// The offset of the next tensor.
  size_t place(size_t bytes);
  /// The size of the block.
  size_t end() const;

 private:
  size_t end_ = 0, placed_ = 0;
};

}  // namespace baton
