// Says what is rounded to integers, by what becomes of it:
//   conv2d(x, w)  ->  conv2d(simulated_quantize(x, input), simulated_quantize(w, weight))
// Scales and bounds are not known yet: they are parameters of the function until QuantizeCalibrate gives
// their values. A result is staged while it counts as quantised: as an input (8 bits) or as an activation (32
// bits).
#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/quantize/forward_rewriter.h"
#include "baton/transform/quantize/quantize.h"

namespace baton {

namespace {

using Kind = QuantizeKind;

/// A weight of double precision in float32, which is all that rounding needs.
Expr single_precision(const Expr& weight) {
  const auto* known = as<ConstantNode>(weight);
  if (!known || known->value().dtype() != DType::float_(64)) return weight;
  const auto values = known->value().as<double>();
  return Expr(
      make_constant(NDArray::of<float>(known->value().shape(),
                                       std::vector<float>(values.begin(), values.end()), DType::float_(32)),
                    NodeInfo(weight->origins(), weight->span())));
}

class Annotator final : public ForwardRewriter {
 public:
  Annotator(const Function& function, const QuantizeConfig& config) : config_(config) {
    post_order(Expr(function), [&](const Expr& node) {
      for_each_child(*node, [&](const Expr& child) { ++uses_[child.get()]; });
    });
  }
  const std::vector<Var>& placeholders() const { return placeholders_; }

 private:
  Expr forward(const CallNode&, const CallNode& call) override {
    using Does = QuantizationRule::Does;
    const auto* rule = call.op()->rules.get<QuantizationRule>();
    if (!rule) return {};
    switch (rule->does) {
      case Does::kLayer:
        return layer(call);
      case Does::kProduct:
        return product(call);
      case Does::kScale:
        return multiply(call);
      case Does::kSum:
        return sum(call);
      case Does::kJoin:
        return join(call);
      case Does::kHint:
        return cast_hint(call);
      case Does::kSelect:
      case Does::kMean:
        return pool(call);
      case Does::kTotalMean:
        return pool_all(call);
      case Does::kClip:
      case Does::kSame:
        return same(call);
      case Does::kRound:
        return {};
    }
    return {};
  }

  // What is rounded has the type that it had.
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }
  bool is_staged(const Expr& expr) const override { return kinds_.contains(expr.get()); }
  Expr finish(const Expr& staged) override { return staged; }

  // What several operators use is rounded once for all of them.
  Expr result(const Expr& original, const Expr& became) override {
    const int* uses = uses_.find(original.get());
    if (!uses || *uses < 2 || !is_staged(became)) return became;
    return stage(rounded(became, Kind::kInput), Kind::kInput);
  }

  std::optional<Kind> kind(const Expr& expr) const {
    const Kind* kind = kinds_.find(expr.get());
    return kind ? std::optional<Kind>(*kind) : std::nullopt;
  }

  Expr stage(const Expr& expr, Kind kind) {
    if (kinds_.insert(expr.get(), kind).second) kept_.push_back(expr);
    return expr;
  }

  static Expr over(const CallNode& call, std::vector<Expr> args) {
    if (args == call.args()) return Expr(&call);
    return make_call(call.callee(), std::move(args), call.attrs(), call.info());
  }

  /// simulated_quantize of `data`; one for all who ask for it as the same kind.
  Expr rounded(const Expr& data, Kind kind) {
    if (const CallNode* known = call_of(data, op_names::kSimulatedQuantize);
        known && int_attr(*known, "kind") == static_cast<int64_t>(kind))
      return data;
    Expr& made = rounded_[static_cast<size_t>(kind)][data.get()];
    if (made) return made;
    const OriginScope scope(
        OriginSet::made_for(*OriginScope::current(), "rounded for operators on integers"));
    std::vector<Expr> args = {kind == Kind::kWeight ? single_precision(data) : data};
    const Type type = args[0]->checked_type();
    for (const char* name : {"dom_scale", "clip_min", "clip_max"}) {
      placeholders_.push_back(make_var(name, scalar_type(DType::float_(32)), NodeInfo(OriginSet::none())));
      args.push_back(placeholders_.back());
    }
    made = with_type(
        call_op(op_names::kSimulatedQuantize, std::move(args), {{"kind", static_cast<int64_t>(kind)}}), type);
    kept_.push_back(data);
    return made;
  }

  /// Whether the configuration leaves the call alone. Counts convolutions.
  bool skipped(const CallNode& call) {
    if (stopped_) return true;
    if (config_.debug_enabled_ops) {
      const auto& enabled = *config_.debug_enabled_ops;
      if (std::find(enabled.begin(), enabled.end(), call.op()->name) == enabled.end()) return true;
    }
    if (!is_layer(call, LayerKind::kConvolution2D)) return false;
    const int64_t index = convolutions_++;
    return std::count(config_.skip_conv_layers.begin(), config_.skip_conv_layers.end(), index) > 0;
  }

  static bool is_layer(const CallNode& call, LayerKind kind) {
    const auto* layer = call.op()->rules.get<LayerKind>();
    return layer && *layer == kind;
  }
  static bool is_constant(const Expr& expr) { return expr->kind() == ExprKind::kConstant; }
  static Kind constant_kind(const Expr& expr) { return is_constant(expr) ? Kind::kWeight : Kind::kInput; }
  /// As an input, unless it is one already.
  Expr as_input(const Expr& expr) { return kind(expr) == Kind::kInput ? expr : rounded(expr, Kind::kInput); }

  Expr layer(const CallNode& call) {
    if (skipped(call) || (config_.skip_dense_layer && is_layer(call, LayerKind::kDense))) return {};
    const Expr data = as_input(call.args()[0]);
    return stage(over(call, {data, rounded(finished(call.args()[1]), Kind::kWeight)}), Kind::kActivation);
  }

  Expr product(const CallNode& call) {
    if (skipped(call)) return {};
    std::vector<Expr> args = call.args();
    for (Expr& arg : args)
      if (kind(arg) != Kind::kInput) arg = rounded(arg, constant_kind(arg));
    return stage(over(call, std::move(args)), Kind::kActivation);
  }

  Expr multiply(const CallNode& call) {
    if (skipped(call)) return {};
    Expr lhs = call.args()[0], rhs = call.args()[1];
    const auto left = kind(lhs), right = kind(rhs);
    if (!left && !right) return {};
    lhs = left ? as_input(lhs) : rounded(lhs, constant_kind(lhs));
    rhs = right ? as_input(rhs) : rounded(rhs, constant_kind(rhs));
    return stage(over(call, {lhs, rhs}), Kind::kActivation);
  }

  Expr sum(const CallNode& call) {
    if (skipped(call)) return {};
    const Expr &lhs = call.args()[0], &rhs = call.args()[1];
    const auto left = kind(lhs), right = kind(rhs);
    if (!left && !right) return {};
    if (!left) return stage(over(call, {rounded(lhs, Kind::kInput), rhs}), Kind::kInput);
    if (!right) return stage(over(call, {lhs, rounded(rhs, constant_kind(rhs))}), Kind::kActivation);
    if (left == Kind::kInput && right == Kind::kInput) return stage(over(call, {lhs, rhs}), Kind::kInput);
    const bool both = left == Kind::kActivation && right == Kind::kActivation;
    return stage(over(call, {lhs, both ? rounded(rhs, Kind::kInput) : rhs}), Kind::kActivation);
  }

  Expr join(const CallNode& call) {
    if (skipped(call)) return {};
    const auto* tuple = as<TupleNode>(call.args()[0]);
    if (!tuple || std::none_of(tuple->fields().begin(), tuple->fields().end(),
                               [&](const Expr& field) { return kind(field); }))
      return {};
    std::vector<Expr> fields;
    for (const Expr& field : tuple->fields())
      fields.push_back(kind(field) ? field : rounded(field, Kind::kActivation));
    const Expr inputs =
        fields == tuple->fields() ? call.args()[0] : make_tuple(std::move(fields), tuple->info());
    return stage(over(call, {inputs}), Kind::kActivation);
  }

  // A hint is for what is quantised only.
  Expr cast_hint(const CallNode& call) {
    const Expr& data = call.args()[0];
    if (skipped(call) || !kind(data)) return data;
    return stage(over(call, {as_input(data)}), Kind::kInput);
  }

  Expr pool(const CallNode& call) {
    if (skipped(call) || !kind(call.args()[0])) return {};
    return stage(over(call, {as_input(call.args()[0])}), Kind::kInput);
  }

  // What follows a mean over everything is small: it stays in float.
  Expr pool_all(const CallNode& call) {
    if (skipped(call) || !kind(call.args()[0])) return {};
    stopped_ = true;
    return over(call, {finished(call.args()[0])});
  }

  Expr same(const CallNode& call) {
    if (skipped(call)) return {};
    const auto data = kind(call.args()[0]);
    return data ? stage(over(call, call.args()), *data) : Expr();
  }

  const QuantizeConfig& config_;
  PointerMap<int> uses_;
  PointerMap<Kind> kinds_;
  PointerMap<Expr> rounded_[4];  // by kind
  std::vector<Var> placeholders_;
  std::vector<Expr> kept_;
  int64_t convolutions_ = 0;
  bool stopped_ = false;
};

Function annotated(const Function& function, const QuantizeConfig& config) {
  Annotator annotator(function, config);
  const Function result = as_ref<FunctionNode>(annotator.run(function));
  if (annotator.placeholders().empty()) return result;
  std::vector<Var> params = result->params();
  for (const Var& var : free_vars(result)) params.push_back(var);  // those that are left
  return remake_function(*result, std::move(params), result->body());
}

}  // namespace

Pass quantize_annotate_for(const QuantizeConfig& config) {
  return function_pass({1, "QuantizeAnnotate", {}},
                       [config](const Function& function, const IRModule&, const PassContext&) {
                         return annotated(function, config);
                       });
}

}  // namespace baton
