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

/// A function of (first, count, state...) that runs `count` steps from `first` on: one step, or two halves
/// one after the other, so that calls are nested, and outputs joined, only log(count) times.
class StepLoop {
 public:
  StepLoop(const Conversion& c, const Expr& timed, bool backward, const StepRule& step)
      : c_(c), f_(c), backward_(backward), step_(step) {
    length_ = f_.taken(c.call("shape_of", {timed}, {{"dtype", kTime}}), 0, 0);
  }

  TimeStep run(const std::vector<Expr>& state) {
    first_ = parameter("first", tensor_type(std::vector<Dim>{}, kTime));
    count_ = parameter("count", tensor_type(std::vector<Dim>{}, kTime));
    for (const Expr& each : state)
      states_.push_back(parameter("state" + std::to_string(states_.size()), each->checked_type()));
    const Expr one = one_step();
    std::vector<Type> types{result_type_of(one)};
    std::vector<Type> given;
    for (const Var& each : params_) given.push_back(each->annotation());
    const Var itself = var("steps", func_type(given, types.front()));
    itself_ = infer_type(Expr(itself));
    const Expr body = if_else(f_.of("less_equal", count_, number(1)), one, two_halves());
    std::vector<Expr> args{number(0), length_};
    args.insert(args.end(), state.begin(), state.end());
    const Expr all = infer_type(let(itself, Expr(function(params_, body, types.front())),
                                    Expr(call_expr(Expr(itself), std::move(args)))));
    return results_of(all);
  }

 private:
  Expr parameter(const std::string& name, Type type) {
    params_.push_back(var(name, std::move(type)));
    return infer_type(Expr(params_.back()));
  }
  Expr number(double value) const { return c_.scalar(value, kTime); }

  TimeStep results_of(const Expr& all) const {
    TimeStep made{c_.item(all, 0), {}};
    for (size_t i = 0; i < states_.size(); ++i) made.state.push_back(c_.item(all, static_cast<int>(i) + 1));
    return made;
  }

  Expr one_step() const {
    const Expr time = backward_ ? f_.sub(f_.sub(length_, number(1)), first_) : first_;
    TimeStep made = step_(time, states_);
    std::vector<Expr> fields{f_.expanded(made.output, 0)};
    fields.insert(fields.end(), made.state.begin(), made.state.end());
    return infer_type(tuple(std::move(fields)));
  }

  /// That of one step, but of any number of outputs; states keep their types.
  Type result_type_of(const Expr& one) const {
    std::vector<Type> fields = as_type<TupleTypeNode>(one->checked_type())->fields();
    const auto* output = as_type<TensorTypeNode>(fields.front());
    std::vector<Dim> shape = output->shape();
    shape.front() = Dim::any();
    fields.front() = tensor_type(std::move(shape), output->dtype());
    for (size_t i = 0; i < states_.size(); ++i) fields[i + 1] = states_[i]->checked_type();
    return tuple_type(std::move(fields));
  }

  Expr two_halves() const {
    const Expr half = f_.of("right_shift", count_, number(1));
    const TimeStep before = steps(first_, half, states_),
                   after = steps(f_.add(first_, half), f_.sub(count_, half), before.state);
    std::vector<Expr> outputs{before.output, after.output};
    if (backward_) std::ranges::reverse(outputs);
    std::vector<Expr> fields{f_.joined(std::move(outputs), 0)};
    fields.insert(fields.end(), after.state.begin(), after.state.end());
    return infer_type(tuple(std::move(fields)));
  }

  TimeStep steps(const Expr& first, const Expr& count, const std::vector<Expr>& state) const {
    std::vector<Expr> args{first, count};
    args.insert(args.end(), state.begin(), state.end());
    return results_of(infer_type(Expr(call_expr(itself_, std::move(args)))));
  }

  const Conversion& c_;
  const Formulas f_;
  const bool backward_;
  const StepRule& step_;
  std::vector<Var> params_;
  std::vector<Expr> states_;
  Expr first_, count_, length_, itself_;
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
