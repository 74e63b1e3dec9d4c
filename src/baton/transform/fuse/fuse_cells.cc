// Makes the kernels of a recurrent cell one kernel:
//   g = dense(h, w) + x;  c1 = f(split(g), c);  h1 = k(split(g), c1)
//     ->  (h1, c1) = fn (h, w, x, c, Primitive=1) { ... }(h, w, x, c)
// Which kernels these are is decided in cells.h. FuseOps, whose groups are TVM's, lets only operators of the
// same shape follow a product, and makes a kernel for each result.
//
// Origins: operators keep theirs; the function and its call get the union.
#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/fuse/cells.h"
#include "baton/transform/fuse/fuse_ops.h"

namespace baton {

namespace {

class CellFuser final : public Rewriter {
 public:
  CellFuser(const CellFinder& finder, FusionLog* log) : finder_(finder), made_(finder.cells().size()) {
    if (log) log->join(calls_with_users());
  }

  Function fused(const Function& function) {
    // In this order whatever a cell needs is there when its first part is reached.
    for (const Expr& node : finder_.order()) run(node);
    return as_ref<FunctionNode>(run(Expr(function)));
  }

 private:
  /// The operators that end parts whose results the cell reads.
  std::vector<Ref<const CallNode>> calls_with_users() const {
    std::vector<Ref<const CallNode>> calls;
    for (const CellFinder::Cell& cell : finder_.cells())
      for (const CellFinder::Position at : cell)
        if (const auto root = as_ref<CallNode>(finder_.part(at).function->body());
            root && !finder_.is_read_outside(at))
          calls.push_back(root);
    return calls;
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(original)) {
      if (finder_.cell_of(item->tuple().get()) < 0) return rebuilt;
      const Expr results = mapped(item->tuple());
      const auto* fields = as<TupleNode>(results);  // else only the cell reads it
      return fields ? fields->fields()[static_cast<size_t>(item->index())] : results;
    }
    const int cell = finder_.cell_of(original.get());
    if (cell < 0) return rebuilt;
    Results& results = made_[static_cast<size_t>(cell)];
    if (results.empty()) results = outline(finder_.cells()[static_cast<size_t>(cell)]);
    return *results.find(original.get());
  }

  using Results = PointerMap<Expr>;  ///< of a cell, by the call that computed it

  /// The result of each part as one of a call of the cell; of those that only the cell reads, nothing useful.
  Results outline(const CellFinder::Cell& cell) {
    std::vector<Var> params;
    std::vector<Expr> args;
    std::vector<OriginSet> origins;
    PointerMap<Expr> param_of, inner;
    const auto operand = [&](const Expr& arg) -> Expr {
      if (const Expr* value = inner.find(computed_by(arg).get())) {
        const auto* item = as<TupleGetItemNode>(arg);
        return item ? make_tuple_get_item(*value, item->index(), arg->with_type({})) : *value;
      }
      const Expr value = mapped(arg);
      const auto [param, fresh] = param_of.insert(value.get(), Expr());
      if (fresh) {
        const Var var =
            make_var("p" + std::to_string(params.size()), arg->checked_type(), NodeInfo(OriginSet::none()));
        params.push_back(var);
        args.push_back(value);
        *param = Expr(var);
      }
      return *param;
    };
    std::vector<Expr> outputs;
    for (const CellFinder::Position at : cell) {
      const CellPart& part = finder_.part(at);
      std::unordered_map<const ExprNode*, Expr> values;
      for (size_t i = 0; i < part.call->args().size(); ++i)
        values[part.function->params()[i].get()] = operand(part.call->args()[i]);
      const Expr body = substitute(part.function->body(), values);
      inner.insert(part.call.get(), body);
      origins.push_back(part.call->origins());
      if (!finder_.is_read_outside(at)) continue;
      const size_t count = fields_of(part);
      for (size_t i = 0; i < count; ++i) outputs.push_back(field(body, part, i));
    }
    const NodeInfo info(OriginSet::merge_all(origins));
    const Expr body = outputs.size() == 1 ? outputs[0] : make_tuple(outputs, NodeInfo(OriginSet::none()));
    const Function function = make_function(std::move(params), body, {}, {{"Primitive", 1}}, info);
    const Expr call = make_call(Expr(function), std::move(args), {}, info);
    return results_of(cell, call, outputs.size());
  }

  Results results_of(const CellFinder::Cell& cell, const Expr& call, size_t count) const {
    Results results;
    size_t next = 0;
    const auto output = [&](const NodeInfo& info) {
      const auto index = static_cast<int>(next++);
      return count == 1 ? call : make_tuple_get_item(call, index, info);
    };
    for (const CellFinder::Position at : cell) {
      const CellPart& part = finder_.part(at);
      const NodeInfo info = part.call->with_type({});
      if (!finder_.is_read_outside(at)) {
        results.insert(part.call.get(), call);
      } else if (is_tuple(part)) {
        std::vector<Expr> fields;
        for (size_t i = 0; i < fields_of(part); ++i) fields.push_back(output(info));
        results.insert(part.call.get(), make_tuple(std::move(fields), NodeInfo(OriginSet::none())));
      } else {
        results.insert(part.call.get(), output(info));
      }
    }
    return results;
  }

  static bool is_tuple(const CellPart& part) { return as_type<TupleTypeNode>(part.call->checked_type()); }
  static size_t fields_of(const CellPart& part) {
    const auto* tuple = as_type<TupleTypeNode>(part.call->checked_type());
    return tuple ? tuple->fields().size() : 1;
  }
  static Expr field(const Expr& body, const CellPart& part, size_t index) {
    if (!is_tuple(part)) return body;
    if (const auto* tuple = as<TupleNode>(body)) return tuple->fields()[index];
    return make_tuple_get_item(body, static_cast<int>(index), part.call->with_type({}));
  }

  const CellFinder& finder_;
  std::vector<Results> made_;
};

}  // namespace

bool has_cells(const IRModuleNode& module, const PassContext& context) {
  return std::ranges::any_of(module.functions(), [&](const auto& named) {
    return !is_closed(*named.second) && !CellFinder(named.second, most_operators(context)).cells().empty();
  });
}

Pass fuse_cells() {
  return function_pass({1, "FuseCells", {"InferType"}},
                       [](const Function& function, const IRModule&, const BuildContext& context) {
                         const CellFinder finder(function, most_operators(context));
                         if (finder.cells().empty()) return function;
                         return CellFuser(finder, context.fusion_log).fused(function);
                       });
}

}  // namespace baton
