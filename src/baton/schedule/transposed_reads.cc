#include "baton/schedule/transposed_reads.h"

namespace baton {
namespace {

namespace hi = Halide::Internal;

/// The innermost indices that inputs of several axes are read at.
class InnermostIndices final : public hi::IRGraphVisitor {
 public:
  std::vector<const hi::Call*> reads;

 private:
  using IRGraphVisitor::visit;
  void visit(const hi::Call* call) override {
    if (call->call_type == hi::Call::Image && call->args.size() > 1) reads.push_back(call);
    IRGraphVisitor::visit(call);
  }
};

/// The iterations of `loop` along which `index` counts upwards by one; 0: it does not.
int counted_by(const Halide::Expr& index, const LoopRange& loop) {
  if (!hi::expr_uses_var(index, loop.name)) return 0;
  if (const auto* sum = index.as<hi::Add>()) {
    if (!hi::expr_uses_var(sum->b, loop.name)) return counted_by(sum->a, loop);
    return hi::expr_uses_var(sum->a, loop.name) ? 0 : counted_by(sum->b, loop);
  }
  if (const auto* rest = index.as<hi::Mod>()) {
    const auto block = hi::as_const_int(rest->b);
    return block ? std::min(static_cast<int>(*block), counted_by(rest->a, loop)) : 0;
  }
  return index.as<hi::Variable>() ? loop.extent : 0;
}

}  // namespace

std::optional<TransposedLoop> find_transposed_loop(const Halide::Func& func,
                                                   const std::vector<LoopRange>& loops) {
  const Halide::Expr value = inlined_value(func);
  if (!value.defined()) return std::nullopt;
  InnermostIndices found;
  value.accept(&found);
  TransposedLoop best;
  for (const hi::Call* read : found.reads) {
    const Halide::Expr innermost = hi::simplify(read->args.front());
    if (loops.empty() || counted_by(innermost, loops.front()) > 0) continue;
    bool moves = false;  // with the innermost loop
    for (const Halide::Expr& at : read->args) moves = moves || hi::expr_uses_var(at, loops.front().name);
    for (int dim = 1; moves && dim < static_cast<int>(loops.size()); ++dim)
      if (const int length = counted_by(innermost, loops[static_cast<size_t>(dim)]); length > best.length)
        best = {dim, length};
  }
  return best.length > 1 ? std::optional(best) : std::nullopt;
}

}  // namespace baton
