#include "baton/transform/layout_flow.h"

#include <algorithm>

#include "baton/ir/visit.h"
#include "baton/ops/rules/layout_flow_rules.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

/// One tensor, as it is computed now, and how it lies. Without layouts: as in the program.
struct Part {
  Expr expr;
  KnownLayout was = nullptr, now = nullptr;
  bool changed() const { return was != now; }
};
using Parts = std::vector<Part>;

void flatten(const Type& type, std::vector<const TensorTypeNode*>& into) {
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    for (const Type& field : tuple->fields()) flatten(field, into);
  else
    into.push_back(as_type<TensorTypeNode>(type));
}

bool has_hole(const std::vector<const TensorTypeNode*>& types) {
  return std::ranges::find(types, nullptr) != types.end();
}

/// Beside what nodes are rewritten to, parts_ keeps how their tensors lie. What only operators with rules use is rewritten
/// to its value as it lies now; everything else, which no rule looks at, to its value as in the program.
class LayoutSpreader final : public Rewriter {
 public:
  LayoutSpreader(const Function& function, const LayoutWish& wish) : wish_(wish) {
    post_order(Expr(function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (call && call->op() && layout_flow_rule_of(*call->op())) return;
      for_each_child(*node, [&](const Expr& child) { plain_.insert(child.get()); });
    });
  }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* tuple = as<TupleNode>(original)) return rewrite_tuple(*tuple, rebuilt);
    if (const auto* item = as<TupleGetItemNode>(original)) return rewrite_item(*item, rebuilt);
    if (const auto* call = as<CallNode>(original); call && call->op()) return rewrite_call(*call, rebuilt);
    return rebuilt;
  }

  Expr rewrite_tuple(const TupleNode& tuple, const Expr& rebuilt) {
    Parts parts;
    for (const Expr& field : tuple.fields()) {
      if (as_type<TupleTypeNode>(field->checked_type())) return rebuilt;  // a tuple of tuples keeps the program's layouts
      parts.push_back(part_of(field));
    }
    parts_.insert(&tuple, std::move(parts));
    return rebuilt;
  }

  Expr rewrite_item(const TupleGetItemNode& item, const Expr& rebuilt) {
    const auto* literal = as<TupleNode>(item.tuple());
    const Parts* parts = parts_.find(item.tuple().get());
    const auto index = static_cast<size_t>(item.index());
    if ((literal && index >= literal->fields().size()) || (parts && index >= parts->size())) return rebuilt;  // InferType says so
    if (parts) parts_.insert(&item, Parts{(*parts)[item.index()]});
    if (literal) return mapped(literal->fields()[item.index()]);
    if (!parts) return rebuilt;
    return as<TupleNode>(mapped(item.tuple()))->fields()[item.index()];
  }

  Part part_of(const Expr& original) const {
    const Parts* parts = parts_.find(original.get());
    return parts && parts->size() == 1 ? parts->front() : Part{mapped(original)};
  }

  /// The tensors of an argument, one after another.
  Parts parts_of(const Expr& arg, size_t count) const {
    if (!as_type<TupleTypeNode>(arg->checked_type())) return {part_of(arg)};
    if (const Parts* parts = parts_.find(arg.get())) return *parts;
    return Parts(count);  // computed somewhere else: it stays whole
  }

  Expr rewrite_call(const CallNode& call, const Expr& rebuilt) {
    const OpDef* op = call.op();
    const LayoutFlowRule* rule = layout_flow_rule_of(*op);
    if (!rule) return rebuilt;
    std::vector<Parts> args;
    std::vector<const TensorTypeNode*> types, results;
    for (const Expr& arg : call.args()) {
      const size_t before = types.size();
      flatten(arg->checked_type(), types);
      args.push_back(parts_of(arg, types.size() - before));
      if (args.back().size() != types.size() - before) return in_program_layout(call, rebuilt);
    }
    flatten(call.checked_type(), results);
    if (types.empty() || has_hole(types) || has_hole(results)) return in_program_layout(call, rebuilt);
    LayoutQuery query{*op, call.attrs(), types, results, {}, {}};
    for (const Parts& parts : args)
      for (const Part& part : parts) query.was.push_back(part.was);
    const auto before = rule->infer(query);
    if (!before) return in_program_layout(call, rebuilt);
    for (const Parts& parts : args)
      for (const Part& part : parts) {
        const size_t i = query.now.size();
        query.now.push_back(part.now ? in_letters_of(part, before->inputs[i]) : before->inputs[i]);
      }
    query.was = before->inputs;

    auto wanted = wish_(call, as<CallNode>(rebuilt)->args());
    if (!wanted) wanted = WantedCall{op, call.attrs(), ""};
    if (!wanted->args.empty()) replace(args, wanted->args);
    const LayoutFlowRule* now_rule = layout_flow_rule_of(*wanted->op);
    const LayoutQuery now{*wanted->op, wanted->attrs, types, results, std::move(query.was), std::move(query.now)};
    const auto after = now_rule ? now_rule->infer(now) : std::nullopt;
    if (!after || std::ranges::all_of(after->outputs, [](KnownLayout layout) { return !layout; }))
      return in_program_layout(call, rebuilt);
    if (after->attrs) wanted->attrs = after->attrs;
    return finish(call, rebuilt, *wanted, args, now.now, *before, *after);
  }

  /// The user's arguments in the place of the program's: they lie as those do.
  static void replace(std::vector<Parts>& parts, const std::vector<Expr>& args) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto* literal = as<TupleNode>(args[i]);
      for (size_t k = 0; k < parts[i].size(); ++k) {
        if (literal && k < literal->fields().size()) parts[i][k].expr = literal->fields()[k];
        if (!literal && parts[i].size() == 1) parts[i][k].expr = args[i];
      }
    }
  }

  /// How `part` lies now, in the letters that its reader has for the axes: behind transpose(axes=[0, 1, 3, 2]) what was NCWH
  /// is NCHW to a pool. TVM 0.11.1 keeps the maker's letters, and so moves what has not moved.
  static KnownLayout in_letters_of(const Part& part, KnownLayout reader) {
    if (!reader || part.was == reader || part.was->rank() != reader->rank()) return part.now;
    if (part.was->primal().size() != static_cast<size_t>(part.was->rank())) return part.now;  // split already
    std::string text;
    for (const LayoutAxis& axis : part.now->axes()) {
      const int at = part.was->find(axis.letter);
      if (at < 0 || !reader->axes()[static_cast<size_t>(at)].is_primal()) return part.now;
      const char letter = reader->axes()[static_cast<size_t>(at)].letter;
      text += axis.is_primal() ? std::string(1, letter) : std::to_string(axis.factor) + static_cast<char>(letter - 'A' + 'a');
    }
    return known_layout(text);
  }

  /// A call whose operator takes its arguments as in the program.
  Expr in_program_layout(const CallNode& call, const Expr& rebuilt) {
    const auto* over = as<CallNode>(rebuilt);
    std::vector<Expr> args = over->args();
    for (size_t i = 0; i < args.size(); ++i) {
      const Parts* parts = parts_.find(call.args()[i].get());
      if (!parts || parts->size() != 1 || as_type<TupleTypeNode>(call.args()[i]->checked_type())) continue;
      if (!parts->front().changed()) continue;
      args[i] = convert(call, {}, parts->front(), nullptr, nullptr);
    }
    if (args == over->args()) return rebuilt;
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
  }

  Expr finish(const CallNode& call, const Expr& rebuilt, const WantedCall& wanted, const std::vector<Parts>& given,
              const Layouts& now, const LayoutFlow& before, const LayoutFlow& after) {
    const auto* over = as<CallNode>(rebuilt);
    std::vector<Expr> args;
    bool same = wanted.op == call.op() && wanted.attrs.get() == call.attrs().get();
    const std::string& wants = wanted.wants;
    size_t at = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool is_tuple = as_type<TupleTypeNode>(call.args()[i]->checked_type()) != nullptr;
      const auto* literal = is_tuple ? as<TupleNode>(over->args()[i]) : nullptr;
      std::vector<Expr> fields;
      bool as_rebuilt = true;
      for (const Part& part : given[i]) {
        const size_t slot = at++;
        if (!part.expr) continue;  // a whole tuple
        fields.push_back(convert(call, wants, part, now[slot], after.inputs[slot]));
        as_rebuilt &= fields.back() == (literal ? literal->fields()[fields.size() - 1] : over->args()[i]);
      }
      same &= as_rebuilt;
      args.push_back(as_rebuilt ? over->args()[i]
                     : is_tuple ? Expr(make_tuple(std::move(fields), NodeInfo(OriginSet::none(), call.args()[i]->span())))
                                : fields.at(0));
    }
    const Expr result = same ? rebuilt : Expr(make_call(op_expr(*wanted.op), std::move(args), wanted.attrs, call.with_type({})));
    const auto state = [&](Part part, size_t output) {
      if (before.outputs[output] && after.outputs[output]) part.was = before.outputs[output], part.now = after.outputs[output];
      return part;
    };
    if (!as_type<TupleTypeNode>(call.checked_type())) {
      const Part part = state({result}, 0);
      parts_.insert(&call, Parts{part});
      return plain_.contains(&call) ? convert(call, wants, part, nullptr, nullptr) : result;
    }
    Parts parts;
    std::vector<Expr> values;
    for (size_t i = 0; i < after.outputs.size(); ++i) {
      const NodeInfo info(OriginSet::none(), call.span());
      parts.push_back(state({make_tuple_get_item(result, static_cast<int>(i), info)}, i));
      values.push_back(convert(call, wants, parts.back(), nullptr, nullptr));
    }
    parts_.insert(&call, std::move(parts));
    return make_tuple(std::move(values), NodeInfo(OriginSet::none(), call.span()));
  }

  /// `part`, which lies as `now`, as `call` wants it; without a wish as in the program. `wants`: why; may be empty.
  Expr convert(const CallNode& call, const std::string& wants, const Part& part, KnownLayout now, KnownLayout want) {
    if (want && now) return now == want ? part.expr : transform(call, wants, part.expr, now, want);
    return part.changed() ? transform(call, wants, part.expr, part.now, part.was) : part.expr;
  }

  Expr transform(const CallNode& call, const std::string& wants, const Expr& expr, KnownLayout from, KnownLayout to) {
    std::vector<Made>& made = *made_.insert(expr.get(), {}).first;
    for (const Made& each : made)
      if (each.from == from && each.to == to) return each.result;
    kept_.push_back(expr);
    const std::string reason = wants.empty() ? "computes in " + to->str() : wants;
    const OriginScope scope(call.origins().empty() ? OriginSet::none()
                                                   : OriginSet::made_for(call.origins(), place_of(call) + " " + reason));
    std::string missing;
    for (const LayoutAxis& axis : to->axes())
      if (axis.is_primal() && from->find(axis.letter) < 0) missing += axis.letter;
    Expr result = expr;
    if (!missing.empty())
      result = call_op("expand_dims", {expr}, {{"axis", 0}, {"num_newaxis", static_cast<int64_t>(missing.size())}});
    const std::string whole = missing + from->str(), wanted = to->str();
    if (whole != wanted) result = call_op("layout_transform", {result}, {{"src_layout", whole}, {"dst_layout", wanted}});
    made.push_back({from, to, result});
    return result;
  }

  struct Made {
    KnownLayout from, to;
    Expr result;
  };
  const LayoutWish& wish_;
  PointerSet plain_;         // nodes of the program that are used by what has no rule
  PointerMap<Parts> parts_;  // by the node of the program
  PointerMap<std::vector<Made>> made_;
  std::vector<Expr> kept_;  // made_ names nodes by address: they must stay alive
};

}  // namespace

std::optional<WantedCall> wish_of_user(OpQuestion question, const CallNode& call, const std::vector<Expr>& args,
                                       const std::vector<std::string>& desired,
                                       const std::function<std::optional<WantedCall>()>& own) {
  const auto hook = op_hook(*call.op(), question);
  if (!hook) return own();
  const Expr answer = *hook ? (*hook)({call, args, desired}) : Expr();
  if (!answer) return std::nullopt;
  const auto* made = as<CallNode>(answer);
  if (!made || !made->op()) throw UsageError(call.op()->name + ": a layout rule returns a call of an operator, or nothing");
  if (made->args().size() != args.size())
    throw UsageError(call.op()->name + ": a layout rule returned a call of " + std::to_string(made->args().size()) +
                     " arguments; as many as there were (" + std::to_string(args.size()) + ") are expected");
  return WantedCall{made->op(), made->attrs(), "was altered by a rule of the user", made->args()};
}

Function spread_layouts(const Function& function, const LayoutWish& wish) {
  return as_ref<FunctionNode>(LayoutSpreader(function, wish).run(function));
}

}  // namespace baton
