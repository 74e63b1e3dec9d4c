#include "codegen/kernels.h"

#include <deque>

#include "baton/runtime/tensors.h"

namespace baton::test {

KernelArgument::KernelArgument(NDArray given) : array(std::move(given)), dimensions(array.shape().size()) {
  tensor = tensor_header(array.dtype(), array.ndim(), dimensions.data());
  set_extents(tensor, array.shape());
  tensor.host = static_cast<uint8_t*>(array.data());
}

std::vector<NDArray> rule_inputs(const Function& function) {
  std::vector<NDArray> inputs;
  for (const Var& param : function->params())
    for (const TensorTypeNode* type : flat_types(param->annotation()))
      inputs.push_back(tensor_value(param->name(), type->extents(), type->dtype()));
  return inputs;
}

int call_kernel(KernelFunction kernel, std::vector<NDArray> all) {
  std::deque<KernelArgument> arguments(all.begin(), all.end());
  std::vector<void*> args;
  for (KernelArgument& each : arguments) args.push_back(&each.tensor);
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
