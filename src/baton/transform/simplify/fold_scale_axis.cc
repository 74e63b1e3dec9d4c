// A factor per channel (what batch_norm leaves) moves into the weights of a convolution or dense layer, where
// FoldConstant makes it vanish. How factors pass operators is the operators' knowledge
// (ir/rules/scale_rule.h).
//   backward:  conv(x, w) * s                ->  conv(x, w * s)         through add, relu, ... in between
//   forward:   conv(relu(x * s + b), w)      ->  conv(relu(x + b / s), w * s)
// The multiply's origins go where its factor goes: the nodes made here stand for the multiply, the others
// keep theirs.
#include <algorithm>
#include <cmath>

#include "baton/ir/build.h"
#include "baton/ir/rules/scale_rule.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/fold_constant.h"

namespace baton {

namespace {

/// A multiply that goes away: multiply(args[kept], args[1 - kept]) where the other argument is a vector along
/// `axis`, or in a blocked layout a matrix along `axis` and `block`.
struct Factor {
  Expr multiply;  ///< as it was
  int kept = 0;
  int axis = 0;  ///< of the multiply's result
  int block = -1;
};

template <class Holds>
bool all_values(const NDArray& value, Holds&& holds) {
  if (!value.dtype().is_float() || (value.dtype().bits != 32 && value.dtype().bits != 64)) return false;
  for (int64_t i = 0; i < value.size(); ++i)
    if (!holds(value.dtype().bits == 32 ? value.as<float>()[i] : value.as<double>()[i])) return false;
  return true;
}

/// Whether sums of products by `weights`, times `factor`, are sums of products by weights times the factor up
/// to rounding: no sum overflows that did not, none becomes NaN. Weights that are not known are taken for
/// numbers of the size that weights have. `largest`: the absolute value of the largest known one.
bool is_moderate(const NDArray& factor, double largest) {
  // 2^-64 to 2^64, or 0: the square root of the range of float32.
  constexpr double kLeast = 0x1p-64, kMost = 0x1p64;
  return all_values(factor, [&](double value) {
    const double size = std::fabs(value);
    return size == 0 || (size >= kLeast && size <= kMost &&
                         size * largest <= static_cast<double>(std::numeric_limits<float>::max()));
  });
}

/// Whether `expr` is known to be positive everywhere: a constant, perhaps under operators that move no data.
bool is_positive(const Expr& expr) {
  const Expr* at = &expr;
  while (const auto* call = as<CallNode>(*at)) {
    if (!call->op() || call->args().size() != 1 || !(call->op()->reshape_only || is_call(*at, "transpose")))
      return false;
    at = &call->args()[0];
  }
  const auto* constant = as<ConstantNode>(*at);
  return constant && all_values(constant->value(), [](double value) { return value > 0; });
}

/// The value of `expr` where it is known at compile time.
std::optional<NDArray> known_value(const Expr& expr, const BuildContext& context) {
  if (!free_vars(expr).empty()) return std::nullopt;
  const RetireLog ignored;  // nothing goes away: this is only a look at the value
  const Expr folded = fold_constants(expr, context);
  const auto* constant = as<ConstantNode>(folded);
  return constant ? std::optional(constant->value()) : std::nullopt;
}

/// Whether `expr` is known at compile time and nowhere zero.
bool is_nonzero(const Expr& expr, const BuildContext& context) {
  const std::optional<NDArray> value = known_value(expr, context);
  return value && all_values(*value, [](double each) { return each != 0 && std::isfinite(each); });
}

/// The absolute value of the largest number of a constant; 0 of what is none, or no float.
double largest_of(const Expr& expr) {
  const auto* constant = as<ConstantNode>(expr);
  double largest = 0;
  if (constant)
    all_values(constant->value(), [&](double value) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
      return true;
    });
  return largest;
}

/// What a factor would multiply: the arguments of layers that it goes into.
struct Multiplied {
  int64_t constant = 0;  ///< elements that are the same in every run
  double largest = 0;    ///< absolute value of the largest of them that is known

  Multiplied& operator+=(const Multiplied& other) {
    constant += other.constant;
    largest = std::max(largest, other.largest);
    return *this;
  }
};

const ScaleRule* rule_of(const ExprNode& node) {
  const auto* call = as<CallNode>(&node);
  return call && call->op() ? call->op()->rules.get<ScaleRule>() : nullptr;
}

/// Which argument of `multiply` is a vector along `takes.axis`, or a scalar, and may move away from the
/// other.
std::optional<Factor> factor_of(const Expr& expr, int kept, const ScaleAxis& takes,
                                const BuildContext& context) {
  const auto* multiply = as<CallNode>(expr);
  const Expr& factor = multiply->args()[1 - kept];
  const TensorTypeNode *full = tensor_type_of(expr), *data = tensor_type_of(multiply->args()[kept]);
  const TensorTypeNode* vector = tensor_type_of(factor);
  if (!full || !data || !vector || data->shape() != full->shape()) return std::nullopt;
  // One factor for all channels is a vector of equal ones, where it is known how many.
  const bool fits = vector->rank() == 0
                        ? takes.block < 0 && !full->shape().at(static_cast<size_t>(takes.axis)).is_any()
                        : vector_axis(*vector, *full, takes.axis, takes.block).has_value();
  if (!fits) return std::nullopt;
  if (takes.need_positive && !is_positive(factor)) return std::nullopt;
  if (takes.need_nonzero && !takes.need_positive && !is_nonzero(factor, context)) return std::nullopt;
  return Factor{expr, kept, takes.axis, takes.block};
}

/// 0: not known.
int64_t elements_of(const Expr& expr) {
  const TensorTypeNode* type = tensor_type_of(expr);
  if (!type) return 0;
  int64_t count = 1;
  for (const Dim& dim : type->shape()) count *= dim.is_any() ? 0 : dim.value();
  return count;
}

/// What both directions share: vectors made of factors, inputs multiplied or divided by them, and when that
/// does not pay: a factor that is computed in every run, on a weight that is not, is a multiplication of the
/// whole weight in every run (and its packing), where the one that goes away may be smaller.
class ScaleRewriter : public Rewriter {
 protected:
  /// To be called for every node, arguments first.
  void learn(const Expr& node) {
    bool varies = !as<ConstantNode>(node);
    if (const auto* call = as<CallNode>(node); call && call->op())
      varies = std::any_of(call->args().begin(), call->args().end(),
                           [&](const Expr& arg) { return varies_of(arg); });
    varies_[node.get()] = varies;
  }

  /// How the arguments that `plan` multiplies or divides are scaled.
  Multiplied multiplied_by(const ScalePlan& plan, const CallNode& call, bool exact_floats) const {
    Multiplied all;
    for (size_t i = 0; i < call.args().size(); ++i) {
      const auto what = plan.inputs[i].what;
      const bool ends = what == ScaleStep::What::kMultiply || what == ScaleStep::What::kDivide;
      if (!ends || varies_of(call.args()[i])) continue;
      all += {elements_of(call.args()[i]), exact_floats ? largest_of(call.args()[i]) : 0};
    }
    return all;
  }

  /// Whether the factor should go to where it multiplies `by`. In a build it must be known and of a size that
  /// makes no difference but of rounding.
  bool goes(const Factor& factor, const Multiplied& by, const BuildContext& context) const {
    const Expr& value = as<CallNode>(factor.multiply)->args()[1 - factor.kept];
    if (!context.exact_floats) return !varies_of(value) || by.constant <= elements_of(factor.multiply);
    const std::optional<NDArray> known = known_value(value, context);
    return known && is_moderate(*known, by.largest);
  }

  /// The factor as a vector; made once for each multiply, and stands for it. `value`: the factor as
  /// rewritten.
  Expr vector(const Factor& factor, const Expr& value) {
    Expr& made = vectors_[factor.multiply.get()];
    if (made) return made;
    const TensorTypeNode& type = *tensor_type_of(as<CallNode>(factor.multiply)->args()[1 - factor.kept]);
    if (type.rank() == 0) {
      const int64_t channels =
          tensor_type_of(factor.multiply)->shape().at(static_cast<size_t>(factor.axis)).value();
      return made = call_op("repeat", {call_op("expand_dims", {value}, {{"axis", 0}})},
                            {{"repeats", channels}, {"axis", 0}});
    }
    const int shift = tensor_type_of(factor.multiply)->rank() - type.rank();
    std::vector<int64_t> others;
    for (int i = 0; i < type.rank(); ++i)
      if (i + shift != factor.axis && i + shift != factor.block) others.push_back(i);
    return made = others.empty() ? value : call_op("squeeze", {value}, {{"axis", others}});
  }

  /// `call` with its arguments changed as the plan says; it keeps its own origins.
  Expr apply(const ScalePlan& plan, const CallNode& original, const CallNode& call, const Factor& factor,
             const Expr& value) {
    std::vector<Expr> args = call.args();
    const OriginScope scope(factor.multiply->origins());
    for (size_t i = 0; i < args.size(); ++i) {
      const ScaleStep& step = plan.inputs[i];
      if (step.what != ScaleStep::What::kMultiply && step.what != ScaleStep::What::kDivide) continue;
      const int rank = tensor_type_of(original.args()[i])->rank();
      const Expr factor_here = step.block < 0 ? expand_to_axis(vector(factor, value), rank, step.axis)
                                              : blocked(factor, vector(factor, value), rank, step);
      args[i] =
          call_op(step.what == ScaleStep::What::kMultiply ? "multiply" : "divide", {args[i], factor_here});
    }
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type(original.checked_type()));
  }

 private:
  bool varies_of(const Expr& expr) const {
    const bool* varies = varies_.find(expr.get());
    return !varies || *varies;
  }

  /// The matrix of a factor in a blocked layout, in the shape of an input of rank `rank`.
  static Expr blocked(const Factor& factor, const Expr& matrix, int rank, const ScaleStep& step) {
    const std::vector<Dim>& full = tensor_type_of(factor.multiply)->shape();
    std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
    shape.at(static_cast<size_t>(step.axis)) = full.at(static_cast<size_t>(factor.axis)).value();
    shape.at(static_cast<size_t>(step.block)) = full.at(static_cast<size_t>(factor.block)).value();
    return call_op("reshape", {matrix}, {{"newshape", shape}});
  }

  PointerMap<Expr> vectors_;
  PointerMap<bool> varies_;  // between runs
};

class BackwardFolder final : public ScaleRewriter {
 public:
  Expr fold(const Expr& root, const BuildContext& context) {
    find(root, context);
    decide(context);
    // Factors first, so that they are there when the nodes that take them are rewritten. In post-order: no
    // factor needs one that comes later.
    for (const Expr& node : order_)
      if (const Factor* factor = gone_.find(node.get())) run(as<CallNode>(node)->args()[1 - factor->kept]);
    return run(root);
  }

 private:
  // What each node can take. Only a node with a single user: others would see the factor too.
  void find(const Expr& root, const BuildContext& context) {
    PointerMap<int> uses;
    post_order(
        root,
        [&](const Expr& node) {
          order_.push_back(node);
          learn(node);
          for_each_child(*node, [&](const Expr& child) { ++uses[child.get()]; });
        },
        [this](const Expr& node) { return enter(node); });
    for (const Expr& node : order_) {
      const ScaleRule* rule = uses[node.get()] == 1 ? rule_of(*node) : nullptr;
      if (!rule || !rule->backward || !node->checked_type()) continue;
      std::vector<ScaleRule::Takes> inputs;
      for (const Expr& arg : as<CallNode>(node)->args()) inputs.push_back(takes(arg));
      auto plan = rule->backward(*as<CallNode>(node), inputs);
      if (!plan) continue;
      const auto& call = *as<CallNode>(node);
      Multiplied by = multiplied_by(*plan, call, context.exact_floats);
      for (size_t i = 0; i < call.args().size(); ++i)
        if (plan->inputs[i].what == ScaleStep::What::kPass) by += multiplied_[call.args()[i].get()];
      multiplied_[node.get()] = by;
      plans_.insert(node.get(), std::move(*plan));
    }
  }

  ScaleRule::Takes takes(const Expr& node) {
    const ScalePlan* plan = plans_.find(node.get());
    return plan ? ScaleRule::Takes(plan->takes) : std::nullopt;
  }

  // Users before what they use: which multiplies go, and which nodes their factors pass.
  void decide(const BuildContext& context) {
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const auto* call = as<CallNode>(*at);
      if (!call) continue;
      if (const Factor* factor = passing_.find(call)) {
        const Factor through = *factor;
        const ScalePlan& plan = *plans_.find(call);
        for (size_t i = 0; i < call->args().size(); ++i)
          if (plan.inputs[i].what == ScaleStep::What::kPass) passing_.insert(call->args()[i].get(), through);
        continue;
      }
      if (!is_call(*at, "multiply")) continue;
      for (int kept : {0, 1}) {
        const ScaleRule::Takes taken = takes(call->args()[kept]);
        const auto factor = taken ? factor_of(*at, kept, *taken, context) : std::nullopt;
        if (!factor || !goes(*factor, multiplied_[call->args()[kept].get()], context)) continue;
        gone_.insert(call, *factor);
        passing_.insert(call->args()[kept].get(), *factor);
        break;
      }
    }
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call) return rebuilt;
    if (const Factor* factor = gone_.find(original.get())) return call->args()[factor->kept];
    const Factor* factor = passing_.find(original.get());
    if (!factor) return rebuilt;
    const Expr value = mapped(as<CallNode>(factor->multiply)->args()[1 - factor->kept]);
    return apply(*plans_.find(original.get()), *as<CallNode>(original), *call, *factor, value);
  }

  std::vector<Expr> order_;
  PointerMap<ScalePlan> plans_;
  PointerMap<Multiplied> multiplied_;  // by a factor of this node's result
  PointerMap<Factor> gone_;            // by multiply
  PointerMap<Factor> passing_;         // by the node whose result the factor is on
};

class ForwardFolder final : public ScaleRewriter {
 public:
  explicit ForwardFolder(const BuildContext& context) : context_(context) {}

  Expr fold(const Expr& root) {
    std::vector<Expr> order;
    post_order(
        root, [&](const Expr& node) { order.push_back(node), learn(node); },
        [this](const Expr& node) { return enter(node); });
    refuse(root);
    for (auto at = order.rbegin(); at != order.rend(); ++at) offer(**at);
    return run(root);
  }

 private:
  struct Offer {
    bool refused = false;
    ScaleRule::Takes takes;
    Multiplied by;  ///< by a factor of it
  };

  void refuse(const Expr& node) { offers_[node.get()] = {true, std::nullopt, {}}; }

  // Tells the arguments of `node` what it can take of them. All users of an argument must agree.
  void offer(const ExprNode& node) {
    const ScaleRule* rule = rule_of(node);
    if (!rule || !rule->forward || !node.checked_type()) {
      for_each_child(node, [&](const Expr& child) { refuse(child); });
      return;
    }
    const auto& call = static_cast<const CallNode&>(node);
    const ScaleRule::Takes result = takes(call);
    for (size_t i = 0; i < call.args().size(); ++i) {
      const auto plan = rule->forward(call, static_cast<int>(i), result);
      const Multiplied passed = plan && plan->passes_on ? offers_[&call].by : Multiplied();
      Offer& offer = offers_[call.args()[i].get()];
      if (!plan || (offer.takes && !offer.takes->same_place(plan->takes))) {
        offer = {true, std::nullopt, {}};
      } else if (!offer.refused) {
        offer.by += multiplied_by(*plan, call, context_.exact_floats);
        offer.by += passed;
        const ScaleAxis before = offer.takes.value_or(plan->takes);
        offer.takes = ScaleAxis{before.axis, before.need_positive || plan->takes.need_positive,
                                before.need_nonzero || plan->takes.need_nonzero, before.block};
      }
    }
  }

  ScaleRule::Takes takes(const ExprNode& node) const {
    const Offer* offer = offers_.find(&node);
    return offer && !offer->refused ? offer->takes : std::nullopt;
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto *call = as<CallNode>(rebuilt), *before = as<CallNode>(original);
    if (!call) return rebuilt;
    for (size_t i = 0; i < before->args().size(); ++i) {
      const Pending* pending = pending_.find(before->args()[i].get());
      if (!pending) continue;
      const Pending carried = *pending;
      const ScaleRule::Takes result = takes(*before);
      const auto plan = rule_of(*before)->forward(*before, static_cast<int>(i), result);
      BATON_CHECK(plan, before->op()->name + " took a factor and does not any more");
      if (plan->passes_on) pending_.insert(before, carried);
      return apply(*plan, *before, *call, carried.factor, carried.value);
    }
    const ScaleRule::Takes taken = is_call(original, "multiply") ? takes(*original) : std::nullopt;
    if (!taken) return rebuilt;
    for (int kept : {0, 1}) {
      const auto factor = factor_of(original, kept, *taken, context_);
      if (!factor || !goes(*factor, offers_[original.get()].by, context_)) continue;
      pending_.insert(before, {*factor, call->args()[1 - kept]});
      return call->args()[kept];
    }
    return rebuilt;
  }

  struct Pending {
    Factor factor;
    Expr value;  ///< the factor, rewritten
  };
  const BuildContext& context_;
  PointerMap<Offer> offers_;
  PointerMap<Pending> pending_;  // by the node whose value lacks a factor
};

}  // namespace

Pass backward_fold_scale_axis() {
  return function_pass({3, "BackwardFoldScaleAxis", {"InferType"}},
                       [](const Function& function, const IRModule&, const BuildContext& context) {
                         if (is_strict(context.passes->config)) return function;
                         return as_ref<FunctionNode>(BackwardFolder().fold(function, context));
                       });
}

Pass forward_fold_scale_axis() {
  return function_pass({3, "ForwardFoldScaleAxis", {"InferType"}},
                       [](const Function& function, const IRModule&, const BuildContext& context) {
                         if (is_strict(context.passes->config)) return function;
                         return as_ref<FunctionNode>(ForwardFolder(context).fold(function));
                       });
}

Pass fold_scale_axis() {
  return sequential({backward_fold_scale_axis(), forward_fold_scale_axis(), fold_constant_with(false)},
                    "FoldScaleAxis");
}

}  // namespace baton
