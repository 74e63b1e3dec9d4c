#include "baton/transform/layout_flow.h"

#include <algorithm>
#include <map>

#include "baton/ir/layout_rule.h"
#include "baton/ops/rules/layout_flow_rules.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

/// One tensor, as it is computed now, and how it lies. Without layouts: as in the program.
struct Part {
  Expr expr;
  LayoutState state = {};
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

/// What a node is rewritten to is its value as in the program: what no rule looks at needs no care. Beside it parts_
/// keeps what operators that can use it take instead.
class LayoutSpreader final : public Rewriter {
 public:
  explicit LayoutSpreader(const LayoutWish& wish) : wish_(wish) {}

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
      if (args.back().size() != types.size() - before) return rebuilt;
    }
    flatten(call.checked_type(), results);
    if (types.empty() || has_hole(types) || has_hole(results)) return rebuilt;
    LayoutQuery query{*op, call.attrs(), types, results, {}, {}};
    for (const Parts& parts : args)
      for (const Part& part : parts) query.was.push_back(part.state.was);
    const auto before = rule->infer(query);
    if (!before) return rebuilt;
    for (const Parts& parts : args)
      for (const Part& part : parts) {
        const size_t i = query.now.size();
        query.now.push_back(part.state.now ? in_words_of(part.state, before->inputs[i]) : before->inputs[i]);
      }
    query.was = before->inputs;

    auto wanted = wish_(call);
    if (!wanted) wanted = WantedCall{op, call.attrs(), ""};
    const LayoutFlowRule* now_rule = layout_flow_rule_of(*wanted->op);
    const LayoutQuery now{*wanted->op, wanted->attrs, types, results, query.was, query.now};
    const auto after = now_rule ? now_rule->infer(now) : std::nullopt;
    const auto is_known = [](const std::optional<Layout>& layout) { return layout.has_value(); };
    if (!after || std::ranges::none_of(after->outputs, is_known)) return rebuilt;
    const Attrs attrs = after->attrs ? after->attrs : wanted->attrs;
    const bool same_op = wanted->op == op && attrs.get() == call.attrs().get();
    if (wanted->wants.empty())
      wanted->wants = after->outputs[0] ? "computes in " + after->outputs[0]->str() : "computes as it is";
    return finish(call, rebuilt, {wanted->op, attrs, wanted->wants}, same_op, args, query.now, *before, *after);
  }

  // How a tensor lies, in the letters that its reader has for the axes: behind transpose(axes=[0, 1, 3, 2]) what was NCWH is
  // NCHW to a pool. TVM 0.11.1 keeps the maker's letters, and so moves what has not moved.
  static std::optional<Layout> in_words_of(const LayoutState& state, const std::optional<Layout>& reader) {
    if (!reader || !state.was || *state.was == *reader || state.was->rank() != reader->rank()) return state.now;
    if (state.was->primal().size() != static_cast<size_t>(state.was->rank())) return state.now;  // split already
    std::string text;
    for (const LayoutAxis& axis : state.now->axes()) {
      const int at = state.was->find(axis.letter);
      if (at < 0 || !reader->axes()[static_cast<size_t>(at)].is_primal()) return state.now;
      const char letter = reader->axes()[static_cast<size_t>(at)].letter;
      if (axis.is_primal())
        text += letter;
      else
        text += std::to_string(axis.factor) + static_cast<char>(letter - 'A' + 'a');
    }
    return Layout::parse(text);
  }

  Expr finish(const CallNode& call, const Expr& rebuilt, const WantedCall& wanted, bool same_op,
              const std::vector<Parts>& given, const Layouts& now, const LayoutFlow& before, const LayoutFlow& after) {
    const OriginSet made = made_for(call, wanted.wants);
    const auto* over = as<CallNode>(rebuilt);
    std::vector<Expr> args;
    bool same = same_op;
    size_t at = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool is_tuple = as_type<TupleTypeNode>(call.args()[i]->checked_type()) != nullptr;
      std::vector<Expr> fields;
      bool as_rebuilt = true;
      for (const Part& part : given[i]) {
        const size_t slot = at++;
        if (!part.expr) continue;  // a whole tuple
        const OriginScope scope(made);
        fields.push_back(convert(part, now[slot], after.inputs[slot]));
        const auto* literal = is_tuple ? as<TupleNode>(over->args()[i]) : nullptr;
        const Expr& in_rebuilt = literal ? literal->fields()[fields.size() - 1] : over->args()[i];
        as_rebuilt &= fields.back() == in_rebuilt;
      }
      same &= as_rebuilt;
      args.push_back(as_rebuilt ? over->args()[i]
                     : is_tuple ? Expr(make_tuple(std::move(fields), NodeInfo(OriginSet::none(), call.args()[i]->span())))
                                : fields.at(0));
    }
    const Expr result = same ? rebuilt : Expr(make_call(op_expr(*wanted.op), std::move(args), wanted.attrs, call.with_type({})));
    Parts parts;
    std::vector<Expr> values;
    const bool is_tuple = as_type<TupleTypeNode>(call.checked_type()) != nullptr;
    for (size_t i = 0; i < after.outputs.size(); ++i) {
      Part part{is_tuple ? Expr(make_tuple_get_item(result, static_cast<int>(i), NodeInfo(OriginSet::none(), call.span()))) : result};
      if (before.outputs[i] && after.outputs[i]) part.state = {before.outputs[i], after.outputs[i]};
      const OriginScope scope(made);
      values.push_back(convert(part, {}, {}));
      parts.push_back(std::move(part));
    }
    parts_.insert(&call, std::move(parts));
    if (!is_tuple) return values[0];
    return make_tuple(std::move(values), NodeInfo(OriginSet::none(), call.span()));
  }

  static OriginSet made_for(const CallNode& call, const std::string& wants) {
    return call.origins().empty() ? OriginSet::none()
                                  : OriginSet::made_for(call.origins(), place_of(call) + " " + wants);
  }

  /// `part`, which lies as `now`, as it is wanted; without a wish as in the program.
  Expr convert(const Part& part, const std::optional<Layout>& now, const std::optional<Layout>& want) {
    if (want && now) return transform(part.expr, *now, *want);
    return part.state.changed() ? transform(part.expr, *part.state.now, *part.state.was) : part.expr;
  }

  Expr transform(const Expr& expr, const Layout& from, const Layout& to) {
    if (from == to) return expr;
    Expr& result = transformed_[{expr.get(), from.str() + ">" + to.str()}];
    if (result) return result;
    kept_.push_back(expr);
    std::string missing;
    for (const char letter : to.primal())
      if (from.find(letter) < 0) missing += letter;
    result = expr;
    if (!missing.empty())
      result = call_op("expand_dims", {expr}, {{"axis", 0}, {"num_newaxis", static_cast<int64_t>(missing.size())}});
    const std::string whole = missing + from.str();
    if (whole != to.str()) result = call_op("layout_transform", {result}, {{"src_layout", whole}, {"dst_layout", to.str()}});
    return result;
  }

  const LayoutWish& wish_;
  PointerMap<Parts> parts_;  // by the node of the program
  std::map<std::pair<const ExprNode*, std::string>, Expr> transformed_;
  std::vector<Expr> kept_;  // the map names nodes by address: they must stay alive
};

}  // namespace

Function spread_layouts(const Function& function, const LayoutWish& wish) {
  return as_ref<FunctionNode>(LayoutSpreader(wish).run(function));
}

}  // namespace baton
