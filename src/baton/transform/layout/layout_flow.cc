#include "baton/transform/layout/layout_flow.h"

#include <algorithm>

#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/layout_parts.h"
#include "baton/transform/layout/layout_hooks.h"
#include "baton/transform/layout/layout_spreader.h"

namespace baton {

namespace {

void flatten(const Type& type, std::vector<const TensorTypeNode*>& into) {
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    for (const Type& field : tuple->fields()) flatten(field, into);
  else
    into.push_back(as_type<TensorTypeNode>(type));
}

bool has_hole(const std::vector<const TensorTypeNode*>& types) {
  return std::ranges::find(types, nullptr) != types.end();
}

/// How a tensor lies now, in the letters that its reader has for the axes: behind transpose(axes=[0, 1, 3,
/// 2]) what was NCWH is NCHW to a pool. TVM 0.11.1 keeps the maker's letters, and so moves what has not
/// moved.
KnownLayout in_letters_of(const LayoutState& state, KnownLayout reader) {
  if (!reader || state.was == reader || state.was->rank() != reader->rank()) return state.now;
  if (state.was->primal().size() != static_cast<size_t>(state.was->rank()))
    return state.now;  // split already
  std::string text;
  for (const LayoutAxis& axis : state.now->axes()) {
    const int at = state.was->find(axis.letter);
    if (at < 0 || !reader->axes()[static_cast<size_t>(at)].is_primal()) return state.now;
    text += axis_text({reader->axes()[static_cast<size_t>(at)].letter, axis.factor}, axis.factor);
  }
  return known_layout(text);
}

/// Plans by the rules of the operators.
class FlowPlanner final : public LayoutPlanner {
 public:
  explicit FlowPlanner(const LayoutWish& wish) : wish_(wish) {}

  bool plans(const OpDef& op) const override { return layout_flow_rule(op) != nullptr; }

  std::optional<PlannedCall> plan(const CallNode& call, const std::vector<Expr>& args,
                                  const LayoutStates& inputs) override {
    const OpDef* op = call.op();
    std::vector<const TensorTypeNode*> types, results;
    for (const Expr& arg : call.args()) flatten(arg->checked_type(), types);
    flatten(call.checked_type(), results);
    if (types.empty() || types.size() != inputs.size() || has_hole(types) || has_hole(results))
      return std::nullopt;
    LayoutQuery query{*op, call.attrs(), types, results, {}, {}};
    for (const LayoutState& input : inputs) query.was.push_back(input.was);
    const auto before = layout_flow_rule(*op)->infer(query);
    if (!before) return std::nullopt;
    for (size_t i = 0; i < inputs.size(); ++i)
      query.now.push_back(inputs[i].now ? in_letters_of(inputs[i], before->inputs[i]) : before->inputs[i]);
    query.was = before->inputs;

    auto wanted = wish_(call, args);
    if (!wanted) wanted = WantedCall{op, call.attrs(), ""};
    const auto rule = layout_flow_rule(*wanted->op);
    const LayoutQuery now{*wanted->op, wanted->attrs,        types,
                          results,     std::move(query.was), std::move(query.now)};
    const auto after = rule ? rule->infer(now) : std::nullopt;
    if (!after || std::ranges::all_of(after->outputs, [](KnownLayout layout) { return !layout; }))
      return std::nullopt;
    PlannedCall planned{wanted->op, after->attrs ? after->attrs : wanted->attrs, std::move(wanted->wants),
                        std::move(wanted->args)};
    for (size_t i = 0; i < inputs.size(); ++i) planned.inputs.push_back({now.now[i], after->inputs[i]});
    for (size_t i = 0; i < after->outputs.size(); ++i)
      planned.outputs.push_back({before->outputs[i], after->outputs[i]});
    return planned;
  }

 private:
  const LayoutWish& wish_;
};

}  // namespace

std::optional<WantedCall> wish_of_user(OpQuestion question, const CallNode& call,
                                       const std::vector<Expr>& args, const std::vector<std::string>& desired,
                                       const std::function<std::optional<WantedCall>()>& own) {
  const auto hook = op_hook(*call.op(), question);
  if (!hook) return own();
  const Expr answer = *hook ? (*hook)({call, args, desired}) : Expr();
  if (!answer) return std::nullopt;
  const auto* made = as<CallNode>(answer);
  if (!made || !made->op())
    throw UsageError(call.op()->name + ": a layout rule returns a call of an operator, or nothing");
  if (made->args().size() != args.size())
    throw UsageError(call.op()->name + ": a layout rule returned a call of " +
                     std::to_string(made->args().size()) + " arguments; as many as there were (" +
                     std::to_string(args.size()) + ") are expected");
  return WantedCall{made->op(), made->attrs(), "was altered by a rule of the user", made->args()};
}

Function let_layouts_flow(const Function& function, const LayoutWish& wish) {
  FlowPlanner planner(wish);
  return spread_layouts(function, planner);
}

}  // namespace baton
