// Marks which compiler builds what. Each call goes to the first of the compilers asked for that takes it: an operator by its
// rule (byoc/target_rules.h), a composite function by the name before the dot; what nobody takes goes to "default":
//   add(exp(x), y)  ->  end(add(begin(end(exp(begin(x, d)), d), a), begin(y, a)), a)      a takes add, d = "default"
// Every value enters through a compiler_begin of its own and leaves through a compiler_end of its own. Tuples, items and
// cells go with their inputs when these agree, else to "default"; without include_non_call_ops they are left outside.
//
// A program that is marked already keeps its marks but for those of "default", so compilers may be asked one after the other.

#include "baton/byoc/annotation.h"
#include "baton/byoc/target_rules.h"
#include "baton/ir/adt.h"
#include "baton/ir/op.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

constexpr std::string_view kMarkedAnew = "the region was marked anew for another compiler";

class Annotator final : public Rewriter {
 public:
  /// `fallback`: an operator of the program, named as the cause of marks beside values that none computes.
  Annotator(const std::vector<std::string>& compilers, bool include_non_call_ops, OriginSet fallback)
      : compilers_(compilers), include_non_call_ops_(include_non_call_ops), fallback_(std::move(fallback)) {}

 private:
  using Compiler = const std::string*;

  bool enter(const Expr& node) override {
    const auto* function = as<FunctionNode>(node);
    return !function || !function->attr("Composite");
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kCall: return call(original, rebuilt);
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite: return structure(original, rebuilt);
      case ExprKind::kFunction: return function(original, rebuilt);
      case ExprKind::kLet: return let(rebuilt);
      case ExprKind::kIf: return branch(rebuilt);
      case ExprKind::kMatch:
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
      case ExprKind::kConstructor: return rebuilt;
    }
    return rebuilt;
  }

  Expr call(const Expr& original, const Expr& rebuilt) {
    const auto& before = static_cast<const CallNode&>(*original);
    const auto& after = static_cast<const CallNode&>(*rebuilt);
    // A begin stays until the call that it belongs to has chosen; an end becomes the one of the new choice.
    if (as_compiler_begin(original)) return rebuilt;
    if (as_compiler_end(original)) {
      if (!compiler_of_.contains(after.args()[0].get())) return rebuilt;
      retire(original->origins(), kMarkedAnew);
      return ended(after.args()[0]);
    }
    if (!include_non_call_ops_ && !before.op() && before.callee()->kind() == ExprKind::kVar) return rebuilt;
    if (after.args().empty()) return rebuilt;
    Compiler compiler = choose(before);
    std::vector<Expr> args = begun(after.args(), compiler, cause(original));
    return chosen(make_call(after.callee(), std::move(args), after.attrs(), original->info()), compiler);
  }

  Compiler choose(const CallNode& call) const {
    // A begin of an earlier run says who takes it already.
    if (const CallNode* begin = call.args().empty() ? nullptr : as_compiler_begin(call.args()[0]))
      if (compiler_of(*begin) != kDefaultCompiler) return &compiler_of(*begin);
    if (const OpDef* op = call.op()) {
      for (const std::string& compiler : compilers_) {
        const TakesCall* takes = find_target_rule(*op, compiler);
        if (takes && (*takes)(Expr(&call))) return &compiler;
      }
    } else if (const auto* function = as<FunctionNode>(call.callee())) {
      const std::string composite = text_attr(*function, "Composite");
      const std::string prefix = composite.substr(0, composite.find('.'));
      for (const std::string& compiler : compilers_)
        if (!composite.empty() && prefix == compiler) return &compiler;
    }
    return &default_;
  }

  // `values` as arguments: each leaves the region it comes from and enters that of `compiler`. Without a compiler: the one
  // that all come from, which is then entered in `compiler`.
  std::vector<Expr> begun(const std::vector<Expr>& values, Compiler& compiler, const OriginSet& causes) {
    std::vector<Expr> ends;
    std::vector<bool> stays(values.size());
    Compiler common = nullptr;
    for (size_t i = 0; i < values.size(); ++i) {
      const Expr& value = values[i];
      Compiler from = &default_;
      if (const CallNode* begin = as_compiler_begin(value)) {
        stays[i] = compiler_of(*begin) != kDefaultCompiler;
        ends.push_back(stays[i] ? value : begin->args()[0]);
        if (!stays[i]) retire(value->origins(), kMarkedAnew);
        if (const CallNode* end = as_compiler_end(begin->args()[0])) from = &compiler_of(*end);
      } else if (const Compiler* known = compiler_of_.find(value.get())) {
        from = *known;
        ends.push_back(ended(value));
      } else {
        ends.push_back(value);
      }
      if (!common) common = from;
      else if (*common != *from) common = &default_;
    }
    if (!compiler) compiler = common ? common : &default_;
    for (size_t i = 0; i < ends.size(); ++i)
      if (!stays[i]) ends[i] = compiler_begin(ends[i], *compiler, causes);
    return ends;
  }

  Expr structure(const Expr& original, const Expr& rebuilt) {
    std::vector<Expr> children = children_of(rebuilt);
    if (children.empty()) return rebuilt;
    if (!include_non_call_ops_) {
      bool changed = false;
      for (Expr& child : children) {
        const Expr end = ended(child);
        changed |= end != child;
        child = end;
      }
      return changed ? with_children(rebuilt, std::move(children), original->info()) : rebuilt;
    }
    Compiler compiler = nullptr;
    children = begun(children, compiler, cause(original));
    return chosen(with_children(rebuilt, std::move(children), original->info()), compiler);
  }

  Expr function(const Expr& original, const Expr& rebuilt) {
    const auto& after = static_cast<const FunctionNode&>(*rebuilt);
    if (after.attr("Composite")) return original;
    const Expr body = ended(after.body());
    return body == after.body() ? rebuilt : Expr(remake_function(after, after.params(), body));
  }

  Expr let(const Expr& rebuilt) {
    const auto& after = static_cast<const LetNode&>(*rebuilt);
    Expr value = after.value();
    if (!as<FunctionNode>(value)) {
      Compiler compiler = nullptr;
      value = begun({value}, compiler, cause(value))[0];
    }
    return make_let(after.var(), value, ended(after.body()), after.with_type(after.checked_type()));
  }

  Expr branch(const Expr& rebuilt) {
    const auto& after = static_cast<const IfNode&>(*rebuilt);
    return make_if(ended(after.condition()), ended(after.then()), ended(after.otherwise()), after.with_type({}));
  }

  static std::vector<Expr> children_of(const Expr& expr) {
    if (const auto* tuple = as<TupleNode>(expr)) return tuple->fields();
    if (const auto* item = as<TupleGetItemNode>(expr)) return {item->tuple()};
    if (const auto* cell = as<RefCreateNode>(expr)) return {cell->value()};
    if (const auto* read = as<RefReadNode>(expr)) return {read->ref()};
    const auto* write = as<RefWriteNode>(expr);
    return {write->ref(), write->value()};
  }

  static Expr with_children(const Expr& expr, std::vector<Expr> children, NodeInfo info) {
    if (as<TupleNode>(expr)) return make_tuple(std::move(children), std::move(info));
    if (const auto* item = as<TupleGetItemNode>(expr)) return make_tuple_get_item(children[0], item->index(), std::move(info));
    if (as<RefCreateNode>(expr)) return make_ref_create(children[0], std::move(info));
    if (as<RefReadNode>(expr)) return make_ref_read(children[0], std::move(info));
    return make_ref_write(children[0], children[1], std::move(info));
  }

  Expr ended(const Expr& value) {
    const Compiler* compiler = compiler_of_.find(value.get());
    return compiler ? compiler_end(value, **compiler, cause(value)) : value;
  }

  Expr chosen(Expr expr, Compiler compiler) {
    kept_.push_back(expr);
    compiler_of_.insert(expr.get(), compiler);
    return expr;
  }

  const OriginSet& cause(const Expr& expr) const { return expr->origins().empty() ? fallback_ : expr->origins(); }

  const std::vector<std::string>& compilers_;
  const bool include_non_call_ops_;
  const OriginSet fallback_;
  const std::string default_{kDefaultCompiler};
  PointerMap<Compiler> compiler_of_;  // by node of the result: who builds it, unless nobody was asked
  std::vector<Expr> kept_;            // what compiler_of_ names
};

// Without any operator there is nothing to hand to a compiler, and no mark could say what it is for.
OriginSet some_origin(const Function& function, const IRModuleNode& module) {
  OriginSet found = some_origin(Expr(function));
  for (auto at = module.functions().begin(); found.empty() && at != module.functions().end(); ++at)
    found = some_origin(Expr(at->second));
  return found;
}

}  // namespace

Pass annotate_target(const PassArgs& args) {
  PassArgReader reader("AnnotateTarget", args);
  const std::vector<std::string> compilers = reader.texts("targets", {});
  const bool include_non_call_ops = reader.flag("include_non_call_ops", true);
  reader.finish();
  const Pass annotate = function_pass(
      {0, "AnnotateTargetFunc", {"InferType"}},
      [=](const Function& function, const IRModule& module, const PassContext&) {
        const OriginSet fallback = some_origin(function, *module);
        if (fallback.empty()) return function;
        return as_ref<FunctionNode>(Annotator(compilers, include_non_call_ops, fallback).run(Expr(function)));
      },
      true);
  return sequential({annotate, make_pass("InferType")}, "AnnotateTarget");
}

}  // namespace baton
