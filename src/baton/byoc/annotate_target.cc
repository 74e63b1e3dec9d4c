// Annotates calls with compilers. Each call is assigned to the first of the given compilers that supports it:
// an operator by its rule (byoc/target_rules.h), a composite function by the prefix of its name; other calls
// are assigned to "default":
//   add(exp(x), y)  ->  end(add(begin(end(exp(begin(x, d)), d), a), begin(y, a)), a)      a takes add, d =
//   "default"
// Each operand gets its own compiler_begin and each result its own compiler_end. Tuples, items and references
// are assigned to the compiler of their operands when these agree, else to "default"; without
// include_non_call_ops they are not annotated.
//
// Existing annotations are kept, except those of "default", so the pass can run once per compiler.

#include "baton/byoc/annotate_target.h"

#include <map>

#include "baton/byoc/annotation.h"
#include "baton/byoc/target_rules.h"
#include "baton/ir/adt.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/pass/causes.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

constexpr std::string_view kMarkedAnew = "the region was marked anew for another compiler";

class Annotator final : public Rewriter {
 public:
  Annotator(const std::vector<std::string>& compilers, bool include_non_call_ops, bool offered,
            const MayCompute& may, Causes causes)
      : include_non_call_ops_(include_non_call_ops),
        offered_(offered),
        may_(may),
        causes_(std::move(causes)),
        default_(named(std::string(kDefaultCompiler))) {
    for (const std::string& compiler : compilers) compilers_.push_back(named(compiler));
  }

 private:
  using Compiler = const CompilerMarks*;

  /// The compiler of a node of the result, and the origins of its annotations.
  struct Choice {
    Compiler compiler;
    OriginSet origins;
  };

  // Interned compiler names.
  Compiler named(const std::string& compiler) {
    const auto at = marks_.find(compiler);
    return at != marks_.end() ? &at->second
                              : &marks_.emplace(compiler, CompilerMarks(compiler)).first->second;
  }

  bool enter(const Expr& node) override {
    const auto* function = as<FunctionNode>(node);
    return !function || !function->attr("Composite");
  }

  void let_value(const LetNode& let, const Expr&) override { causes_.bind(let.var(), let.value()); }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kCall:
        return call(original, rebuilt);
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        return structure(original, rebuilt);
      case ExprKind::kFunction:
        return function(original, rebuilt);
      case ExprKind::kLet:
        return let(rebuilt);
      case ExprKind::kIf:
        return branch(rebuilt);
      case ExprKind::kMatch:
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        return rebuilt;
    }
    return rebuilt;
  }

  Expr call(const Expr& original, const Expr& rebuilt) {
    const auto& before = static_cast<const CallNode&>(*original);
    const auto& after = static_cast<const CallNode&>(*rebuilt);
    // A compiler_begin is kept until its call has been assigned; a compiler_end is replaced by that of the
    // new assignment.
    if (as_compiler_begin(original)) return rebuilt;
    if (as_compiler_end(original)) {
      if (!choices_.contains(after.args()[0].get())) return rebuilt;
      retire(original->origins(), kMarkedAnew);
      return ended(after.args()[0]);
    }
    if (!include_non_call_ops_ && before.callee()->kind() == ExprKind::kVar) {
      std::vector<Expr> args = after.args();
      for (Expr& arg : args) arg = ended(arg);
      return args == after.args()
                 ? rebuilt
                 : make_call(after.callee(), std::move(args), after.attrs(), original->info());
    }
    if (after.args().empty()) return rebuilt;
    Compiler compiler = choose(before);
    OriginSet origins = causes_.made_for(original, compiler->reason());
    std::vector<Expr> args = begun(after.args(), compiler, origins);
    return chosen(make_call(after.callee(), std::move(args), after.attrs(), original->info()),
                  {compiler, std::move(origins)});
  }

  Compiler choose(const CallNode& call) {
    // A compiler_begin of an earlier run: the call is already assigned.
    if (const CallNode* begin = call.args().empty() ? nullptr : as_compiler_begin(call.args()[0]))
      if (compiler_of(*begin) != kDefaultCompiler) return named(compiler_of(*begin));
    if (const OpDef* op = call.op()) {
      for (Compiler compiler : compilers_) {
        const auto takes = find_target_rule(*op, compiler->compiler(), offered_);
        if (takes && (!may_ || may_(call, compiler->compiler())) && (*takes)(Expr(&call))) return compiler;
      }
    } else if (const auto* function = as<FunctionNode>(call.callee())) {
      const std::string composite = text_attr(*function, "Composite");
      const std::string prefix = composite.substr(0, composite.find('.'));
      for (Compiler compiler : compilers_)
        if (!composite.empty() && prefix == compiler->compiler()) return compiler;
    }
    return default_;
  }

  // The compiler that all `values` come from, if they agree.
  Compiler common(const std::vector<Expr>& values) {
    Compiler common = nullptr;
    for (const Expr& value : values) {
      Compiler from = default_;
      if (const CallNode* begin = as_compiler_begin(value)) {
        if (const CallNode* end = as_compiler_end(begin->args()[0])) from = named(compiler_of(*end));
      } else if (const Choice* known = choices_.find(value.get())) {
        from = known->compiler;
      }
      if (common && common != from) return default_;
      common = from;
    }
    return common ? common : default_;
  }

  // `values` as operands of a call assigned to `compiler`: each gets a compiler_end of its region and a
  // compiler_begin.
  std::vector<Expr> begun(const std::vector<Expr>& values, Compiler compiler, const OriginSet& origins) {
    std::vector<Expr> begins;
    begins.reserve(values.size());
    for (const Expr& value : values) {
      const CallNode* begin = as_compiler_begin(value);
      if (begin && compiler_of(*begin) != kDefaultCompiler) {
        begins.push_back(value);
        continue;
      }
      if (begin) retire(value->origins(), kMarkedAnew);
      begins.push_back(compiler->begin(begin ? begin->args()[0] : ended(value), origins));
    }
    return begins;
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
    Compiler compiler = common(children);
    OriginSet origins = causes_.made_for(original, compiler->reason());
    children = begun(children, compiler, origins);
    return chosen(with_children(rebuilt, std::move(children), original->info()),
                  {compiler, std::move(origins)});
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
      Compiler compiler = common({value});
      value = begun({value}, compiler, causes_.made_for(value, compiler->reason()))[0];
    }
    return make_let(after.var(), value, ended(after.body()), after.with_type(after.checked_type()));
  }

  Expr branch(const Expr& rebuilt) {
    const auto& after = static_cast<const IfNode&>(*rebuilt);
    return make_if(ended(after.condition()), ended(after.then()), ended(after.otherwise()),
                   after.with_type({}));
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
    if (const auto* item = as<TupleGetItemNode>(expr))
      return make_tuple_get_item(children[0], item->index(), std::move(info));
    if (as<RefCreateNode>(expr)) return make_ref_create(children[0], std::move(info));
    if (as<RefReadNode>(expr)) return make_ref_read(children[0], std::move(info));
    return make_ref_write(children[0], children[1], std::move(info));
  }

  Expr ended(const Expr& value) const {
    const Choice* choice = choices_.find(value.get());
    return choice ? choice->compiler->end(value, choice->origins) : value;
  }

  Expr chosen(Expr expr, Choice choice) {
    kept_.push_back(expr);
    choices_.insert(expr.get(), std::move(choice));
    return expr;
  }

  std::map<std::string, CompilerMarks> marks_;
  std::vector<Compiler> compilers_;  // the requested compilers, in order
  const bool include_non_call_ops_, offered_;
  const MayCompute& may_;
  Causes causes_;  // for annotations of values that no operator computes
  const Compiler default_;
  PointerMap<Choice> choices_;  // by node of the result; absent for unassigned nodes
  std::vector<Expr> kept_;      // keeps the keys of choices_ alive
};

Pass annotated(std::vector<std::string> compilers, bool include_non_call_ops, bool offered, MayCompute may) {
  const Pass annotate = function_pass(
      {0, "AnnotateTargetFunc", {"InferType"}},
      [=](const Function& function, const IRModule& module, const PassContext&) {
        Causes causes(Expr(function), module.get());
        return as_ref<FunctionNode>(
            Annotator(compilers, include_non_call_ops, offered, may, std::move(causes)).run(Expr(function)));
      },
      true);
  return sequential({annotate, make_pass("InferType")}, "AnnotateTarget");
}

}  // namespace

Pass annotate_target(const PassArgs& args) {
  PassArgReader reader("AnnotateTarget", args);
  std::vector<std::string> compilers = reader.texts("targets", {});
  const bool include_non_call_ops = reader.flag("include_non_call_ops", true);
  const bool offered = reader.flag("offered", false);  // see kOfferedRuleLevel
  reader.finish();
  return annotated(std::move(compilers), include_non_call_ops, offered, {});
}

Pass annotate_target(std::vector<std::string> compilers, MayCompute may) {
  return annotated(std::move(compilers), true, true, std::move(may));
}

}  // namespace baton
