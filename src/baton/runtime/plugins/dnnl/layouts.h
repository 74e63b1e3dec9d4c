#pragma once
// A blob's extents, strides and types as oneDNN's, on its engine for the processor.
#include <cstdint>
#include <string>
#include <utility>

#include <oneapi/dnnl/dnnl.hpp>

#include "baton/runtime/plugins/dnnl/region_blob.h"

namespace baton::dnnl_plugin {

inline const dnnl::engine& cpu() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);  // never destroyed
  return *engine;
}

inline dnnl::memory::data_type data_type_of(dnnl_blob::ElementType type) {
  switch (type) {
    case dnnl_blob::ElementType::kInt32:
      return dnnl::memory::data_type::s32;
    case dnnl_blob::ElementType::kInt8:
      return dnnl::memory::data_type::s8;
    case dnnl_blob::ElementType::kUint8:
      return dnnl::memory::data_type::u8;
    case dnnl_blob::ElementType::kFloat32:
    case dnnl_blob::ElementType::kCount:
      break;
  }
  return dnnl::memory::data_type::f32;
}

inline dnnl::memory::desc layout_of(const dnnl_blob::Dims& dims, dnnl_blob::Dims strides,
                                    dnnl_blob::ElementType type) {
  // The stride of an axis of one element means nothing; oneDNN compares it.
  for (size_t i = dims.size(); i-- > 0;)
    if (dims[i] == 1) strides[i] = i + 1 < dims.size() ? strides[i + 1] * dims[i + 1] : 1;
  return {dims, data_type_of(type), strides};
}
inline dnnl::memory::desc layout_of(const dnnl_blob::TensorInfo& tensor) {
  return layout_of(tensor.dims, tensor.strides, tensor.type);
}

inline int64_t elements(const dnnl_blob::Dims& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  return count;
}

/// As 1x3x224x224.
inline std::string text_of(const dnnl_blob::Dims& dims) {
  std::string text;
  for (const int64_t extent : dims) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

}  // namespace baton::dnnl_plugin
