#pragma once
// A kernel with its arguments: values by the tensor rule, and its extents.
#include <deque>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/inspect.h"
#include "baton/runtime/baton_backend.h"
#include "baton/runtime/kernel_library.h"
#include "baton/support/base/tensor_rule.h"

namespace baton::bars {

class KernelCall {
 public:
  /// `function`: static; what the kernel computes at `extents`.
  KernelCall(KernelFunction kernel, const Function& function, const std::vector<int64_t>& extents)
      : kernel_(kernel), extents_(extents.begin(), extents.end()) {
    for (const Var& param : function->params())
      for (const TensorTypeNode* type : flat_types(type_of(*param)))
        add(tensor_value(param->name(), type->extents(), type->dtype()));
    for (int32_t& extent : extents_) args_.push_back(&extent);
    for (const TensorTypeNode* type : flat_types(type_of(function->body()))) {
      outputs_.push_back(NDArray::zeros(type->extents(), type->dtype()));
      add(outputs_.back());
    }
  }

  void run() { kernel_(args_.data()); }

  /// Whether the outputs are those of the other call, but for the order of sums.
  bool same_outputs(const KernelCall& other) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const auto a = outputs_[i].as<float>(), b = other.outputs_[i].as<float>();
      for (size_t k = 0; k < a.size(); ++k)
        if (!(a[k] - b[k] <= 1e-4f && b[k] - a[k] <= 1e-4f)) return false;
    }
    return true;
  }

 private:
  struct Argument {
    NDArray array;
    baton_tensor tensor{};
    std::vector<baton_dimension> dims;
  };

  void add(const NDArray& array) {
    Argument& argument = arguments_.emplace_back();
    argument.array = array;
    int64_t stride = 1;
    for (int axis = array.ndim(); axis-- > 0; stride *= array.shape()[axis])
      argument.dims.push_back(
          {0, static_cast<int32_t>(array.shape()[axis]), static_cast<int32_t>(stride), 0});
    argument.tensor.host = static_cast<uint8_t*>(argument.array.data());
    argument.tensor.type = {static_cast<uint8_t>(array.dtype().code),
                            static_cast<uint8_t>(array.dtype().bits), 1};
    argument.tensor.dimensions = array.ndim();
    argument.tensor.dim = argument.dims.data();
    args_.push_back(&argument.tensor);
  }

  KernelFunction kernel_;
  std::deque<Argument> arguments_;  // addresses stay
  std::vector<int32_t> extents_;
  std::vector<NDArray> outputs_;
  std::vector<void*> args_;
};

}  // namespace baton::bars
