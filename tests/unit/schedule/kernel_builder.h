#pragma once
// Builds kernels for tests and benchmarks of schedules: operators are called on shapes, then the kernel is
// scheduled by a template, compiled by Halide's JIT and run on given inputs.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/codegen/kernel/contraction.h"
#include "baton/ops/register.h"
#include "baton/schedule/template.h"

namespace baton::test {

/// Attributes of operator `op` by name, the others at their defaults.
inline Attrs op_attrs(const std::string& op,
                      const std::vector<std::pair<std::string, AttrValue>>& values = {}) {
  return make_attrs(*find_op(op)->attrs, values);
}

struct Value {
  Tensor tensor;
  int block = -1;  ///< the block that computes it, or -1: an input
  Expr expr;
};

class KernelBuilder {
 public:
  explicit KernelBuilder(std::string name) {
    register_all_ops();
    kernel_.name = std::move(name);
  }

  Value input(const std::vector<int64_t>& shape) {
    Halide::ImageParam image(Halide::Float(32), static_cast<int>(shape.size()),
                             kernel_.name + "_p" + std::to_string(kernel_.inputs.size()));
    lay_out(image, shape);
    kernel_.inputs.push_back(image);
    const Type type = tensor_type(shape, DType::float_(32));
    return {Tensor(static_cast<Halide::Func>(image), shape, DType::float_(32)), -1,
            make_var("p", type, NodeInfo(OriginSet::none(), {}, type))};
  }

  Value call(const std::string& name, const std::vector<Value>& inputs, const Attrs& attrs,
             const std::vector<int64_t>& shape) {
    const OpDef* op = find_op(name);
    BATON_CHECK(op && op->compute, "operator " + name);
    OpBlock block;
    std::vector<Type> types;
    std::vector<Expr> args;
    for (const Value& input : inputs) {
      block.inputs.push_back(input.tensor);
      block.producers.push_back(input.block);
      if (input.block >= 0) ++kernel_.blocks[input.block].consumers;
      types.push_back(tensor_type(input.tensor.shape(), input.tensor.dtype()));
      args.push_back(input.expr);
    }
    const Type type = tensor_type(shape, DType::float_(32));
    block.op = op;
    block.call = make_call(op_expr(*op), args, attrs, NodeInfo(OriginSet::none(), {}, type));
    const int index = static_cast<int>(kernel_.blocks.size());
    std::string prefix = kernel_.name + "_b" + std::to_string(index) + "_" + name;
    std::replace(prefix.begin(), prefix.end(), '.', '_');
    Compute compute(prefix, block.inputs, types, type);
    op->compute(compute, attrs);
    block.stages = compute.stages();
    block.results = compute.results();
    if (op->fuse == Fuse::kOutFusable || op->fuse == Fuse::kCommReduce) kernel_.anchor = index;
    const Expr expr = block.call;
    kernel_.blocks.push_back(std::move(block));
    return {Tensor(kernel_.blocks.back().results.front(), shape, DType::float_(32)), index, expr};
  }

  LoweredKernel finish(const Value& out) {
    ++kernel_.blocks[out.block].consumers;
    Halide::Func func = out.tensor.func();
    const std::vector<Halide::Var> args = func.args();
    const int rank = out.tensor.rank();
    for (int d = 0; d < rank; ++d) func.bound(args[d], 0, static_cast<int>(out.tensor.extent(rank - 1 - d)));
    lay_out(func.output_buffer(), out.tensor.shape());
    kernel_.outputs = {out.tensor};
    return kernel_;
  }

 private:
  template <class Image>
  static void lay_out(Image image, const std::vector<int64_t>& shape) {
    int64_t stride = 1;
    const int rank = static_cast<int>(shape.size());
    for (int d = 0; d < rank; ++d) {
      const int64_t extent = shape[rank - 1 - d];
      image.dim(d).set_bounds(0, static_cast<int>(extent)).set_stride(static_cast<int>(stride));
      stride *= extent;
    }
    image.set_host_alignment(64);
  }

  LoweredKernel kernel_;
};

/// Builds the kernel; called once per schedule, as scheduling changes the Funcs.
using MakeKernel = std::function<LoweredKernel()>;

/// The target that kernels are compiled for, with JIT added.
inline Halide::Target jit_target() {
  return Halide::get_host_target()
      .with_feature(Halide::Target::NoAsserts)
      .with_feature(Halide::Target::NoBoundsQuery)
      .with_feature(Halide::Target::StrictFloat);
}

/// Halide's errors do not derive from std::exception: GoogleTest would not show their message.
template <class F>
auto with_halide_errors(F&& f) {
  try {
    return f();
  } catch (const Halide::Error& error) {
    throw std::runtime_error(error.what());
  }
}

inline Halide::Callable compile(LoweredKernel& kernel,
                                const std::function<void(Halide::Pipeline&)>& prepare = {}) {
  std::vector<Halide::Argument> args(kernel.inputs.begin(), kernel.inputs.end());
  Halide::Pipeline pipeline(kernel.outputs.front().func());
  StreamAheadPass streams(kernel.streams);
  pipeline.add_custom_lowering_pass(&streams, [] {});
  if (prepare) prepare(pipeline);
  const ContractionScope contraction(true);
  return pipeline.compile_to_callable(args, jit_target());
}

inline int64_t elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

inline std::vector<int64_t> input_shape(const Halide::ImageParam& image) {
  std::vector<int64_t> shape;
  for (int d = image.dimensions(); d-- > 0;)
    shape.push_back(Halide::Internal::as_const_int(image.parameter().extent_constraint(d)).value());
  return shape;
}

inline Halide::Runtime::Buffer<float> view(float* data, const std::vector<int64_t>& shape) {
  return Halide::Runtime::Buffer<float>(data, std::vector<int>(shape.rbegin(), shape.rend()));
}

/// Calls the kernel on its inputs, then its output.
inline int call(const Halide::Callable& kernel, std::vector<Halide::Runtime::Buffer<float>>& buffers) {
  std::vector<halide_buffer_t*> raw;
  for (auto& buffer : buffers) raw.push_back(buffer.raw_buffer());
  switch (raw.size()) {
    case 2:
      return kernel(raw[0], raw[1]);
    case 3:
      return kernel(raw[0], raw[1], raw[2]);
    case 4:
      return kernel(raw[0], raw[1], raw[2], raw[3]);
    case 5:
      return kernel(raw[0], raw[1], raw[2], raw[3], raw[4]);
    default:
      return kernel(raw[0], raw[1], raw[2], raw[3], raw[4], raw[5]);
  }
}

}  // namespace baton::test
