#include "baton/frontend/onnx/ops/loop.h"

#include <algorithm>

#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

constexpr int64_t kMostUnrolled = 32;            // turns
constexpr int64_t kMostUnrolledNodes = 1024;     // of all turns
constexpr int64_t kMostUnrolledSequence = 4096;  // turns of a loop that carries sequences

const DType kIndex = DType::int_(64);

Value known_scalar(int64_t value, DType dtype) { return KnownIntegers{{value}, true, dtype}; }

/// nullopt: not decided while importing.
std::optional<int64_t> decided(const Value& value) {
  if (value.integers)
    return value.integers->values.size() == 1 && !value.integers->values[0].is_any()
               ? std::optional(value.integers->values[0].value())
               : std::nullopt;
  const auto* constant = value.tensor ? as<ConstantNode>(value.tensor) : nullptr;
  if (!constant || constant->value().size() != 1) return std::nullopt;
  const NDArray& array = constant->value();
  if (array.dtype() == kIndex) return array.as<int64_t>()[0];
  if (array.dtype() == DType::bool_()) return array.as<uint8_t>()[0];
  return std::nullopt;
}

Expr typed_expr(const Expr& expr) { return infer_type(expr); }

Var variable(const std::string& name, const Type& type) { return var(name, type); }

/// A loop with a number of turns that is known at run time.
class RecursiveLoop {
 public:
  RecursiveLoop(Conversion& c, const Loop& loop) : c_(c), loop_(loop) {}

  LoopResults run() {
    for (const Value& each : loop_.carried) {
      if (each.sequence || each.is_none)
        throw c_.not_supported("loops whose number of turns is computed at run time, and that carry a " +
                               std::string(each.sequence ? "sequence," : "optional,"));
      initial_.push_back(c_.tensor(each));
      types_.push_back(initial_.back()->checked_type());
    }
    capture();
    find_types();
    return results();
  }

 private:
  /// What is computed around the loop is computed once.
  void capture() {
    for (const auto& [name, value] : c_.around().outer_values(*loop_.graph)) {
      if (value.sequence || value.is_none || !value.tensor || !needs_variable(value.tensor)) continue;
      bindings_.emplace_back(name, captured(value.tensor));
    }
    for (const Value& each : loop_.more) more_.push_back(captured(c_.tensor(each)));
    if (!loop_.trips.is_absent()) trips_ = captured(scalar_of(c_.tensor(loop_.trips)));
  }

  static bool needs_variable(const Expr& value) { return !as<ConstantNode>(value) && !as<VarNode>(value); }

  Expr captured(const Expr& value) {
    if (!needs_variable(value)) return value;
    const Var var = variable("outer_" + std::to_string(outer_.size()), value->checked_type());
    outer_.emplace_back(var, value);
    return typed_expr(Expr(var));
  }

  /// Writers give numbers of turns and conditions as tensors of one element, too.
  Expr scalar_of(const Expr& value) const {
    return tensor_type(value).rank() == 0 ? value : c_.reshape(value, {});
  }

  Expr truth_of(const Value& condition) const {
    return scalar_of(c_.tensor(condition.is_absent() ? known_scalar(1, DType::bool_()) : condition));
  }

  /// Carried values may change their extents from turn to turn: those that do are unknown ones.
  void find_types() {
    while (true) {
      make_variables();
      turn_ = loop_.turn(typed_expr(Expr(index_)), typed_expr(Expr(condition_)), current(), more_, bindings_);
      bool is_fixed = true;
      for (size_t i = 0; i < types_.size(); ++i) {
        const Type type = joined(c_, types_[i], c_.tensor(turn_.carried[i])->checked_type(),
                                 "what it carries as number " + std::to_string(i));
        is_fixed &= same_type(type, types_[i]);
        types_[i] = type;
      }
      if (is_fixed) return;
    }
  }

  void make_variables() {
    index_ = variable("index", scalar_type(kIndex));
    condition_ = variable("condition", scalar_type(DType::bool_()));
    carried_.clear();
    for (size_t i = 0; i < types_.size(); ++i)
      carried_.push_back(variable("carried_" + std::to_string(i), types_[i]));
  }

  Values current() const {
    Values values;
    for (const Var& each : carried_) values.emplace_back(typed_expr(Expr(each)));
    return values;
  }

  static Type collected_type(const TensorTypeNode& element) {
    std::vector<Dim> shape{Dim::any()};
    for (const Dim each : element.shape()) shape.push_back(element.is_static() ? each : Dim::any());
    return make_ref<const TensorTypeNode>(std::move(shape), element.dtype());
  }

  /// Nothing is collected yet: extents that are not known are 0 until there is an element.
  Expr nothing(const TensorTypeNode& element) const {
    std::vector<int64_t> shape(static_cast<size_t>(element.rank()) + 1, 0);
    for (size_t i = 0; element.is_static() && i < element.shape().size(); ++i)
      shape.at(i + 1) = element.shape().at(i).value();
    return widened(c_, c_.constant(NDArray::zeros(shape, element.dtype())), collected_type(element));
  }

  Expr with_element(const Var& so_far, const Expr& element) const {
    const Expr one = c_.call("expand_dims", {element}, {{"axis", 0}});
    const Expr before = typed_expr(Expr(so_far));
    const Expr both = c_.call("concatenate", {typed_expr(baton::tuple({before, one}))}, {{"axis", 0}});
    if (tensor_type(element).is_static()) return both;
    const Type type = before->checked_type();
    const Expr is_first = c_.call("equal", {typed_expr(Expr(index_)), c_.scalar(0, kIndex)});
    return typed_expr(if_else(is_first, widened(c_, one, type), widened(c_, both, type)));
  }

  LoopResults results() {
    std::vector<Var> params{index_, condition_};
    std::vector<Expr> next{c_.call("add", {typed_expr(Expr(index_)), c_.scalar(1, kIndex)}),
                           truth_of(turn_.condition)};
    std::vector<Expr> first{c_.scalar(0, kIndex), truth_of(loop_.condition)};
    std::vector<Expr> last;
    std::vector<Type> result_types;
    const auto add = [&](const Var& param, const Expr& after, const Expr& before) {
      params.push_back(param);
      next.push_back(after);
      first.push_back(before);
      last.push_back(typed_expr(Expr(param)));
      result_types.push_back(param->annotation());
    };
    for (size_t i = 0; i < carried_.size(); ++i) add(carried_[i], c_.tensor(turn_.carried[i]), initial_[i]);
    for (size_t i = 0; i < turn_.collected.size(); ++i) {
      const Expr element = c_.tensor(turn_.collected[i]);
      const Var so_far = variable("collected_" + std::to_string(i), collected_type(tensor_type(element)));
      add(so_far, with_element(so_far, element), nothing(tensor_type(element)));
    }
    return split(call_of(params, next, first, last, tuple_type(result_types)));
  }

  Expr call_of(const std::vector<Var>& params, const std::vector<Expr>& next, const std::vector<Expr>& first,
               const std::vector<Expr>& last, const Type& result) {
    std::vector<Type> types;
    for (const Var& each : params) types.push_back(each->annotation());
    const Var loop = variable("loop", func_type(types, result));
    Expr goes_on = typed_expr(Expr(condition_));
    if (trips_)
      goes_on = c_.call("logical_and", {goes_on, c_.call("less", {typed_expr(Expr(index_)), trips_})});
    const Expr again = make_call(Expr(loop), next, {}, NodeInfo(OriginScope::current_or_none()));
    const Function body = function(params, if_else(goes_on, again, baton::tuple(last)), result);
    Expr made =
        let(loop, Expr(body), make_call(Expr(loop), first, {}, NodeInfo(OriginScope::current_or_none())));
    for (auto at = outer_.rbegin(); at != outer_.rend(); ++at) made = let(at->first, at->second, made);
    return typed_expr(made);
  }

  LoopResults split(const Expr& all) const {
    LoopResults results;
    for (size_t i = 0; i < carried_.size() + turn_.collected.size(); ++i)
      (i < carried_.size() ? results.carried : results.collected)
          .emplace_back(c_.item(all, static_cast<int>(i)));
    return results;
  }

  Conversion& c_;
  const Loop& loop_;
  std::vector<Expr> initial_;
  std::vector<Type> types_;
  Bindings bindings_;
  Values more_;
  Expr trips_;  ///< null: no limit
  std::vector<std::pair<Var, Expr>> outer_;
  Var index_, condition_;
  std::vector<Var> carried_;
  Turn turn_;
};

Value stacked(const Conversion& c, const Values& elements) {
  std::vector<Expr> rows;
  for (const Value& each : elements) rows.push_back(c.tensor(each));
  return c.call("stack", {typed_expr(baton::tuple(rows))}, {{"axis", 0}});
}

int64_t nodes_of(const Loop& loop) {
  return static_cast<int64_t>(loop.graph->graphs.front()->nodes.size()) + 1;
}

/// nullopt: that there is another turn is decided at run time, or there are too many.
std::optional<LoopResults> unrolled_loop(Conversion& c, const Loop& loop) {
  const bool has_sequence =
      std::ranges::any_of(loop.carried, [](const Value& each) { return each.sequence || each.is_none; });
  const int64_t most =
      has_sequence ? kMostUnrolledSequence : std::min(kMostUnrolled, kMostUnrolledNodes / nodes_of(loop));
  const std::optional<int64_t> trips =
      loop.trips.is_absent() ? std::optional<int64_t>(INT64_MAX) : decided(loop.trips);
  if (!trips || (*trips > most && *trips != INT64_MAX)) return std::nullopt;
  Value condition = loop.condition.is_absent() ? known_scalar(1, DType::bool_()) : loop.condition;
  LoopResults results{loop.carried, {}};
  std::vector<Values> collected(loop.collected);
  for (int64_t index = 0; index < *trips; ++index) {
    const std::optional<int64_t> goes_on = decided(condition);
    if (!goes_on || (*goes_on && index == most)) return std::nullopt;
    if (!*goes_on) break;
    Turn turn = loop.turn(known_scalar(index, kIndex), known_scalar(1, DType::bool_()), results.carried,
                          loop.more, {});
    results.carried = std::move(turn.carried);
    condition = turn.condition.is_absent() ? known_scalar(1, DType::bool_()) : turn.condition;
    for (size_t i = 0; i < loop.collected; ++i) collected[i].push_back(turn.collected[i]);
  }
  // Without a turn the types of elements are not known.
  if (loop.collected && collected.front().empty()) return std::nullopt;
  for (const Values& each : collected) {
    // Elements of different shapes do not make a tensor.
    for (const Value& element : each)
      if (!same_type(c.tensor(element)->checked_type(), c.tensor(each.front())->checked_type()))
        throw c.error("what it collects is " + type_text(c.tensor(each.front())->checked_type()) +
                      " in one turn and " + type_text(c.tensor(element)->checked_type()) + " in another");
    results.collected.push_back(stacked(c, each));
  }
  return results;
}

}  // namespace

Type joined(const Conversion& c, const Type& a, const Type& b, const std::string& what) {
  const auto* left = as_type<TensorTypeNode>(a);
  const auto* right = as_type<TensorTypeNode>(b);
  if (!left || !right || left->rank() != right->rank() || left->dtype() != right->dtype())
    throw c.error(what + " is " + type_text(a) + " or " + type_text(b) +
                  ", as a value at run time says: of one element type and rank it would be supported. If " +
                  "shapes decide that, give them: --shape");
  std::vector<Dim> shape;
  for (size_t i = 0; i < left->shape().size(); ++i)
    shape.push_back(left->shape().at(i) == right->shape().at(i) ? left->shape().at(i) : Dim::any());
  return make_ref<const TensorTypeNode>(std::move(shape), left->dtype());
}

/// Only a function's parameter forgets extents.
Expr widened(const Conversion&, const Expr& value, const Type& type) {
  if (same_type(value->checked_type(), type)) return value;
  const Var var = variable("value", type);
  return typed_expr(make_call(Expr(function({var}, Expr(var), type)), {value}, {},
                              NodeInfo(OriginScope::current_or_none())));
}

LoopResults run_loop(Conversion& c, const Loop& loop) {
  if (auto results = unrolled_loop(c, loop)) {
    c.around().explain("a loop whose turns are decided while importing: its nodes stand for it");
    return std::move(*results);
  }
  return RecursiveLoop(c, loop).run();
}

}  // namespace baton::onnx
