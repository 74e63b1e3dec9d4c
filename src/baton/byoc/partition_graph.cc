// Outlines each region as a function of the module, for its compiler:
//   end(relu(begin(x, c)), c)  ->  @tvmgen_default_c_main_0(x),
//   def @tvmgen_default_c_main_0(%c_0_i0, Inline=1, Compiler="c", global_symbol="tvmgen_default_c_main_0",
//   Primitive=1)
//     { relu(%c_0_i0) }
// Steps, each a pass: split tuples that leave a region, so that only tensors leave; remove annotations of
// "default"; outline regions; rename the functions to their link symbols; infer types.

#include <cctype>
#include <map>

#include "baton/byoc/annotation.h"
#include "baton/byoc/cut_regions.h"
#include "baton/byoc/external.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

/// A pass over all functions without an external compiler; unlike a function pass it infers no types.
Pass over_functions(std::string name, std::function<Function(const Function&)> body) {
  return module_pass(
      {0, std::move(name), {}},
      [body](IRModule module, const PassContext&) {
        const auto functions = module->functions();
        for (const auto& [name, function] : functions) {
          if (function->attr("Compiler")) continue;
          Function updated = body(function);
          if (updated != function) module->replace(name, std::move(updated));
        }
        return module;
      },
      true);
}

class EverywhereRewriter : public Rewriter {
  bool enter(const Expr&) override { return true; }
};

// ---- end((a, (b, c)))  ->  (end(a), (end(b), end(c))), for tuples built in the region.

class TupleFlattener final : public EverywhereRewriter {
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* end = as_compiler_end(rebuilt);
    if (!end || !as<TupleNode>(end->args()[0])) return rebuilt;
    retire(original->origins(), "the tuple leaves the region field by field");
    const Expr& root = end->args()[0];
    const CompilerMarks marks(compiler_of(*end));
    const OriginSet origins = original->origins().empty()  // of a program without operators
                                  ? OriginSet::none()
                                  : OriginSet::made_for(original->origins(), marks.reason());
    PointerMap<Expr> ended;
    const auto is_tuple = [](const Expr& expr) { return expr->kind() == ExprKind::kTuple; };
    const auto end_fields = [&](const Expr& expr) {
      if (!is_tuple(expr)) return;
      const auto* tuple = as<TupleNode>(expr);
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields()) {
        const Expr* inner = ended.find(field.get());
        fields.push_back(inner ? *inner : marks.end(field, origins));
      }
      ended.insert(expr.get(), make_tuple(std::move(fields), tuple->info()));
    };
    post_order(root, end_fields, is_tuple);
    return *ended.find(root.get());
  }
};

// ---- begin(x, "default"), end(x, "default")  ->  x

class DefaultRemover final : public EverywhereRewriter {
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* mark = as_compiler_begin(rebuilt);
    if (!mark) mark = as_compiler_end(rebuilt);
    if (!mark || compiler_of(*mark) != kDefaultCompiler) return rebuilt;
    retire(original->origins(), "a mark for Baton itself");
    return mark->args()[0];
  }
};

// ---- Outlining of regions.

Pass partition_regions(bool bind_constants) {
  return module_pass(
      {0, "PartitionGraph", {}},
      [=](IRModule module, const BuildContext& context) {
        // Region optimizers read the types of a region's inputs.
        if (any_region_optimizer()) module = (*make_pass("InferType"))(module, context);
        const auto functions = module->functions();
        for (const auto& [name, function] : functions) {
          if (function->attr("Compiler")) continue;
          Function updated = cut_regions(*module, name, function, bind_constants, context);
          if (updated != function) module->replace(name, std::move(updated));
        }
        return module;
      },
      true);
}

// ---- @c_main_0  ->  @tvmgen_default_c_main_0

class Renamer final : public EverywhereRewriter {
 public:
  explicit Renamer(const std::map<std::string, GlobalVar>& names) : names_(names) {}

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* global = as<GlobalVarNode>(rebuilt);
    const auto at = global ? names_.find(global->name()) : names_.end();
    return at == names_.end() ? rebuilt : Expr(at->second);
  }
  const std::map<std::string, GlobalVar>& names_;
};

Pass name_external_functions(const std::string& mod_name) {
  return module_pass({0, "NameMangleExtFuncs", {}}, [mod_name](IRModule module, const PassContext&) {
    constexpr std::string_view kPrefix = "tvmgen_";
    const auto functions = module->functions();
    std::map<std::string, GlobalVar> names;
    for (const auto& [name, function] : functions) {
      if (!function->attr("Compiler") || name.starts_with(kPrefix)) continue;
      std::string linked = std::string(kPrefix) + mod_name + "_" + name;
      for (char& c : linked)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      if (functions.count(linked))
        throw UsageError("the module already has a function @" + linked +
                         "; give PartitionGraph another mod_name");
      names.emplace(name, module->global_var(linked));
    }
    if (names.empty()) return module;
    for (const auto& [name, function] : functions) {
      Function renamed = as_ref<FunctionNode>(Renamer(names).run(Expr(function)));
      const auto at = names.find(name);
      if (at == names.end()) {
        if (renamed != function) module->replace(name, std::move(renamed));
        continue;
      }
      module->remove(name);
      module->set(at->second->name(), with_attr(renamed, "global_symbol", at->second->name()));
    }
    return module;
  });
}

}  // namespace

Pass partition_graph(const PassArgs& args) {
  PassArgReader reader("PartitionGraph", args);
  const std::string mod_name = reader.text("mod_name", "default");
  const bool bind_constants = reader.flag("bind_constants", true);
  reader.finish();
  const auto rewritten_by = [](auto rewriter) {
    return [rewriter](const Function& function) {
      auto fresh = rewriter;
      return as_ref<FunctionNode>(fresh.run(Expr(function)));
    };
  };
  return sequential(
      {over_functions("FlattenNestedTuples", rewritten_by(TupleFlattener())),
       over_functions("RemoveDefaultAnnotations", rewritten_by(DefaultRemover())),
       partition_regions(bind_constants), name_external_functions(mod_name), make_pass("InferType")},
      "PartitionGraph");
}

}  // namespace baton
