#include "baton/frontend/onnx/ops/time_loop.h"

#include <algorithm>

#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

constexpr DType kTime = DType::int_(32);

TimeStep unrolled(const Conversion& c, int64_t length, bool backward, std::vector<Expr> state,
                  const StepRule& step) {
  const Formulas f(c);
  std::vector<Expr> outputs;
  for (int64_t i = 0; i < length; ++i) {
    TimeStep made = step(c.scalar(static_cast<double>(backward ? length - 1 - i : i), kTime), state);
    outputs.push_back(f.expanded(made.output, 0));
    state = std::move(made.state);
  }
  if (backward) std::ranges::reverse(outputs);
  return {f.joined(std::move(outputs), 0), std::move(state)};
}

/// So many steps follow each other before the loop looks whether it ends.
constexpr int64_t kTogether = 8;

/// A function of (first, outputs, state...) that runs the steps from `first` on, and calls itself last: an
/// iteration is kTogether steps, or one of the last ones. Outputs are collected in the order of the steps.
class StepLoop {
 public:
  StepLoop(const Conversion& c, const Expr& timed, bool backward, const StepRule& step)
      : c_(c), f_(c), backward_(backward), step_(step) {
    length_var_ = var("length", tensor_type(std::vector<Dim>{}, kTime));
    length_ = infer_type(Expr(length_var_));
    given_length_ = f_.taken(c.call("shape_of", {timed}, {{"dtype", kTime}}), 0, 0);
  }

  TimeStep run(const std::vector<Expr>& state) {
    first_ = parameter("first", tensor_type(std::vector<Dim>{}, kTime));
    params_.emplace_back();  // the outputs, whose type the first step tells
    for (const Expr& each : state)
      states_.push_back(parameter("state" + std::to_string(states_.size()), each->checked_type()));
    const Expr output = step_(time_of(first_), states_).output;
    params_[1] = var("outputs", collected_type(output));
    outputs_ = infer_type(Expr(params_[1]));
    std::vector<Type> types, results{params_[1]->annotation()};
    for (const Var& each : params_) types.push_back(each->annotation());
    for (const Expr& each : states_) results.push_back(each->checked_type());
    const Type result = tuple_type(std::move(results));
    const Var itself = var("steps", func_type(types, result));
    itself_ = infer_type(Expr(itself));
    std::vector<Expr> last{outputs_};
    last.insert(last.end(), states_.begin(), states_.end());
    const Expr left = f_.sub(length_, first_);
    const Expr next = if_else(f_.of("greater_equal", left, number(kTogether)), steps(kTogether), steps(1));
    const Expr body =
        if_else(f_.of("less", first_, length_), infer_type(next), infer_type(tuple(std::move(last))));
    std::vector<Expr> args{number(0), nothing_of(output, state)};
    args.insert(args.end(), state.begin(), state.end());
    const Expr call =
        let(itself, Expr(function(params_, body, result)), Expr(call_expr(Expr(itself), std::move(args))));
    const Expr all = infer_type(let(length_var_, given_length_, call));
    TimeStep made{c_.item(all, 0), {}};
    if (backward_) made.output = c_.call("reverse", {made.output}, {{"axis", int64_t{0}}});
    for (size_t i = 0; i < states_.size(); ++i) made.state.push_back(c_.item(all, static_cast<int>(i) + 1));
    return made;
  }

 private:
  Expr parameter(const std::string& name, Type type) {
    params_.push_back(var(name, std::move(type)));
    return infer_type(Expr(params_.back()));
  }
  Expr number(int64_t value) const { return c_.scalar(static_cast<double>(value), kTime); }

  Expr time_of(const Expr& step) const { return backward_ ? f_.sub(f_.sub(length_, number(1)), step) : step; }

  /// `count` steps, and the call for those that are left.
  Expr steps(int64_t count) const {
    std::vector<Expr> rows, state = states_;
    // Each number from the one before: as `first + i` they would be parts of different kernels.
    Expr next = first_;
    for (int64_t i = 0; i < count; ++i) {
      TimeStep made = step_(time_of(next), state);
      rows.push_back(f_.expanded(made.output, 0));
      state = std::move(made.state);
      next = f_.add(next, number(1));
    }
    std::vector<Expr> args{next, f_.joined({outputs_, f_.joined(std::move(rows), 0)}, 0)};
    args.insert(args.end(), state.begin(), state.end());
    return infer_type(Expr(call_expr(itself_, std::move(args))));
  }

  static Type collected_type(const Expr& output) {
    const auto* row = as_type<TensorTypeNode>(output->checked_type());
    std::vector<Dim> shape = row->shape();
    shape.insert(shape.begin(), Dim::any());
    return tensor_type(std::move(shape), row->dtype());
  }

  /// No outputs yet, of the extents that they have: of a state of their type, else of those of the first
  /// step.
  Expr nothing_of(const Expr& output, const std::vector<Expr>& state) const {
    const auto* row = as_type<TensorTypeNode>(output->checked_type());
    if (row->is_static()) {
      std::vector<int64_t> shape = row->extents();
      shape.insert(shape.begin(), 0);
      return c_.constant(NDArray::zeros(shape, row->dtype()));
    }
    for (const Expr& each : state)
      if (same_type(each->checked_type(), output->checked_type()))
        return f_.sliced(f_.expanded(each, 0), 0, 0, 0);
    return f_.sliced(f_.expanded(step_(number(0), state).output, 0), 0, 0, 0);
  }

  const Conversion& c_;
  const Formulas f_;
  const bool backward_;
  const StepRule& step_;
  std::vector<Var> params_;
  std::vector<Expr> states_;
  Var length_var_;
  Expr first_, outputs_, length_, given_length_, itself_;
};

}  // namespace

TimeStep over_time(const Conversion& c, const Expr& timed, bool backward, std::vector<Expr> state,
                   const StepRule& step) {
  const Dim length = tensor_type(timed).shape().front();
  if (!length.is_any() && length.value() <= kMostUnrolled)
    return unrolled(c, length.value(), backward, std::move(state), step);
  return StepLoop(c, timed, backward, step).run(state);
}

}  // namespace baton::onnx
