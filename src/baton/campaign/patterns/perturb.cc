// Other extents and attributes for a fused function. Operators are rebuilt one after the other: what an
// operator says of its operands' types decides on those of weights, equal extents on the rest.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "baton/campaign/patterns/patterns.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

constexpr int64_t kFewest = 5;  // smaller extents are windows, or single ones
constexpr double kFactor = 3;
constexpr double kMostBytes = 64e6, kMostFlops = 3e9;

class Perturbation {
 public:
  Perturbation(const KernelPattern& pattern, Choice& choose) : pattern_(pattern), choose_(choose) {
    changed_ = choose.of({0.3, 0.6, 1.0});
    for (size_t i = 0; i < pattern.function->params().size(); ++i)
      old_params_.emplace(pattern.function->params()[i].get(), i);
  }

  KernelPattern run() {
    const Expr body = rebuilt(pattern_.function->body());
    KernelPattern result{{}, {}, pattern_.family};
    std::vector<Var> params;
    for (size_t i = 0; i < pattern_.function->params().size(); ++i) {
      const auto at = vars_.find(pattern_.function->params()[i].get());
      if (at == vars_.end()) continue;
      params.push_back(at->second);
      result.weights.push_back(pattern_.weights[i]);
    }
    const Function function = make_function(params, body, {}, {}, NodeInfo(OriginSet::none()));
    result.function = as_ref<FunctionNode>(infer_type(Expr(function)));
    return result;
  }

 private:
  /// The new extent for `old`: the same one wherever `old` stands in the program.
  int64_t extent(int64_t old) {
    if (old < kFewest) return old;
    const auto [at, is_new] = extents_.try_emplace(old, old);
    if (!is_new || !choose_.chance(changed_)) return at->second;
    const double factor = std::exp((2 * choose_.fraction() - 1) * std::log(kFactor));
    auto value = static_cast<int64_t>(std::lround(static_cast<double>(old) * factor));
    for (const int64_t step : {16, 8, 4})
      if (old % step == 0 && choose_.chance(0.7)) {
        value = std::max<int64_t>(step, value / step * step);
        break;
      }
    return at->second = std::max<int64_t>(2, value);
  }

  std::vector<int64_t> extents(const std::vector<int64_t>& old) {
    std::vector<int64_t> made;
    for (const int64_t each : old) made.push_back(extent(each));
    return made;
  }

  /// The window, strides and padding together: what kept the size of the image goes on doing so.
  void perturb_window(const char* name, std::vector<std::pair<std::string, AttrValue>>& values,
                      const CallNode& call) {
    const AttrSchema& schema = call.attrs()->schema();
    if (!schema.find(name) || !schema.find("strides") || !schema.find("padding")) return;
    const std::vector<int64_t> window = ints_of(call.attrs()->get(name)),
                               strides = ints_of(call.attrs()->get("strides"));
    std::vector<int64_t> padding = ints_of(call.attrs()->get("padding"));
    if (window.size() != 2 || window[0] != window[1] || strides.size() != 2) return;
    const bool same =
        !padding.empty() && std::ranges::all_of(padding, [&](int64_t pad) { return pad == window[0] / 2; });
    if (same && window[0] % 2 == 1 && choose_.chance(0.3)) {
      const auto other = choose_.of<int64_t>({1, 3, 3, 5, 7});
      windows_[window[0]] = other;
      values.emplace_back(name, std::vector<int64_t>{other, other});
      values.emplace_back("padding", std::vector<int64_t>(padding.size(), other / 2));
    }
    if (choose_.chance(0.15)) {
      const int64_t stride = strides[0] == 1 ? 2 : 1;
      values.emplace_back("strides", std::vector<int64_t>{stride, stride});
    }
  }

  Attrs attributes(const CallNode& call) {
    if (!call.attrs()) return {};
    const AttrSchema& schema = call.attrs()->schema();
    std::vector<std::pair<std::string, AttrValue>> values;
    for (const AttrField& field : schema.fields)
      values.emplace_back(field.name, call.attrs()->get(field.name));
    std::vector<std::pair<std::string, AttrValue>> changed;
    for (const char* name : {"channels", "units"})
      if (schema.find(name) && !call.attrs()->get(name).is_none())
        changed.emplace_back(name, extent(int_attr(call, name)));
    if (schema.find("groups") && int_attr(call, "groups") > 1)
      changed.emplace_back("groups", extent(int_attr(call, "groups")));
    if (schema.find("newshape")) changed.emplace_back("newshape", extents(ints_attr(call, "newshape")));
    perturb_window("kernel_size", changed, call);
    perturb_window("pool_size", changed, call);
    for (auto& [name, value] : changed)
      for (auto& [old, kept] : values)
        if (old == name) kept = value;
    return make_attrs(schema, values);
  }

  /// The type of a parameter: beside an operand of which both types are known its extents are that one's.
  Type type_of(const VarNode& old, const CallNode& call, const std::vector<Expr>& made) {
    const TensorTypeNode& type = *static_type_of(Expr(Ref<const ExprNode>(&old)));
    std::vector<int64_t> shape = type.extents();
    const bool broadcasts = call.op()->fuse <= Fuse::kBroadcast;
    for (size_t i = 0; broadcasts && i < call.args().size(); ++i) {
      const TensorTypeNode* before = static_type_of(call.args()[i]);
      const TensorTypeNode* after = made[i] ? static_type_of(made[i]) : nullptr;
      if (!before || !after) continue;
      for (size_t n = 1; n <= shape.size() && n <= before->extents().size(); ++n) {
        int64_t& extent = shape[shape.size() - n];
        if (extent == before->extents()[before->extents().size() - n])
          extent = after->extents()[after->extents().size() - n];
      }
      return tensor_type(shape, type.dtype());
    }
    shape = extents(shape);
    // A depthwise weight has its window behind its channels.
    if (call.op()->fuse == Fuse::kOutFusable && shape.size() == 4 && &old == call.args().back().get())
      for (size_t axis : {2, 3})
        if (const auto at = windows_.find(type.extents()[axis]); at != windows_.end())
          shape[axis] = at->second;
    return tensor_type(shape, type.dtype());
  }

  Expr rebuilt(const Expr& node) {
    if (const auto at = made_.find(node.get()); at != made_.end()) return at->second;
    Expr result = node;
    if (const auto* call = as<CallNode>(node)) {
      result = rebuilt_call(*call);
    } else if (const auto* fields = as<TupleNode>(node)) {
      std::vector<Expr> all;
      for (const Expr& field : fields->fields())
        all.push_back(old_params_.contains(field.get()) ? param(field) : rebuilt(field));
      result = infer_type(tuple(all));
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      result = infer_type(get_item(rebuilt(item->tuple()), item->index()));
    } else if (as<VarNode>(node)) {
      result = param(node);
    }
    made_.emplace(node.get(), result);
    return result;
  }

  /// A parameter by itself: equal extents stay equal.
  Expr param(const Expr& node) {
    const auto [at, is_new] = vars_.try_emplace(node.get());
    if (is_new) {
      const TensorTypeNode& type = *static_type_of(node);
      at->second = new_var(tensor_type(extents(type.extents()), type.dtype()));
    }
    return Expr(at->second);
  }

  Var new_var(const Type& type) {
    return make_var("p" + std::to_string(count_++), type, NodeInfo(OriginSet::none(), {}, type));
  }

  bool is_new_param(const Expr& arg) const {
    return old_params_.contains(arg.get()) && !vars_.contains(arg.get());
  }

  Expr rebuilt_call(const CallNode& call) {
    std::vector<Expr> args(call.args().size());
    // Computed operands first, then the first parameter: the others follow from these.
    for (size_t i = 0; i < args.size(); ++i)
      if (!is_new_param(call.args()[i])) args[i] = rebuilt(call.args()[i]);
    if (std::ranges::none_of(args, [](const Expr& arg) { return arg && !as<ConstantNode>(arg); }))
      for (size_t i = 0; i < args.size(); ++i)
        if (!args[i]) {
          args[i] = param(call.args()[i]);
          break;
        }
    const Attrs attrs = attributes(call);
    std::vector<size_t> open;
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i]) continue;
      if (const auto at = vars_.find(call.args()[i].get()); at != vars_.end()) {
        args[i] = Expr(at->second);  // twice in one call
        continue;
      }
      open.push_back(i);
    }
    // Weights whose types follow from the others'.
    if (!open.empty() && call.op()->fuse > Fuse::kBroadcast) {
      std::vector<Expr> tried = args;
      for (const size_t i : open) tried[i] = Expr(var("open" + std::to_string(i)));
      try {
        const Expr typed = infer_type(call_expr(call.callee(), tried, attrs));
        const auto& known = static_cast<const CallNode&>(*typed);
        for (const size_t i : open) {
          const TensorTypeNode* type = static_type_of(known.args()[i]);
          if (!type) continue;
          const Var made = new_var(tensor_type(type->extents(), type->dtype()));
          vars_.emplace(call.args()[i].get(), made);
          args[i] = Expr(made);
        }
      } catch (const Error&) {
      }
    }
    for (const size_t i : open) {
      if (args[i]) continue;
      const Var made = new_var(type_of(static_cast<const VarNode&>(*call.args()[i]), call, args));
      vars_.emplace(call.args()[i].get(), made);
      args[i] = Expr(made);
    }
    return infer_type(call_expr(call.callee(), args, attrs));
  }

  const KernelPattern& pattern_;
  Choice& choose_;
  double changed_ = 1;                  // the probability of an extent to change
  std::map<int64_t, int64_t> extents_;  // old -> new
  std::map<int64_t, int64_t> windows_;
  std::unordered_map<const ExprNode*, size_t> old_params_;
  std::unordered_map<const ExprNode*, Var> vars_;
  std::unordered_map<const ExprNode*, Expr> made_;
  int count_ = 0;
};

bool has_usual_size(const Function& function) {
  std::vector<CostFacts> calls;
  double flops = 0;
  bool sound = true;
  post_order(function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call) return;
    calls.push_back(cost_of_call(*call));
    flops += calls.back().flops;
    for (const TensorTypeNode* type : flat_types(call->checked_type()))
      for (const int64_t extent : type->extents()) sound &= extent > 0;
  });
  return sound && flops <= kMostFlops && cost_of_function(*function, calls).bytes <= kMostBytes;
}

}  // namespace

std::optional<KernelPattern> perturbed(const KernelPattern& pattern, Choice& choose) {
  try {
    KernelPattern made = Perturbation(pattern, choose).run();
    if (!has_usual_size(made.function)) return std::nullopt;
    return made;
  } catch (const Error&) {
    return std::nullopt;  // extents that do not go together
  }
}

}  // namespace baton
