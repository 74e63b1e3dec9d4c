#include "baton/driver/cut/mark_region.h"

#include <map>

#include "baton/byoc/annotation.h"
#include "baton/driver/cut/cut.h"
#include "baton/driver/cut/cut_graph.h"
#include "baton/pass/causes.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {

namespace {

/// Rewrites the program around the region; types are kept.
class Outside final : public Rewriter {
 public:
  using Rewriter::map;

 private:
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }
};

class Marker {
 public:
  Marker(const CutGraph& graph, const std::vector<bool>& chosen, const std::string& compiler)
      : graph_(graph), chosen_(chosen), marks_(compiler), causes_(Expr(graph.main()), graph.module().get()) {}

  Function run() {
    for (uint32_t i = 0; i < graph_.nodes().size(); ++i)
      if (chosen_[i]) add_inside(i);
    for (uint32_t i = 0; i < graph_.nodes().size(); ++i) leave(i);
    const Function& main = graph_.main();
    return remake_function(*main, main->params(), outside_.run(main->body()));
  }

 private:
  OriginSet made_for(uint32_t step) {
    const Expr& expr = graph_[step].expr;
    std::vector<OriginSet> sets;
    for (const Origin* origin : graph_[step].operators)
      sets.push_back(OriginSet::of(Ref<const Origin>(origin)));
    return sets.empty() ? causes_.made_for(expr, marks_.reason())
                        : OriginSet::made_for(OriginSet::merge_all(sets), marks_.reason());
  }

  void add_inside(uint32_t step) {
    const auto& call = static_cast<const CallNode&>(*graph_[step].expr);
    const OriginSet origins = made_for(step);
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) args.push_back(within(arg, origins));
    inside_.insert(&call, Expr(make_call(call.callee(), std::move(args), call.attrs(), call.info())));
  }

  /// `value` as an operand of a chosen step: computed in the region, or wrapped in compiler_begin.
  Expr within(const Expr& value, const OriginSet& origins) {
    const CutValue part = CutGraph::resolve(value);
    if (const Expr* computed = inside_.find(part.base.get())) return inside_item(*computed, part);
    if (const auto* tuple = as<TupleNode>(part.base)) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields()) fields.push_back(within(field, origins));
      return make_tuple(std::move(fields), part.base->info());
    }
    return begun(outside_.run(item_at(part.base, part.path)), origins);
  }

  Expr begun(const Expr& value, const OriginSet& origins) {
    const auto* tuple = as_type<TupleTypeNode>(value->checked_type());
    if (!tuple) return marks_.begin(value, origins);
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      fields.push_back(begun(item_at(value, {static_cast<int>(i)}), origins));
    return make_tuple(std::move(fields), no_operator(value->checked_type()));
  }

  /// Adds compiler_end for the values of the region used elsewhere.
  void leave(uint32_t number) {
    const Expr& expr = graph_[number].expr;
    const CutValue part = CutGraph::resolve(expr);
    const Expr* computed = inside_.find(part.base.get());
    if (computed) outside_.map(expr, ended(*computed, part, made_for(graph_.number_of(part.base.get()))));
  }

  /// One compiler_end per tensor.
  Expr ended(const Expr& computed, const CutValue& part, const OriginSet& origins) {
    if (const auto known = ended_.find(part); known != ended_.end()) return known->second;
    const Expr value = inside_item(computed, part);
    const auto* tuple = as_type<TupleTypeNode>(value->checked_type());
    Expr end;
    if (!tuple) {
      end = marks_.end(value, origins);
    } else {
      std::vector<Expr> fields;
      for (size_t i = 0; i < tuple->fields().size(); ++i) {
        CutValue field = part;
        field.path.push_back(static_cast<int>(i));
        fields.push_back(ended(computed, field, origins));
      }
      end = make_tuple(std::move(fields), no_operator(value->checked_type()));
    }
    ended_.emplace(part, end);
    return end;
  }

  Expr inside_item(const Expr& computed, const CutValue& part) {
    Expr& item = items_[part];
    if (!item) item = item_at(computed, part.path);
    return item;
  }

  const CutGraph& graph_;
  const std::vector<bool>& chosen_;
  const CompilerMarks marks_;
  Causes causes_;
  Outside outside_;
  PointerMap<Expr> inside_;  // by step
  std::map<CutValue, Expr> items_, ended_;
};

bool enters_nothing(const CutNode& step) {
  const auto* call = as<CallNode>(step.expr);
  return call && call->args().empty();
}

}  // namespace

MarkedModule mark_region(const CutGraph& graph, const CutChoice& choice, const std::string& compiler,
                         const BuildContext& context) {
  if (compiler.empty()) throw UsageError("the compiler has no name");
  std::vector<bool> chosen = choice.chosen;
  MarkedModule result;
  result.left_out = choice.left_out;
  PointerSet left;
  bool any = false;
  for (uint32_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    if (!graph[i].control.empty())
      throw NotSupported("a region for `" + compiler + "` cannot hold " + graph[i].control +
                         ": choose what is before or behind it");
    if (const auto* call = as<CallNode>(graph[i].expr);
        call && call->callee()->kind() == ExprKind::kFunction && graph.captures(call->callee()))
      throw NotSupported("a region for `" + compiler + "` cannot hold " + graph[i].inside +
                         ": it uses values that are not its arguments");
    if (enters_nothing(graph[i])) {
      chosen[i] = false;
      for (const Origin* origin : graph[i].operators) {
        left.insert(origin);
        result.left_out.push_back({origin, "it reads nothing, so no mark can stand before it"});
      }
    }
    any |= chosen[i];
  }
  if (!any) throw Error("nothing is left to mark for `" + compiler + "`: what was chosen reads no value");
  for (const CutOperator& each : choice.operators)
    if (!left.contains(each.origin)) result.operators.push_back(each);
  const Function marked = Marker(graph, chosen, compiler).run();
  const Pass mark = module_pass({0, "MarkRegion", {}}, [&](IRModule module, const PassContext&) {
    module->replace("main", marked);
    return module;
  });
  result.module = (*make_pass("InferType"))((*mark)(graph.module(), context), context);
  return result;
}

IRModule partition_marked(const IRModule& marked, const BuildContext& context) {
  return (*make_pass("PartitionGraph"))((*make_pass("MergeCompilerRegions"))(marked, context), context);
}

}  // namespace baton
