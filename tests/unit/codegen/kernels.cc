#include "codegen/kernels.h"

#include <HalideRuntime.h>

namespace baton::test {
namespace {

struct Buffer {
  halide_buffer_t raw{};
  std::vector<halide_dimension_t> dims;
};

void describe(Buffer& buffer, NDArray& array) {
  int64_t stride = 1;
  buffer.dims.resize(array.ndim());
  for (int d = 0; d < array.ndim(); ++d) {
    const int64_t extent = array.shape()[array.ndim() - 1 - d];
    buffer.dims[d] = {0, static_cast<int32_t>(extent), static_cast<int32_t>(stride), 0};
    stride *= extent;
  }
  const DType type = array.dtype();
  buffer.raw.host = static_cast<uint8_t*>(array.data());
  buffer.raw.type = halide_type_t(static_cast<halide_type_code_t>(type.code), type.bits, 1);
  buffer.raw.dimensions = array.ndim();
  buffer.raw.dim = buffer.dims.data();
}

}  // namespace

std::vector<NDArray> rule_inputs(const Function& function) {
  std::vector<NDArray> inputs;
  for (const Var& param : function->params())
    for (const TensorTypeNode* type : flat_types(param->annotation()))
      inputs.push_back(tensor_value(param->name(), type->extents(), type->dtype()));
  return inputs;
}

int call_kernel(KernelFunction kernel, std::vector<NDArray> all) {
  std::vector<Buffer> buffers(all.size());
  std::vector<void*> args;
  for (size_t i = 0; i < all.size(); ++i) {
    describe(buffers[i], all[i]);
    args.push_back(&buffers[i].raw);
  }
  return kernel ? kernel(args.data()) : -1;
}

std::vector<NDArray> call_kernel(KernelFunction kernel, const Function& function,
                                 const std::vector<NDArray>& inputs) {
  std::vector<NDArray> outputs, all = inputs;
  for (const TensorTypeNode* type : flat_types(function->body()->checked_type())) {
    outputs.push_back(NDArray::zeros(type->extents(), type->dtype()));
    all.push_back(outputs.back());
  }
  EXPECT_EQ(call_kernel(kernel, all), 0);
  return outputs;
}

}  // namespace baton::test
