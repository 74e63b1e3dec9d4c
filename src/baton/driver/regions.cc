#include "baton/driver/regions.h"

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "baton/codegen/backend.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {
namespace {

/// Marks the kernels of a body, which are primitive and not entered.
class KernelMarker final : public Rewriter {
 public:
  explicit KernelMarker(std::function<Function(const Function& kernel)> mark) : mark_(std::move(mark)) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const Function function = as_ref<FunctionNode>(rebuilt);
    // Regions may be nested: the kernel belongs to the inner one.
    if (!function || !function->is_primitive() || !region_of(*function).empty()) return rebuilt;
    return Expr(make_function(
        function->params(), function->body(), function->ret_type(), mark_(function)->attrs(),
        NodeInfo(original->origins(), original->span(), original->checked_type()), function->type_params()));
  }

  std::function<Function(const Function& kernel)> mark_;
};

std::set<const Origin*> origins_in(const Expr& body) {
  std::set<const Origin*> found;
  post_order(body, [&](const Expr& node) {
    found.insert(node->origins().origins().begin(), node->origins().origins().end());
  });
  return found;
}

/// The replacement of a region's calls: a body over parameters.
struct Replacement {
  Function main;
  std::vector<std::pair<OriginSet, std::string>> retired;
};

class RegionBuilder final : public Rewriter {
 public:
  RegionBuilder(const IRModuleNode& module, const BuildContext& context)
      : module_(module), context_(context) {}
  bool any() const { return !built_.empty(); }

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const Function region = call ? callee(*call) : Function();
    if (!region) return rebuilt;
    const Function& main = built(region).main;
    std::unordered_map<const ExprNode*, Expr> values;
    for (size_t i = 0; i < call->args().size(); ++i) values.emplace(main->params()[i].get(), call->args()[i]);
    return substitute(main->body(), values);
  }

  /// The called region, or null.
  Function callee(const CallNode& call) const {
    Function function = as_ref<FunctionNode>(call.callee());
    if (const auto* global = as<GlobalVarNode>(call.callee())) function = module_.find(global->name());
    return function && function->attr("Compiler") ? function : Function();
  }

  const Replacement& built(const Function& region) {
    const std::string symbol = text_attr(*region, "global_symbol");
    // Unnamed regions are identified by address.
    const std::string key =
        symbol.empty() ? std::to_string(reinterpret_cast<uintptr_t>(region.get())) : symbol;
    const auto at = built_.find(key);
    return at != built_.end() ? at->second : built_.emplace(key, build_one(region, symbol)).first->second;
  }

  Replacement build_one(const Function& region, const std::string& symbol) const {
    const std::string compiler = text_attr(*region, "Compiler");
    const BackendRef backend = find_region_backend(compiler);
    if (!backend || !backend->region)
      throw NotSupported("Failed to find the external codegen tool for relay.ext." + compiler +
                         ": register a function of that name (tvm.register_func) that builds `" + symbol +
                         "`, or leave the program unpartitioned");
    const bool is_open = !is_static(region->checked_type());
    const Function bare = without_attrs(region, {"Compiler"});
    const auto [program, refused] = is_open
                                        ? refused_region(compiler, symbol,
                                                         "it makes code for constant shapes, and this is " +
                                                             type_text(region->checked_type()),
                                                         bare, context_)
                                        : backend->region(bare, context_);
    const Function main = program ? program->find("main") : Function();
    BATON_CHECK(main, compiler + " returned no program for a region");
    const auto refuse = [&](const std::string& what) {
      throw Error("what relay.ext." + compiler + " built does not fit region `" + symbol + "`: " + what);
    };
    if (main->params().size() != region->params().size())
      refuse("it takes " + std::to_string(main->params().size()) + " inputs, the region has " +
             std::to_string(region->params().size()));
    for (size_t i = 0; i < main->params().size(); ++i) {
      const Type &given = main->params()[i]->checked_type(), &wanted = region->params()[i]->checked_type();
      if (given && wanted && !same_type(given, wanted))
        refuse("input " + std::to_string(i) + " is " + type_text(given) + " instead of " + type_text(wanted));
    }
    const Type &given = main->body()->checked_type(), &wanted = region->body()->checked_type();
    if (given && wanted && !same_type(given, wanted))
      refuse("its result is " + type_text(given) + " instead of " + type_text(wanted));
    Replacement built;
    KernelMarker marker([&, why = refused](const Function& kernel) {
      const Function marked = why.empty() ? kernel : of_refused_region(kernel, why);
      return is_open ? marked : of_region(marked, compiler, symbol);
    });
    built.main = remake_function(*main, main->params(), marker.run(main->body()));
    const OriginTable& table = program->origins();
    for (const auto& [id, why] : table.all_retired())
      built.retired.emplace_back(OriginSet::of(Ref<const Origin>(&table.at(OriginId(id)))),
                                 why.pass + ": " + why.reason);
    // The code generator's module carries the origins of the whole region, so its own passes retire nothing;
    // origins missing from the result are retired here.
    const std::set<const Origin*> kept = origins_in(built.main->body());
    for (const Origin* origin : origins_in(region->body()))
      if (!kept.count(origin))
        built.retired.emplace_back(OriginSet::of(Ref<const Origin>(origin)),
                                   "dropped by relay.ext." + compiler);
    return built;
  }

 public:
  void retire_all() const {
    for (const auto& [key, built] : built_)
      for (const auto& [origins, reason] : built.retired) retire(origins, reason);
  }

 private:
  const IRModuleNode& module_;
  const BuildContext& context_;
  std::map<std::string, Replacement> built_;
};

/// The module with each function that is neither a kernel nor a region rewritten; itself if none changes.
IRModule with_functions(const IRModule& module, Rewriter& rewriter) {
  std::vector<std::pair<std::string, Function>> changed;
  for (const auto& [name, function] : module->functions()) {
    if (function->attr("Compiler") || function->is_primitive()) continue;
    Function rewritten = as_ref<FunctionNode>(rewriter.run(Expr(function)));
    if (rewritten != function) changed.emplace_back(name, std::move(rewritten));
  }
  if (changed.empty()) return module;
  const IRModule result = module->copy();
  for (auto& [name, function] : changed) result->replace(name, std::move(function));
  return result;
}

}  // namespace

IRModule inline_composites(const IRModule& module, const BuildContext& context) {
  OpenCompositeInliner inliner;
  const IRModule result = with_functions(module, inliner);
  return result == module ? module : (*make_pass("InferType"))(result, context);
}

IRModule build_regions(const IRModule& module, const BuildContext& context) {
  RegionBuilder builder(*module, context);
  const IRModule built = with_functions(module, builder);
  if (!builder.any()) return module;
  const Pass splice = module_pass(
      {0, "BuildRegions", {}},
      [&](IRModule spliced, const PassContext&) {
        for (const auto& [name, function] : built->functions()) spliced->set(name, function);
        const CallGraph calls(*spliced);
        for (const auto& [name, function] : built->functions())
          if (function->attr("Compiler") && calls.references(name) == 0) spliced->remove(name);
        builder.retire_all();
        return spliced;
      },
      /*may_retire=*/true);
  return (*make_pass("InferType"))((*splice)(module->copy(), context), context);
}

}  // namespace baton
