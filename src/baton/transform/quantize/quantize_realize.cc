// Computes in integers what QuantizeAnnotate marked and QuantizeCalibrate scaled:
//   simulated_quantize(x)           ->  clip(round(x / scale)), an integer that is cast where it is used
//   simulated_quantize of integers  ->  a shift, or a multiplication in fixed point, and clip
//   conv2d(a, b)                    ->  conv2d of int8 into int32; the scales multiply
// A result is staged while it is an integer with a scale; finished it is a float again: cast(q, float32) *
// scale.
#include <algorithm>
#include <cmath>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/qnn/requantize.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/quantize/forward_rewriter.h"
#include "baton/transform/quantize/quantize.h"

namespace baton {

namespace {

constexpr DType kFloat32 = DType::float_(32);

struct Scaled {
  Expr data;
  float scale = 1;
  DType dtype;  ///< float32: rounded, but not cast yet
};

float float_constant(const Expr& expr) {
  const auto value = scalar_value(expr);
  if (!value)
    throw Error("QuantizeRealize: a simulated_quantize without its scale; run QuantizeCalibrate first");
  return static_cast<float>(*value);
}

class Realizer final : public ForwardRewriter {
 public:
  explicit Realizer(const QuantizeConfig& config) : config_(config) {}

 private:
  Expr forward(const CallNode& original, const CallNode& call) override {
    using Does = QuantizationRule::Does;
    const auto* rule = call.op()->rules.get<QuantizationRule>();
    if (!rule) return {};
    switch (rule->does) {
      case Does::kRound:
        return round(call);
      case Does::kLayer:
        return product(call, false);
      case Does::kProduct:
        return product(call, true);
      case Does::kScale:
        return multiply(call);
      case Does::kSum:
        return sum(original, call);
      case Does::kJoin:
        return join(original, call);
      case Does::kClip:
        return clip(call);
      case Does::kHint:
        return cast_hint(call);
      case Does::kSelect:
        return in_type(call, config_.dtype_input, true);
      case Does::kMean:
      case Does::kTotalMean:
        return in_type(call, config_.dtype_activation, false);
      case Does::kSame:
        return same(call);
    }
    return {};
  }

  bool is_staged(const Expr& expr) const override { return scaled_.contains(expr.get()); }

  Expr finish(const Expr& staged) override {
    const Scaled known = *scaled_.find(staged.get());
    const OriginSet& owner = staged->origins().empty() ? *OriginScope::current() : staged->origins();
    const OriginScope scope(OriginSet::made_for(owner, "back from integers"));
    return call_op("multiply", {cast(known.data, kFloat32), scalar(known.scale, kFloat32)});
  }

  Expr stage(const Expr& data, float scale, DType dtype) {
    if (scaled_.insert(data.get(), {data, scale, dtype}).second) return data;
    // The same expression with another meaning: a node of its own.
    const auto* call = as<CallNode>(data);
    BATON_CHECK(call, "only calls are staged");
    const Expr copy = make_call(call->callee(), call->args(), call->attrs(), call->info());
    scaled_.insert(copy.get(), {copy, scale, dtype});
    return copy;
  }

  /// All of `args` as integers with their scales; nothing unless each is.
  std::optional<std::vector<Scaled>> scaled(const std::vector<Expr>& args) const {
    std::vector<Scaled> all;
    for (const Expr& arg : args) {
      const Scaled* one = scaled_.find(arg.get());
      if (!one) return std::nullopt;
      all.push_back(*one);
    }
    return all;
  }

  /// The compiler's own, for the call that is rewritten.
  template <class Make>
  static Expr added(const char* reason, Make make) {
    const OriginScope scope(OriginSet::made_for(*OriginScope::current(), reason));
    return make();
  }
  static Expr cast(const Expr& x, DType dtype) { return call_op("cast", {x}, {{"dtype", dtype}}); }
  static Expr cast_added(const Expr& x, DType dtype) {
    return added("integers of another width", [&] { return cast(x, dtype); });
  }
  static Expr stop_fusion(const Expr& x) {
    return added("rounded once, for all who use it", [&] { return call_op("annotation.stop_fusion", {x}); });
  }
  static Expr clipped(const Expr& x, float least, float most) {
    return call_op("clip", {x},
                   {{"a_min", static_cast<double>(least)}, {"a_max", static_cast<double>(most)}});
  }
  Expr activation_scalar(double value) const { return scalar(value, config_.dtype_activation); }

  static Expr over(const CallNode& call, std::vector<Expr> args) {
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
  }

  /// x * factor in fixed point.
  Expr fixed_multiply(const Expr& x, double factor) const {
    const qnn::FixedPoint fixed = qnn::fixed_point(factor);
    if (config_.rounding == "UPWARD")
      return call_op("fixed_point_multiply", {x}, {{"multiplier", fixed.multiplier}, {"shift", fixed.shift}});
    return qnn::multiply_to_nearest(x, factor);
  }

  Expr round(const CallNode& call) {
    const float scale = float_constant(call.args()[1]), least = float_constant(call.args()[2]),
                most = float_constant(call.args()[3]);
    const Scaled* known = scaled_.find(call.args()[0].get());
    if (!known) {
      const Expr divided = call_op("multiply", {call.args()[0], scalar(1 / scale, kFloat32)});
      return stage(clipped(call_op("round", {divided}), least, most), scale, kFloat32);
    }
    const Scaled from = *known;
    Expr data = from.data;
    if (from.scale == scale) return stage(clipped(data, least, most), scale, from.dtype);
    const float shift = std::log2(scale / from.scale);
    if (static_cast<float>(static_cast<int>(shift)) != shift) {
      data = fixed_multiply(cast(data, DType::int_(64)), from.scale / scale);
      return stage(cast(clipped(data, least, most), from.dtype), scale, from.dtype);
    }
    if (shift > 0) {
      if (config_.round_for_shift) data = call_op("add", {data, activation_scalar(std::exp2(shift - 1))});
      data = call_op("right_shift", {data, activation_scalar(shift)});
    } else {
      data = call_op("left_shift", {data, activation_scalar(-shift)});
    }
    return stage(clipped(data, least, most), scale, from.dtype);
  }

  /// `two_inputs`: the second may be data, too, and narrow as it is.
  Expr product(const CallNode& call, bool two_inputs) {
    const auto args = scaled(call.args());
    if (!args) return {};
    const Scaled &lhs = (*args)[0], &rhs = (*args)[1];
    const Expr left = lhs.dtype == config_.dtype_input ? lhs.data : cast_added(lhs.data, config_.dtype_input);
    const bool narrow = two_inputs && rhs.dtype == config_.dtype_weight;
    const Expr right = narrow ? rhs.data : cast_added(rhs.data, config_.dtype_weight);
    const Attrs attrs = with_fields(call.attrs(), {{"out_dtype", config_.dtype_activation}});
    return stage(make_call(call.callee(), {left, right}, attrs, call.with_type({})), lhs.scale * rhs.scale,
                 config_.dtype_activation);
  }

  Expr multiply(const CallNode& call) {
    const auto args = scaled(call.args());
    if (!args) return {};
    std::vector<Expr> wide;
    for (const Scaled& arg : *args)
      wide.push_back(arg.dtype == config_.dtype_activation ? arg.data
                                                           : cast_added(arg.data, config_.dtype_activation));
    return stage(over(call, std::move(wide)), (*args)[0].scale * (*args)[1].scale, config_.dtype_activation);
  }

  Expr sum(const CallNode& original, const CallNode& call) {
    auto args = scaled(call.args());
    if (!args) return {};
    const auto [unified, scale, dtype] = unify(original.args(), *args);
    std::vector<Expr> data = unified;
    for (size_t i = 0; i < data.size(); ++i)
      if ((*args)[i].dtype == kFloat32) data[i] = stop_fusion(data[i]);
    return stage(over(call, std::move(data)), scale, dtype);
  }

  Expr join(const CallNode& original, const CallNode& call) {
    const auto* tuple = as<TupleNode>(call.args()[0]);
    const auto* fields = as<TupleNode>(original.args()[0]);
    const auto args = tuple && fields ? scaled(tuple->fields()) : std::nullopt;
    if (!args) return {};
    auto [data, scale, dtype] = unify(fields->fields(), *args);
    return stage(over(call, {make_tuple(std::move(data), tuple->with_type({}))}), scale, dtype);
  }

  struct Unified {
    std::vector<Expr> data;
    float scale;
    DType dtype;
  };

  /// All under one type and one scale: the finer one of two, so that the other is shifted to the left.
  /// `program`: the arguments as they were.
  Unified unify(const std::vector<Expr>& program, const std::vector<Scaled>& args) const {
    const bool two = args.size() == 2;
    const DType dtype =
        two && args[1].dtype == config_.dtype_input ? config_.dtype_input : config_.dtype_activation;
    const float fine = static_cast<float>(config_.global_scale /
                                          std::exp2(static_cast<double>(config_.nbit_activation - 1)));
    Unified all{{}, two ? std::min(args[0].scale, args[1].scale) : fine, dtype};
    for (size_t i = 0; i < args.size(); ++i) {
      Expr data = args[i].data;
      const CallNode* rounded = call_of(program[i], op_names::kSimulatedQuantize);
      if (args[i].dtype != dtype)
        data = cast_added(data, dtype);
      else if (rounded && int_attr(*rounded, "kind") == static_cast<int64_t>(QuantizeKind::kInput))
        data = cast_added(stop_fusion(cast_added(data, config_.dtype_input)), dtype);
      if (args[i].scale != all.scale)
        data = added("brought to one scale", [&] { return times(data, args[i].scale / all.scale, dtype); });
      all.data.push_back(data);
    }
    return all;
  }

  Expr times(const Expr& data, float factor, DType dtype) const {
    const float shift = std::log2(factor);
    if (static_cast<float>(static_cast<int>(shift)) == shift)
      return call_op("left_shift", {data, scalar(shift, dtype)});
    if (static_cast<float>(static_cast<int64_t>(factor)) == factor)
      return call_op("multiply", {data, scalar(factor, dtype)});
    return cast(fixed_multiply(data, factor), dtype);
  }

  Expr clip(const CallNode& call) {
    const Scaled* known = scaled_.find(call.args()[0].get());
    if (!known) return {};
    const Scaled from = *known;
    const double scale = from.scale;
    const Attrs attrs = with_fields(call.attrs(), {{"a_min", float_attr(call, "a_min") / scale},
                                                   {"a_max", float_attr(call, "a_max") / scale}});
    return stage(make_call(call.callee(), {from.data}, attrs, call.with_type({})), from.scale, from.dtype);
  }

  Expr cast_hint(const CallNode& call) {
    const Scaled* known = scaled_.find(call.args()[0].get());
    if (!known) return {};
    const Scaled from = *known;
    const DType dtype = dtype_attr(call, "dtype");
    return stage(cast(from.data, dtype), from.scale, dtype);
  }

  /// Pools: on integers of `dtype`; `always`: also where they have that type already.
  Expr in_type(const CallNode& call, DType dtype, bool always) {
    const Scaled* known = scaled_.find(call.args()[0].get());
    if (!known) return {};
    const Scaled from = *known;
    const Expr data = from.dtype == dtype && !always ? from.data : cast_added(from.data, dtype);
    return stage(over(call, {data}), from.scale, dtype);
  }

  Expr same(const CallNode& call) {
    const Scaled* known = scaled_.find(call.args()[0].get());
    if (!known) return {};
    const Scaled from = *known;
    return stage(over(call, {from.data}), from.scale, from.dtype);
  }

  const QuantizeConfig& config_;
  PointerMap<Scaled> scaled_;  // keeps its keys alive
};

}  // namespace

Pass quantize_realize_for(const QuantizeConfig& config) {
  return function_pass({1, "QuantizeRealize", {"InferType"}},
                       [config](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Realizer(config).run(function));
                       });
}

}  // namespace baton
