#include "baton/ops/run_compute.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

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

/// Replaces, in positions that are read, what some Funcs are there by zeros.
class ZerosOf final : public Halide::Internal::IRMutator {
 public:
  explicit ZerosOf(const std::set<std::string>& funcs) : funcs_(funcs) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* call) override {
    const bool read =
        call->call_type == Halide::Internal::Call::Halide || call->call_type == Halide::Internal::Call::Image;
    if (reads_ > 0 && funcs_.contains(call->name)) return Halide::Internal::make_zero(call->type);
    reads_ += read;
    const Halide::Expr made = IRMutator::visit(call);
    reads_ -= read;
    return made;
  }
  const std::set<std::string>& funcs_;
  int reads_ = 0;
};

using Boxes = std::map<std::string, Halide::Internal::Box>;

/// Adds what the values of `func` read where `box` of it is needed.
void add_reads(const Halide::Func& func, const Halide::Internal::Box& box, ZerosOf& zeros, Boxes& boxes) {
  using namespace Halide::Internal;
  for (int update = -1; update < func.num_update_definitions(); ++update) {
    Scope<Interval> scope;
    std::vector<Halide::Expr> read;
    const auto& function = func.function();
    const Definition& definition = update < 0 ? function.definition() : function.update(update);
    for (size_t axis = 0; axis < box.size(); ++axis) scope.push(func.args()[axis].name(), box[axis]);
    for (const ReductionVariable& r : definition.schedule().rvars())
      scope.push(r.var, Interval(r.min, simplify(r.min + r.extent - 1)));
    read = definition.values();
    if (update >= 0) read.insert(read.end(), definition.args().begin(), definition.args().end());
    for (const Halide::Expr& each : read)
      for (auto& [name, more] : boxes_required(zeros.mutate(each), scope)) {
        if (more.used.defined() && is_const_zero(simplify(more.used))) continue;
        const auto [at, fresh] = boxes.emplace(name, more);
        if (!fresh) merge_boxes(at->second, more);
      }
  }
}

/// Whether a box has elements; one without known bounds does.
bool has_elements(const Halide::Internal::Box& box) {
  for (const Halide::Internal::Interval& each : box.bounds)
    if (each.is_bounded() && Halide::Internal::can_prove(each.max < each.min)) return false;
  return true;
}

// The compute on zeros; of operands without elements, it is inferred what the results read.
void refuse_reads_of_empty(const OpDef& op, const Compute& compute, const Attrs& attrs) {
  std::set<std::string> known;
  std::vector<Tensor> inputs;
  for (int i = 0; i < compute.num_inputs(); ++i) {
    const Tensor& in = compute.in(i);
    const Halide::ImageParam image(halide_type(in.dtype()), in.rank());
    if (!is_empty(in.shape())) known.insert(image.name());
    inputs.emplace_back(Halide::Func(image), in.shape(), in.dtype());
    if (!is_empty(in.shape())) known.insert(inputs.back().func().name());
  }
  Compute inferred("inferred", inputs, compute.input_types(), compute.result_type());
  op.compute(inferred, attrs);
  ZerosOf zeros(known);
  for (size_t k = 0; k < inferred.results().size(); ++k) {
    const std::vector<int64_t> shape = inferred.out(static_cast<int>(k)).extents();
    if (is_empty(shape)) continue;
    Halide::Internal::Box all;
    for (size_t axis = shape.size(); axis-- > 0;)
      all.push_back(Halide::Internal::Interval(0, static_cast<int>(shape[axis]) - 1));
    const Halide::Func& result = inferred.results()[k];
    const auto functions = Halide::Internal::find_transitive_calls(result.function());
    Boxes boxes{{result.name(), std::move(all)}};
    // Users first.
    std::vector<std::string> order = Halide::Internal::topological_order({result.function()}, functions);
    for (const std::string& name : order | std::views::reverse)
      if (const auto box = boxes.find(name); box != boxes.end() && has_elements(box->second))
        add_reads(Halide::Func(functions.at(name)), Halide::Internal::Box(box->second), zeros, boxes);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto box = boxes.find(inputs[i].func().name());
      if (is_empty(inputs[i].shape()) && box != boxes.end() && has_elements(box->second))
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
