#include "baton/ops/run_compute.h"

#include <algorithm>
#include <cstring>

#include "baton/support/error.h"

namespace baton {

bool is_empty(const std::vector<int64_t>& shape) { return std::ranges::find(shape, 0) != shape.end(); }
bool is_empty(const std::vector<Dim>& dims) { return std::ranges::find(dims, Dim(0)) != dims.end(); }

namespace {

[[noreturn]] void refuse(const OpDef& op, const Compute& compute, std::string reason) {
  std::string operands;
  for (int i = 0; i < compute.num_inputs(); ++i) {
    const Tensor& in = compute.in(i);
    operands += (i ? ", " : "") + (in.is_static() ? describe(in.shape(), in.dtype())
                                                  : type_text(tensor_type(in.dims(), in.dtype())));
  }
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  throw NotSupported("operator " + op.name + " cannot be computed for operands " + operands + ": " + reason);
}

constexpr int kMostAxes = 32;  // Halide's compile time grows faster than their number: 29 axes take seconds

void refuse_many_axes(const OpDef& op, const Compute& compute) {
  int most = 0;
  for (int i = 0; i < compute.num_inputs(); ++i) most = std::max(most, compute.in(i).rank());
  for (int k = 0; k < compute.num_outputs(); ++k) most = std::max(most, compute.out(k).rank());
  if (most > kMostAxes)
    throw NotSupported("operator " + op.name + " cannot be computed for tensors of " + std::to_string(most) +
                       " axes: at most " + std::to_string(kMostAxes) + "; reshape them first");
}

// The compute on zeros; of operands without elements, Halide infers what the results read.
void refuse_reads_of_empty(const OpDef& op, const Compute& compute, const Attrs& attrs) {
  std::vector<Halide::ImageParam> read;
  std::vector<Tensor> inputs;
  for (int i = 0; i < compute.num_inputs(); ++i) {
    const Tensor& in = compute.in(i);
    read.emplace_back(halide_type(in.dtype()), in.rank());
    if (!is_empty(in.shape())) {  // bounds may depend on values
      Halide::Buffer<> zeros(halide_type(in.dtype()),
                             std::vector<int>(in.shape().rbegin(), in.shape().rend()));
      std::memset(zeros.data(), 0, zeros.size_in_bytes());
      read.back().set(zeros);
    }
    inputs.emplace_back(Halide::Func(read.back()), in.shape(), in.dtype());
  }
  Compute inferred("inferred", inputs, compute.input_types(), compute.result_type());
  op.compute(inferred, attrs);
  for (const Stage& stage : inferred.stages()) Halide::Func(stage.func).compute_root();
  for (size_t k = 0; k < inferred.results().size(); ++k) {
    const std::vector<int64_t> shape = inferred.out(static_cast<int>(k)).extents();
    if (is_empty(shape)) continue;
    Halide::Func(inferred.results()[k])
        .infer_input_bounds(std::vector<int32_t>(shape.rbegin(), shape.rend()));
    for (size_t i = 0; i < read.size(); ++i) {
      if (!is_empty(inputs[i].shape())) continue;
      const Halide::Buffer<> needed = read[i].get();
      if (needed.defined() && needed.number_of_elements() > 0)
        refuse(op, compute, "operand " + std::to_string(i) + " has no elements, and the result needs some");
    }
  }
}

/// With symbolic extents it is not known what is read: zeros are, then.
bool reads_of_empty_are_possible(const Compute& compute) {
  bool operand = false, result = false;
  for (int i = 0; i < compute.num_inputs(); ++i)
    if (!compute.in(i).is_static()) return false;
  for (int i = 0; i < compute.num_inputs(); ++i) operand |= is_empty(compute.in(i).dims());
  for (int k = 0; operand && k < compute.num_outputs(); ++k) result |= !is_empty(compute.out(k).shape());
  return operand && result;
}

}  // namespace

void run_compute(const OpDef& op, Compute& compute, const Attrs& attrs) {
  refuse_many_axes(op, compute);
  try {
    op.compute(compute, attrs);
    if (reads_of_empty_are_possible(compute)) refuse_reads_of_empty(op, compute, attrs);
  } catch (const Halide::Error& error) {
    // Halide checks expressions as they are made: these errors are about operands, those of schedules come
    // later.
    refuse(op, compute, error.what());
  } catch (const NeedsNumbers& error) {
    throw NeedsNumbers(op.name + " needs " + error.what());
  } catch (const MissingAxis& error) {
    refuse(op, compute, error.what());
  } catch (const WideNumber& error) {
    refuse(op, compute, error.what());
  }
}

}  // namespace baton
