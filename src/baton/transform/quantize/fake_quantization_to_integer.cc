// Regions that compute in float32 between numbers that are quantised anyway compute on these:
//   qnn.quantize(f(qnn.dequantize(x, s, z)), s', z')  ->  qnn.requantize(f'(x), ..)
// f' comes from the rules of the operators (ir/rules/fake_quantization_rule.h). A region is what lies between
// one qnn.quantize and the qnn.dequantize calls, or constants, that it begins with; it changes as a whole or
// not at all. With use_qat, operators that are fed by qnn.dequantize but not followed by qnn.quantize change
// one by one:
//   f(qnn.dequantize(x, s, z))  ->  qnn.dequantize(f'(x), ..)
// The origins of an integer operator include those of the dequantize calls that it absorbs.
#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/qnn_build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/quantize/fake_quantization_hooks.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

/// What is known of an expression as part of a region.
struct Standing {
  bool inside = false;             ///< all that it begins with are dequantize calls and constants
  bool quantized = false;          ///< and there is a dequantize call among them
  const OpDef* missing = nullptr;  ///< an operator in it that has no rule
};

/// An expression of a region on quantised numbers, and the operators that went without a node of their own.
struct Made {
  Expr expr;
  std::optional<AffineType> type;  ///< none: a constant of the program
  OriginSet pending = OriginSet::none();
};

/// What `rule` makes of a call; nothing where it cannot do it, unless that is an error (`hard_fail`).
std::optional<AffineExpr> answer(const FakeQuantizationRule& rule, const FakeQuantizedCall& at,
                                 bool hard_fail) {
  try {
    return rule.rewrite(at);
  } catch (const NotSupported&) {
    if (hard_fail) throw;
    return std::nullopt;
  }
}

bool is_dequantize(const Expr& expr) { return call_of(expr, "qnn.dequantize") != nullptr; }

/// `member`, a scale or zero point of type `type`, in the form that rules know, and typed: it may have been
/// rewritten itself.
Expr pair_member(const Expr& member, const Type& type, const IRModuleNode& module) {
  const Expr typed = member->checked_type() ? member : infer_type(member, &module);
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor ? qnn::plain_pair_member(typed, *tensor) : typed;
}

class FakeQuantizer final : public Rewriter {
 public:
  FakeQuantizer(const Function& function, const IRModuleNode& module, bool hard_fail)
      : module_(module), hard_fail_(hard_fail) {
    post_order(Expr(function), [&](const Expr& node) { standings_.insert(node.get(), standing(node)); });
  }

 private:
  Standing standing(const Expr& node) const {
    if (node->kind() == ExprKind::kConstant) return {true, false, nullptr};
    if (is_dequantize(node)) return {true, true, nullptr};
    Standing all{true, false, nullptr};
    const auto take = [&](const Expr& part) {
      const Standing* one = standings_.find(part.get());
      if (!one) return void(all.inside = false);
      all.inside = all.inside && one->inside;
      all.quantized = all.quantized || one->quantized;
      if (!all.missing) all.missing = one->missing;
    };
    if (const auto* call = as<CallNode>(node)) {
      if (!call->op() || is_call(node, "qnn.quantize") || call->args().empty()) return {};
      for (const Expr& arg : call->args()) take(arg);
      if (all.inside && all.quantized && !all.missing && !fake_quantization_rule(*call->op()))
        all.missing = call->op();
    } else if (const auto* tuple = as<TupleNode>(node)) {
      for (const Expr& field : tuple->fields()) take(field);
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      take(item->tuple());
    } else {
      return {};
    }
    return all;
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* quantize = call_of(original, "qnn.quantize");
    if (!quantize || !original->checked_type()) return rebuilt;
    const Standing* region = standings_.find(quantize->args()[0].get());
    if (!region || !region->inside || !region->quantized) return rebuilt;
    if (region->missing) {
      if (hard_fail_)
        throw NotSupported("FakeQuantizationToInteger: " + region->missing->name +
                           " between qnn.dequantize and qnn.quantize has no rule (hard_fail)");
      return rebuilt;
    }
    const AffineType out{pair_member(quantize->args()[1]),
                         pair_member(quantize->args()[2]),
                         as_type<TensorTypeNode>(original->checked_type())->dtype(),
                         static_cast<int>(int_attr(*quantize, "axis")),
                         {}};
    const std::optional<Made> made = integers(quantize->args()[0], out);
    if (made && made->type && !made->type->is_tuple()) {
      if (const Expr result = requantize(*made, out)) return result;
    }
    if (hard_fail_)
      throw NotSupported("FakeQuantizationToInteger: a rule cannot do what lies before " +
                         call_text(*quantize) + " (hard_fail)");
    return rebuilt;
  }

  static std::string call_text(const CallNode& call) {
    return call.op()->name + (call.span() ? " at " + call.span().text() : std::string());
  }

  /// The end of a region: `made` under the scale and zero point of `out`. Null when that cannot be said in
  /// one operator.
  static Expr requantize(const Made& made, const AffineType& out) {
    OriginSet origins = OriginScope::current()->merge(made.pending);
    if (same_affine(*made.type, out)) {
      origins = origins.merge(out.scale->origins()).merge(out.zero_point->origins());
      if (made.expr->kind() == ExprKind::kCall)
        return with_origins(made.expr, made.expr->origins().merge(origins));
      retire(origins, "quantised again as it was");
      return made.expr;
    }
    if (out.per_channel()) return {};
    const OriginScope scope(origins);
    return requantized(made.expr, *made.type, out);
  }

  /// `root`, of a region, on quantised numbers.
  std::optional<Made> integers(const Expr& root, const AffineType& out) {
    PointerMap<Made> done;
    std::vector<std::pair<const Expr*, bool>> todo{{&root, false}};
    while (!todo.empty()) {
      const auto [node, ready] = todo.back();
      todo.pop_back();
      if (done.contains(node->get())) continue;
      const auto* call = as<CallNode>(*node);
      if ((*node)->kind() == ExprKind::kConstant) {
        done.insert(node->get(), Made{*node, std::nullopt});
      } else if (is_dequantize(*node)) {
        done.insert(node->get(), dequantized(*call));
      } else if (!ready) {
        todo.push_back({node, true});
        for_each_child(**node, [&](const Expr& child) {
          if (child->kind() != ExprKind::kOp) todo.push_back({&child, false});
        });
      } else {
        std::optional<Made> made = call ? computed(*call, done, out) : structure(*node, done);
        if (!made) return std::nullopt;
        done.insert(node->get(), std::move(*made));
      }
    }
    return *done.find(root.get());
  }

  Expr pair_member(const Expr& arg) const { return baton::pair_member(mapped(arg), type_of(arg), module_); }

  Made dequantized(const CallNode& call) const {
    const DType dtype = tensor_type_of(call.args()[0])->dtype();
    return {mapped(call.args()[0]),
            AffineType{pair_member(call.args()[1]),
                       pair_member(call.args()[2]),
                       dtype,
                       static_cast<int>(int_attr(call, "axis")),
                       {}},
            call.origins().merge(call.args()[1]->origins()).merge(call.args()[2]->origins())};
  }

  std::optional<Made> computed(const CallNode& call, const PointerMap<Made>& done,
                               const AffineType& out) const {
    FakeQuantizedCall at{call, {}, &out};
    OriginSet origins = call.origins();
    for (const Expr& arg : call.args()) {
      const Made& made = *done.find(arg.get());
      at.args.push_back({made.expr, made.type});
      origins = origins.merge(made.pending);
    }
    const OriginScope scope(origins);
    auto result = answer(*fake_quantization_rule(*call.op()), at, hard_fail_);
    if (!result) return std::nullopt;
    return Made{result->expr, result->type};
  }

  // Tuples have no origins of their own: what vanished before them goes on.
  static std::optional<Made> structure(const Expr& node, const PointerMap<Made>& done) {
    if (const auto* item = as<TupleGetItemNode>(node)) {
      const Made& whole = *done.find(item->tuple().get());
      if (!whole.type || !whole.type->is_tuple()) return std::nullopt;
      const auto index = static_cast<size_t>(item->index());
      if (index >= whole.type->fields.size()) return std::nullopt;
      if (const auto* made = as<TupleNode>(whole.expr))
        return Made{made->fields()[index], whole.type->fields[index], whole.pending};
      return Made{make_tuple_get_item(whole.expr, item->index(), NodeInfo(node->origins(), node->span())),
                  whole.type->fields[index], whole.pending};
    }
    const auto* tuple = as<TupleNode>(node);
    std::vector<Expr> fields;
    AffineType type;
    OriginSet pending = OriginSet::none();
    for (const Expr& field : tuple->fields()) {
      const Made& made = *done.find(field.get());
      if (!made.type) return std::nullopt;
      fields.push_back(made.expr);
      type.fields.push_back(*made.type);
      pending = pending.merge(made.pending);
    }
    return Made{make_tuple(std::move(fields), NodeInfo(node->origins(), node->span())), std::move(type),
                pending};
  }

  const IRModuleNode& module_;
  bool hard_fail_;
  PointerMap<Standing> standings_;
};

/// use_qat: one operator at a time, where its arguments come from qnn.dequantize.
class OperatorQuantizer final : public Rewriter {
 public:
  explicit OperatorQuantizer(const IRModuleNode& module) : module_(module) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(rebuilt))
      return tuples_.contains(item->tuple().get()) ? as<TupleNode>(item->tuple())->fields().at(item->index())
                                                   : rebuilt;
    const auto* call = as<CallNode>(rebuilt);
    const auto* typed = as<CallNode>(original);
    if (!call || !call->op() || call->op()->name.starts_with("qnn.")) return rebuilt;
    const auto* own = call->op()->rules.get<FakeQuantizationRule>();
    const auto rule = fake_quantization_rule(*call->op());
    if (!rule || !own || !own->without_end) return rebuilt;
    FakeQuantizedCall at{*typed, {}, nullptr};
    OriginSet origins = call->origins();
    bool quantized = false;
    for (size_t i = 0; i < call->args().size(); ++i) {
      const Expr& arg = call->args()[i];
      const CallNode* dequantize = call_of(arg, "qnn.dequantize");
      if (!dequantize && arg->kind() != ExprKind::kConstant) return rebuilt;
      if (!dequantize) {
        at.args.push_back({arg, std::nullopt});
        continue;
      }
      quantized = true;
      const AffineType* type = types_.find(arg.get());
      at.args.push_back({dequantize->args()[0], type ? *type : affine_type_of(*dequantize)});
      if (!at.args.back().type->scale) return rebuilt;
      // One that was made here stands for nothing that its argument does not.
      if (!type)
        origins = origins.merge(dequantize->origins())
                      .merge(dequantize->args()[1]->origins())
                      .merge(dequantize->args()[2]->origins());
    }
    if (!quantized) return rebuilt;
    const OriginScope scope(origins);
    const auto result = answer(*rule, at, /*hard_fail=*/false);
    if (!result) return rebuilt;
    if (!result->type.is_tuple()) return dequantized(result->expr, result->type);
    std::vector<Expr> fields;
    for (const AffineType& field : result->type.fields) {
      if (field.is_tuple()) return rebuilt;
      const NodeInfo info(OriginSet::none(), call->span());
      fields.push_back(
          dequantized(make_tuple_get_item(result->expr, static_cast<int>(fields.size()), info), field));
    }
    made_.push_back(make_tuple(std::move(fields), NodeInfo(OriginSet::none(), call->span())));
    tuples_.insert(made_.back().get());
    return made_.back();
  }

  Expr dequantized(const Expr& expr, const AffineType& type) {
    made_.push_back(call_op("qnn.dequantize", {expr, type.scale, type.zero_point}, {{"axis", type.axis}}));
    types_.insert(made_.back().get(), type);
    return made_.back();
  }

  // The affine type of a call in the program; without a scale when the call is not typed.
  AffineType affine_type_of(const CallNode& dequantize) const {
    const TensorTypeNode* type = tensor_type_of(dequantize.args()[0]);
    if (!type) return {};
    const auto member = [&](size_t index) {
      const Expr& arg = dequantize.args()[index];
      const Expr typed = arg->checked_type() ? arg : infer_type(arg, &module_);
      return pair_member(typed, typed->checked_type(), module_);
    };
    return {member(1), member(2), type->dtype(), static_cast<int>(int_attr(dequantize, "axis")), {}};
  }

  const IRModuleNode& module_;
  PointerMap<AffineType> types_;
  PointerSet tuples_;       // of results, one dequantize each
  std::vector<Expr> made_;  // keeps the keys of both alive
};

Function quantized(const Function& function, const IRModuleNode& module, bool hard_fail, bool use_qat) {
  Function result = as_ref<FunctionNode>(FakeQuantizer(function, module, hard_fail).run(function));
  if (!use_qat) return result;
  result = as_ref<FunctionNode>(infer_type(result, &module));
  return as_ref<FunctionNode>(OperatorQuantizer(module).run(result));
}

}  // namespace

Pass fake_quantization_to_integer(const PassArgs& args) {
  PassArgReader reader("FakeQuantizationToInteger", args);
  const bool hard_fail = reader.flag("hard_fail", false), use_qat = reader.flag("use_qat", false);
  reader.finish();
  return function_pass(
      {0, "FakeQuantizationToInteger", {"InferType", "DivToMul"}},
      [=](const Function& function, const IRModule& module, const PassContext&) {
        return quantized(function, *module, hard_fail, use_qat);
      },
      /*may_retire=*/true);
}

}  // namespace baton
