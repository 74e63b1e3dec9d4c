#include "baton/byoc/cut_regions.h"

#include <algorithm>

#include "baton/byoc/annotation.h"
#include "baton/byoc/external.h"
#include "baton/byoc/regions.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

using Index = Regions::Index;

/// Rewrites a region's values over its parameters.
class Inside final : public Rewriter {
 public:
  Inside(Regions& regions, Index region) : regions_(regions), region_(region) {}
  using Rewriter::map;

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* mark = as_compiler_begin(original);
    if (!mark) mark = as_compiler_end(original);
    if (!mark) return rebuilt;
    if (regions_.of(mark) != region_) {
      throw UsageError("a region for `" + compiler_of(*mark) + "` lies inside one for `" +
                       regions_[region_].compiler + "`" + (mark->span() ? " at " + mark->span().text() : ""));
    }
    return as<CallNode>(rebuilt)->args()[0];  // a value that leaves the region and enters it again
  }

  Regions& regions_;
  const Index region_;
};

class Cutter final : public Rewriter {
 public:
  Cutter(IRModuleNode& module, std::string name, const Function& function, bool bind_constants,
         const BuildContext& context)
      : module_(module),
        name_(std::move(name)),
        function_(function),
        bind_constants_(bind_constants),
        context_(context),
        regions_{Expr(function)},
        state_(regions_.size()) {}

  Function cut_all() {
    for (const CallNode* end : regions_.ends()) cut_out_after_what_it_needs(end);
    return as_ref<FunctionNode>(run(Expr(function_)));
  }

 private:
  enum class State : uint8_t { kWaiting, kOpen, kDone };
  struct Todo {
    const ExprNode* expr;  ///< null: outline `region`
    Index region;
  };

  bool enter(const Expr&) override { return true; }

  // A remaining annotation: of a region without uses, as before the value of a let.
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (!as_compiler_begin(original)) return rebuilt;
    retire(original->origins(), kCutOut);
    return as<CallNode>(rebuilt)->args()[0];
  }

  // Depth-first over regions and nodes outside them, so that run() never reaches the compiler_end of a region
  // that is not outlined yet.
  void cut_out_after_what_it_needs(const CallNode* end) {
    std::vector<Todo> stack{{end, Regions::kNone}};
    while (!stack.empty()) {
      const Todo todo = stack.back();
      stack.pop_back();
      if (!todo.expr) {
        cut_out(todo.region);
        state_[todo.region] = State::kDone;
        continue;
      }
      const size_t first = stack.size();
      if (const CallNode* inner = as_compiler_end(Expr(todo.expr))) {
        const Index region = regions_.of(inner);
        if (state_[region] == State::kDone) continue;
        if (state_[region] == State::kOpen) {
          throw UsageError("a region for `" + regions_[region].compiler + "` in @" + name_ +
                           " needs a value that is computed from its own results outside of it");
        }
        state_[region] = State::kOpen;
        stack.push_back({nullptr, region});
        for (const CallNode* begin : regions_[region].begins) {
          const Expr& value = begin->args()[0];
          if (!as_compiler_end(value) || regions_.of(value) != region)
            stack.push_back({value.get(), Regions::kNone});
        }
        std::reverse(stack.begin() + static_cast<ptrdiff_t>(first) + 1, stack.end());
      } else if (outside_.insert(todo.expr)) {
        for_each_child(*todo.expr, [&](const Expr& child) {
          if (child->kind() != ExprKind::kOp && child->kind() != ExprKind::kVar)
            stack.push_back({child.get(), Regions::kNone});
        });
        std::reverse(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
      }
    }
  }

  // Outlines a region whose inputs are all rewritten.
  void cut_out(Index index) {
    const Regions::Region& region = regions_[index];
    const std::string id = std::to_string(region.id);
    Inside inside(regions_, index);
    std::vector<Var> params;
    std::vector<Expr> args;
    PointerMap<Expr> entered;
    size_t position = 0;
    for (const CallNode* begin : region.begins) {
      const size_t at = position++;
      retire(begin->origins(), kCutOut);
      if (as_compiler_end(begin->args()[0]) && regions_.of(begin->args()[0]) == index) continue;
      const Expr value = run(begin->args()[0]);
      Expr& within = entered[value.get()];
      if (!within) {
        if (bind_constants_ && is_constant(value)) {
          within = value;
        } else {
          params.push_back(make_var(region.compiler + "_" + id + "_i" + std::to_string(at),
                                    begin->checked_type(), NodeInfo(OriginSet::none())));
          args.push_back(value);
          within = Expr(params.back());
        }
      }
      inside.map(Expr(begin), within);
    }
    std::vector<Expr> results;
    std::vector<const ExprNode*> values;  // the original values
    PointerMap<size_t> result_of;
    for (const CallNode* end : region.ends) {
      retire(end->origins(), kCutOut);
      if (!result_of.insert(end->args()[0].get(), results.size()).second) continue;
      results.push_back(inside.run(end->args()[0]));
      values.push_back(end->args()[0].get());
    }
    const Expr body = results.size() == 1
                          ? results[0]
                          : make_tuple(results, NodeInfo(OriginSet::none(), {}, tuple_type_of(values)));
    const Call call = add_function(region, std::move(params), std::move(args), body);
    std::vector<Expr> items{Expr(call)};
    if (results.size() > 1) {
      items.clear();
      for (size_t i = 0; i < results.size(); ++i)
        items.push_back(make_tuple_get_item(Expr(call), static_cast<int>(i), NodeInfo(OriginSet::none())));
    }
    for (const CallNode* end : region.ends) map(Expr(end), items[*result_of.find(end->args()[0].get())]);
  }

  Call add_function(const Regions::Region& region, std::vector<Var> params, std::vector<Expr> args,
                    const Expr& body) {
    const std::string name = region.compiler + "_" + name_ + "_" + std::to_string(region.id);
    if (module_.find(name))
      throw UsageError("PartitionGraph would make a function @" + name +
                       ", but the module has one of that name");
    OriginSet origins = origins_of_calls(body);
    const auto optimize = find_region_optimizer(region.compiler);
    Function function = make_function(std::move(params), body, body->checked_type(), {}, NodeInfo(origins));
    if (optimize) {
      function = optimized(*optimize, function, region.compiler);
      origins = origins_of_calls(function->body());
    }
    FunctionAttrs attrs = function->attrs();
    const std::pair<const char*, AttrValue> marks[] = {
        {"Inline", 1}, {"Compiler", region.compiler}, {"global_symbol", name}, {"Primitive", 1}};
    for (const auto& [key, value] : marks) {
      std::erase_if(attrs, [&](const auto& attr) { return attr.first == key; });
      attrs.emplace_back(key, value);
    }
    module_.set(name, make_function(function->params(), function->body(), function->ret_type(),
                                    std::move(attrs), NodeInfo(origins), function->type_params()));
    return make_call(Expr(module_.global_var(name)), std::move(args), {}, NodeInfo(origins));
  }

  // Nodes created by the user's function get the origins of the whole region; origins it drops are retired.
  Function optimized(const OptimizeRegion& optimize, const Function& function,
                     const std::string& compiler) const {
    const IRModule module = (*make_pass("InferType"))(module_from_expr(Expr(function)), context_);
    const OriginScope scope(function->origins().empty() ? OriginSet::none() : function->origins());
    const IRModule result = optimize(module, context_);
    const Function main = result ? result->find("main") : Function();
    if (!main)
      throw UsageError("relay.ext." + compiler + ".optimize returned no module with a function @main");
    retire(function->origins(), "dropped by relay.ext." + compiler + ".optimize");
    return main;
  }

  // Per operator call: the kernel gets the union over its calls.
  static OriginSet origins_of_calls(const Expr& body) {
    std::vector<OriginSet> sets;
    post_order(body, [&](const Expr& expr) {
      if (const auto* call = as<CallNode>(expr); call && call->op()) sets.push_back(call->origins());
    });
    return OriginSet::merge_all(sets);
  }

  static bool is_constant(const Expr& value) {
    if (as<ConstantNode>(value)) return true;
    const auto* tuple = as<TupleNode>(value);
    return tuple && std::all_of(tuple->fields().begin(), tuple->fields().end(),
                                [](const Expr& field) { return as<ConstantNode>(field); });
  }

  static Type tuple_type_of(const std::vector<const ExprNode*>& values) {
    std::vector<Type> types;
    for (const ExprNode* value : values) {
      if (!value->checked_type()) return {};
      types.push_back(value->checked_type());
    }
    return tuple_type(std::move(types));
  }

  static constexpr std::string_view kCutOut = "the region became a function";
  IRModuleNode& module_;
  const std::string name_;
  const Function function_;
  const bool bind_constants_;
  const BuildContext& context_;
  Regions regions_;
  std::vector<State> state_;  // by region
  PointerSet outside_;        // visited nodes outside all regions
};

}  // namespace

Function cut_regions(IRModuleNode& module, const std::string& name, const Function& function,
                     bool bind_constants, const BuildContext& context) {
  return Cutter(module, name, function, bind_constants, context).cut_all();
}

}  // namespace baton
