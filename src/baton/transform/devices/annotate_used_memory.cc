// Annotates each kernel with the memory live while it runs: its operands and results, and values used later.
//   let %b = fn (%p, Primitive=1, used_memory=[32]) { exp(%p) }(%a);
// main gets the size of its inputs and results: io_used_memory=64. Requires a chain of lets (ToANormalForm).
#include <algorithm>
#include <map>

#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

int64_t bytes_of(const Type& type) {
  if (const auto* tensor = as_type<TensorTypeNode>(type)) {
    if (!tensor->is_static())
      throw NotSupported("AnnotateUsedMemory: " + type_text(type) +
                         " has a size that is known only when it runs");
    auto bytes = static_cast<int64_t>(tensor->dtype().bytes());
    for (const int64_t extent : tensor->extents()) bytes *= extent;
    return bytes;
  }
  int64_t bytes = 0;
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    for (const Type& field : tuple->fields()) bytes += bytes_of(field);
  return bytes;
}

/// The lets of one function, the variables that hold memory, and their last uses.
class MemoryLiveness {
 public:
  explicit MemoryLiveness(const Function& main) {
    Expr at = main->body();
    while (const auto* let = as<LetNode>(at)) {
      lets_.push_back(let);
      at = let->body();
    }
    for (const Var& param : main->params()) holders_.push_back(param.get());
    for (size_t i = 0; i < lets_.size(); ++i) {
      const Expr& value = lets_[i]->value();
      if (value->kind() == ExprKind::kIf || value->kind() == ExprKind::kMatch ||
          value->kind() == ExprKind::kLet)
        throw NotSupported("AnnotateUsedMemory: programs without branches only");
      use(value, i);
      const ExprNode* var = lets_[i]->var().get();
      // Tuples and their items alias their fields.
      if (value->kind() == ExprKind::kCall || value->kind() == ExprKind::kConstant) {
        made_.insert(var, i);
        last_use_.insert(var, i);
        if (value->kind() == ExprKind::kCall) holders_.push_back(var);
      } else {
        names_.insert(var, holders_of(value));
      }
    }
    use(at, lets_.size());
  }

  const std::vector<const LetNode*>& lets() const { return lets_; }

  /// Live memory in bytes while each let's value is computed.
  std::vector<int64_t> used() const {
    std::vector<int64_t> change(lets_.size() + 1, 0);
    for (const ExprNode* holder : holders_) {
      const size_t* last = last_use_.find(holder);
      if (!last) continue;  // an unused parameter
      const size_t* made = made_.find(holder);
      change[made ? *made : 0] += bytes_of(holder->checked_type());
      if (*last + 1 < change.size()) change[*last + 1] -= bytes_of(holder->checked_type());
    }
    for (size_t i = 1; i < change.size(); ++i) change[i] += change[i - 1];
    return change;
  }

 private:
  // The variables whose memory `expr` aliases.
  std::vector<const ExprNode*> holders_of(const Expr& expr) const {
    std::vector<const ExprNode*> holders;
    const auto add = [&](const Expr& part) {
      if (part->kind() != ExprKind::kVar) return;
      if (const auto* names = names_.find(part.get()))
        holders.insert(holders.end(), names->begin(), names->end());
      else
        holders.push_back(part.get());
    };
    add(expr);
    if (const auto* call = as<CallNode>(expr))
      std::ranges::for_each(call->args(), add);
    else if (expr->kind() != ExprKind::kFunction)
      for_each_child(*expr, add);
    return holders;
  }
  void use(const Expr& expr, size_t at) {
    if (const auto* call = as<CallNode>(expr))
      for (const Expr& arg : call->args())
        if (arg->kind() == ExprKind::kCall)
          throw UsageError("AnnotateUsedMemory: the program is no chain of lets; run ToANormalForm before");
    for (const ExprNode* holder : holders_of(expr)) last_use_[holder] = at;
  }

  std::vector<const LetNode*> lets_;
  std::vector<const ExprNode*> holders_;
  PointerMap<size_t> made_, last_use_;
  PointerMap<std::vector<const ExprNode*>> names_;
};

IRModule annotate(IRModule module) {
  module = infer_types(std::move(module));
  const Function main = module->find("main");
  if (!main) return module;
  const MemoryLiveness program(main);
  const std::vector<int64_t> used = program.used();
  std::map<std::string, std::vector<int64_t>> by_name;  // of module functions, one entry per call
  PointerMap<std::vector<int64_t>> by_function;         // of kernels in main, by function
  PointerMap<const ExprNode*> bound;                    // by variable
  for (size_t i = 0; i < program.lets().size(); ++i) {
    const LetNode& let = *program.lets()[i];
    if (let.value()->kind() == ExprKind::kFunction) bound.insert(let.var().get(), let.value().get());
    const auto* call = as<CallNode>(let.value());
    if (!call) continue;
    const ExprNode* callee = call->callee().get();
    if (const ExprNode* const* function = bound.find(callee)) callee = *function;
    if (const auto* global = as<GlobalVarNode>(callee))
      by_name[global->name()].push_back(used[i]);
    else if (const auto* kernel = as<FunctionNode>(callee); kernel && kernel->is_primitive())
      by_function[kernel].push_back(used[i]);
  }
  const auto annotated = [&](const Expr& expr) {
    const std::vector<int64_t>* list = by_function.find(expr.get());
    return list ? Expr(with_attr(as_ref<FunctionNode>(expr), "used_memory", AttrValue(*list))) : expr;
  };
  Expr body = main->body();
  while (const auto* let = as<LetNode>(body)) body = let->body();
  for (size_t i = program.lets().size(); i-- > 0;) {
    const LetNode& let = *program.lets()[i];
    const auto* call = as<CallNode>(let.value());
    const Expr callee = call ? annotated(call->callee()) : Expr();
    const Expr value = call && callee != call->callee()
                           ? Expr(make_call(callee, call->args(), call->attrs(), call->info()))
                           : annotated(let.value());
    body = value == let.value() && body == let.body() ? Expr(&let)
                                                      : make_let(let.var(), value, body, let.info());
  }
  int64_t io = bytes_of(main->body()->checked_type());
  for (const Var& param : main->params()) io += bytes_of(param->checked_type());
  module->replace("main",
                  with_attr(remake_function(*main, main->params(), body), "io_used_memory", AttrValue(io)));
  for (auto& [name, list] : by_name) {
    const Function function = module->find(name);
    if (function && function->is_primitive())
      module->replace(name, with_attr(function, "used_memory", AttrValue(list)));
  }
  return infer_types(std::move(module));
}

}  // namespace

Pass annotate_used_memory() {
  return module_pass({0, "AnnotateUsedMemory", {"InferType"}},
                     [](IRModule module, const PassContext&) { return annotate(std::move(module)); });
}

}  // namespace baton
