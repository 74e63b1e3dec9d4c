#include "baton/driver/vm/instruction_functions.h"

#include <algorithm>
#include <map>
#include <string>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/types/infer_type.h"

namespace baton::vm {

namespace {

const std::map<std::string, Opcode>& integer_operators() {
  static const std::map<std::string, Opcode> all = {{"add", Opcode::kAdd},
                                                    {"subtract", Opcode::kSubtract},
                                                    {"multiply", Opcode::kMultiply},
                                                    {"minimum", Opcode::kMinimum},
                                                    {"maximum", Opcode::kMaximum},
                                                    {"logical_and", Opcode::kAnd},
                                                    {"logical_or", Opcode::kOr},
                                                    {"equal", Opcode::kEqual},
                                                    {"not_equal", Opcode::kNotEqual},
                                                    {"less", Opcode::kLess},
                                                    {"less_equal", Opcode::kLessEqual},
                                                    {"greater", Opcode::kLess},
                                                    {"greater_equal", Opcode::kLessEqual},
                                                    {"logical_not", Opcode::kNot},
                                                    {"cast", Opcode::kCast}};
  return all;
}

std::optional<IntegerKind> integer_type(const Expr& expr) {
  const TensorTypeNode* tensor = tensor_type_of(expr);
  IntegerKind kind{};
  if (!tensor || tensor->rank() != 0 || !is_integer_kind(tensor->dtype(), &kind)) return {};
  return kind;
}

}  // namespace

std::optional<IntegerFunction> integer_function(const FunctionNode& function) {
  IntegerFunction made;
  std::map<const ExprNode*, int> places;
  for (const Var& param : function.params()) {
    if (!integer_type(Expr(param))) return {};
    places.emplace(param.get(), static_cast<int>(places.size()));
  }
  const auto params = static_cast<int>(places.size());
  bool fits = true;
  post_order(function.body(), [&](const Expr& node) {
    if (!fits || as<VarNode>(node) || node->kind() == ExprKind::kOp) return;
    const std::optional<IntegerKind> kind = integer_type(node);
    fits = kind.has_value();
    if (!fits) return;
    if (const auto* constant = as<ConstantNode>(node)) {
      places[node.get()] = ~static_cast<int>(made.numbers.size());
      made.numbers.emplace_back(integers_of(constant->value())[0], *kind);
      return;
    }
    const auto* call = as<CallNode>(node);
    const auto op =
        call && call->op() ? integer_operators().find(call->op()->name) : integer_operators().end();
    if (op == integer_operators().end()) {
      fits = false;
      return;
    }
    IntegerStep step{op->second, *kind, {}};
    for (const Expr& arg : call->args()) {
      const auto at = places.find(arg.get());
      fits = fits && at != places.end() && integer_type(arg);
      if (fits) step.operands.push_back(at->second);
    }
    if (!fits) return;
    if (call->op()->name.starts_with("greater")) std::swap(step.operands[0], step.operands[1]);
    places[node.get()] = params + static_cast<int>(made.steps.size());
    made.steps.push_back(std::move(step));
  });
  // The last step is the result; a function that only passes on a value is none of this kind.
  if (!fits || made.steps.empty() ||
      places[function.body().get()] != params + static_cast<int>(made.steps.size()) - 1)
    return {};
  return made;
}

std::optional<AppendFunction> append_function(const FunctionNode& function) {
  const CallNode* call = call_of(function.body(), "concatenate");
  const auto* tuple = call ? as<TupleNode>(call->args()[0]) : nullptr;
  if (!tuple || tuple->fields().size() < 2 || int_attr(*call, "axis") != 0) return {};
  const auto number_of = [&](const Expr& value) {
    size_t at = 0;
    while (at < function.params().size() && function.params()[at].get() != value.get()) ++at;
    return at;
  };
  const std::vector<Expr> fields(tuple->fields().begin(), tuple->fields().end());
  const TensorTypeNode* whole = tensor_type_of(fields[0]);
  AppendFunction made{.whole = number_of(fields[0]), .origins = call->origins()};
  if (made.whole == function.params().size() || !whole || !whole->shape()[0].is_any()) return {};
  Expr rows = fields[1];
  if (fields.size() > 2) {
    const std::vector<Expr> others(fields.begin() + 1, fields.end());
    rows = infer_type(Expr(make_call(call->callee(), {make_tuple(others, tuple->with_type({}))},
                                     call->attrs(), call->with_type({}))));
  }
  // A row is appended as it is.
  const auto* reshape = as<CallNode>(rows);
  if (reshape && reshape->op() && reshape->op()->reshape_only) {
    const TensorTypeNode *from = tensor_type_of(reshape->args()[0]), *to = tensor_type_of(rows);
    if (from && to && to->shape()[0] == Dim(1) &&
        std::ranges::equal(from->shape(), std::span(to->shape()).subspan(1)))
      rows = reshape->args()[0];
  }
  made.part = number_of(rows);
  if (made.part < function.params().size())
    return made.part == made.whole ? std::nullopt : std::optional(made);
  bool reads_whole = false;
  std::vector<OriginSet> origins;
  post_order(rows, [&](const Expr& node) {
    reads_whole |= node.get() == fields[0].get();
    if (as<CallNode>(node)) origins.push_back(node->origins());
  });
  if (reads_whole) return {};
  std::vector<Var> params;
  for (const Var& param : function.params())
    if (param.get() != fields[0].get()) params.push_back(param);
  made.rest = make_function(std::move(params), rows, rows->checked_type(), {{"Primitive", int64_t{1}}},
                            NodeInfo(OriginSet::merge_all(origins), {}, {}));
  made.rest = as_ref<FunctionNode>(infer_type(Expr(made.rest)));
  return made;
}

}  // namespace baton::vm
