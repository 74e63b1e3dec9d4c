#include "baton/transform/layout/layout_spreader.h"

#include "baton/ir/build.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

/// One tensor, as it is computed now, and how it lies.
struct Part {
  Expr expr;
  LayoutState state = {};
};
using Parts = std::vector<Part>;

size_t tensors_in(const Type& type) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple) return 1;
  size_t count = 0;
  for (const Type& field : tuple->fields()) count += tensors_in(field);
  return count;
}

bool is_tuple(const Expr& expr) { return as_type<TupleTypeNode>(expr->checked_type()) != nullptr; }

/// Beside what nodes are rewritten to, parts_ keeps how their tensors lie. What only planned calls use is
/// rewritten to its value as it lies now; everything else to its value as in the program.
class LayoutSpreader final : public Rewriter {
 public:
  LayoutSpreader(const Function& function, LayoutPlanner& planner) : planner_(planner) {
    post_order(Expr(function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (call && call->op() && planner_.plans(*call->op())) return;
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
      if (is_tuple(field)) return rebuilt;  // a tuple of tuples keeps the program's layouts
      parts.push_back(part_of(field));
    }
    parts_.insert(&tuple, std::move(parts));
    return rebuilt;
  }

  Expr rewrite_item(const TupleGetItemNode& item, const Expr& rebuilt) {
    const auto* literal = as<TupleNode>(item.tuple());
    const Parts* parts = parts_.find(item.tuple().get());
    const auto index = static_cast<size_t>(item.index());
    if ((literal && index >= literal->fields().size()) || (parts && index >= parts->size()))
      return rebuilt;  // InferType says so
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
  Parts parts_of(const Expr& arg) const {
    if (!is_tuple(arg)) return {part_of(arg)};
    if (const Parts* parts = parts_.find(arg.get())) return *parts;
    return Parts(tensors_in(arg->checked_type()));  // computed somewhere else: it stays whole
  }

  Expr rewrite_call(const CallNode& call, const Expr& rebuilt) {
    if (!planner_.plans(*call.op())) return rebuilt;
    std::vector<Parts> args;
    LayoutStates inputs;
    for (const Expr& arg : call.args()) {
      args.push_back(parts_of(arg));
      for (const Part& part : args.back()) inputs.push_back(part.state);
    }
    const auto planned = planner_.plan(call, as_they_lie(as<CallNode>(rebuilt)->args(), args), inputs);
    if (!planned || planned->outputs.size() != tensors_in(call.checked_type()))
      return in_program_layout(call, rebuilt);
    if (!planned->args.empty()) replace(args, planned->args);
    return finish(call, rebuilt, *planned, args);
  }

  /// The rewritten arguments of a call, each tensor as it lies now: where others use it in the program's
  /// layout, it was rewritten to that.
  static std::vector<Expr> as_they_lie(std::vector<Expr> args, const std::vector<Parts>& parts) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (!as<TupleNode>(args[i])) {
        if (parts[i].size() == 1 && parts[i][0].expr) args[i] = parts[i][0].expr;
        continue;
      }
      std::vector<Expr> fields = as<TupleNode>(args[i])->fields();
      for (size_t k = 0; k < fields.size() && k < parts[i].size(); ++k)
        if (parts[i][k].expr) fields[k] = parts[i][k].expr;
      if (fields != as<TupleNode>(args[i])->fields())
        args[i] = make_tuple(std::move(fields), NodeInfo(OriginSet::none(), args[i]->span()));
    }
    return args;
  }

  /// The planner's arguments in the place of the program's: they lie as those do.
  static void replace(std::vector<Parts>& parts, const std::vector<Expr>& args) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto* literal = as<TupleNode>(args[i]);
      for (size_t k = 0; k < parts[i].size(); ++k) {
        if (literal && k < literal->fields().size()) parts[i][k].expr = literal->fields()[k];
        if (!literal && parts[i].size() == 1) parts[i][k].expr = args[i];
      }
    }
  }

  /// A call whose operator takes its arguments as in the program.
  Expr in_program_layout(const CallNode& call, const Expr& rebuilt) {
    const auto* over = as<CallNode>(rebuilt);
    std::vector<Expr> args = over->args();
    for (size_t i = 0; i < args.size(); ++i) {
      const Parts* parts = parts_.find(call.args()[i].get());
      if (!parts || parts->size() != 1 || is_tuple(call.args()[i]) || !parts->front().state.changed())
        continue;
      args[i] = convert(call, {}, parts->front(), {});
    }
    if (args == over->args()) return rebuilt;
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
  }

  Expr finish(const CallNode& call, const Expr& rebuilt, const PlannedCall& planned,
              const std::vector<Parts>& given) {
    const auto* over = as<CallNode>(rebuilt);
    std::vector<Expr> args;
    bool same = planned.op == call.op() && planned.attrs.get() == call.attrs().get();
    size_t at = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool takes_tuple = is_tuple(call.args()[i]);
      const auto* literal = takes_tuple ? as<TupleNode>(over->args()[i]) : nullptr;
      std::vector<Expr> fields;
      bool as_rebuilt = true;
      for (const Part& part : given[i]) {
        const LayoutState& wanted = planned.inputs[at++];
        if (!part.expr) continue;  // a whole tuple
        fields.push_back(convert(call, planned.wants, part, wanted));
        if (i < planned.prepare.size() && planned.prepare[i])
          fields.back() = prepared(call, planned, i, fields.back());
        as_rebuilt &= fields.back() == (literal ? literal->fields()[fields.size() - 1] : over->args()[i]);
      }
      same &= as_rebuilt;
      args.push_back(as_rebuilt    ? over->args()[i]
                     : takes_tuple ? Expr(make_tuple(std::move(fields),
                                                     NodeInfo(OriginSet::none(), call.args()[i]->span())))
                                   : fields.at(0));
    }
    const Expr result =
        same ? rebuilt
             : Expr(make_call(op_expr(*planned.op), std::move(args), planned.attrs, call.with_type({})));
    const auto state = [&](size_t output) {
      const LayoutState& known = planned.outputs[output];
      return known.was && known.now ? known : LayoutState();
    };
    if (!as_type<TupleTypeNode>(call.checked_type())) {
      const Part part{result, state(0)};
      parts_.insert(&call, Parts{part});
      return plain_.contains(&call) ? convert(call, planned.wants, part, {}) : result;
    }
    Parts parts;
    std::vector<Expr> values;
    for (size_t i = 0; i < planned.outputs.size(); ++i) {
      const NodeInfo info(OriginSet::none(), call.span());
      parts.push_back({make_tuple_get_item(result, static_cast<int>(i), info), state(i)});
      values.push_back(convert(call, planned.wants, parts.back(), {}));
    }
    parts_.insert(&call, std::move(parts));
    return make_tuple(std::move(values), NodeInfo(OriginSet::none(), call.span()));
  }

  static Expr prepared(const CallNode& call, const PlannedCall& planned, size_t arg, const Expr& value) {
    const OriginScope scope(made_for(call, planned.wants));
    return planned.prepare[arg](value);
  }

  /// `part` as `call` wants it; without a wish as in the program. `wants`: why; may be empty.
  Expr convert(const CallNode& call, const std::string& wants, const Part& part, const LayoutState& wanted) {
    const auto [was, now] = part.state;
    if (wanted.was && wanted.now)
      return wanted.was == wanted.now ? part.expr : transform(call, wants, part.expr, wanted.was, wanted.now);
    return part.state.changed() ? transform(call, wants, part.expr, now, was) : part.expr;
  }

  static OriginSet made_for(const CallNode& call, const std::string& wants) {
    return call.origins().empty() ? OriginSet::none()
                                  : OriginSet::made_for(call.origins(), place_of(call) + " " + wants);
  }

  Expr transform(const CallNode& call, const std::string& wants, const Expr& expr, KnownLayout from,
                 KnownLayout to) {
    std::vector<Made>& made = *made_.insert(expr.get(), {}).first;
    for (const Made& each : made)
      if (each.from == from && each.to == to) return each.result;
    kept_.push_back(expr);
    const OriginScope scope(made_for(call, wants.empty() ? "computes in " + to->str() : wants));
    std::string missing;
    for (const LayoutAxis& axis : to->axes())
      if (axis.is_primal() && from->find(axis.letter) < 0) missing += axis.letter;
    Expr result = expr;
    if (!missing.empty())
      result = call_op("expand_dims", {expr},
                       {{"axis", 0}, {"num_newaxis", static_cast<int64_t>(missing.size())}});
    const std::string whole = missing + from->str(), wanted = to->str();
    if (whole != wanted)
      result = call_op("layout_transform", {result}, {{"src_layout", whole}, {"dst_layout", wanted}});
    made.push_back({from, to, result});
    return result;
  }

  struct Made {
    KnownLayout from, to;
    Expr result;
  };
  LayoutPlanner& planner_;
  PointerSet plain_;         // nodes of the program that are used by others than planned calls
  PointerMap<Parts> parts_;  // by the node of the program
  PointerMap<std::vector<Made>> made_;
  std::vector<Expr> kept_;  // made_ names nodes by address: they must stay alive
};

}  // namespace

Function spread_layouts(const Function& function, LayoutPlanner& planner) {
  return as_ref<FunctionNode>(LayoutSpreader(function, planner).run(function));
}

}  // namespace baton
