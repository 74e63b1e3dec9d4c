// Single operators in another type, to see how fast they would be: no care is taken of what that does to the
// values.
//   nn.conv2d(x, w)  ->  cast(nn.conv2d(cast(x, int8), cast(w, int8), out_dtype=int32), float32)
// Calls of the operators asked for are counted in layers: how many of them lie between a call and the result.
#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/op_names.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/types/infer_type.h"
#include "baton/types/known_types.h"

namespace baton {

namespace {

struct Recasting {
  DType dtype, out_dtype;
  std::vector<const OpDef*> ops;
  std::vector<int64_t> skip_layers;  ///< 0: the first; -1: the last

  bool concerns(const Expr& node) const {
    const auto* call = as<CallNode>(node);
    return call && call->op() && std::ranges::count(ops, call->op()) > 0;
  }
};

class Recaster final : public Rewriter {
 public:
  Recaster(const Recasting& what, const Expr& root, const IRModuleNode& module)
      : what_(what), module_(module) {
    if (!what.skip_layers.empty()) number_layers(root);
  }

 private:
  // A call's layer counts from the front: the longest chain has `total` of them. Where several paths lead
  // from the result to a call, the first one counts.
  void number_layers(const Expr& root) {
    PointerMap<int64_t> longest;
    int64_t total = 0;
    post_order(root, [&](const Expr& node) {
      int64_t below = 0;
      for_each_child(*node, [&](const Expr& child) { below = std::max(below, *longest.find(child.get())); });
      longest.insert(node.get(), below + what_.concerns(node));
      total = std::max(total, below + what_.concerns(node));
    });
    PointerSet seen;
    std::vector<std::pair<Expr, int64_t>> todo{{root, 0}};
    while (!todo.empty()) {
      const auto [node, depth] = todo.back();
      todo.pop_back();
      if (!seen.insert(node.get())) continue;
      const bool counts = what_.concerns(node);
      if (counts) layers_.insert(node.get(), total - depth - 1);
      const auto first = static_cast<ptrdiff_t>(todo.size());
      for_each_child(*node,
                     [&, depth = depth](const Expr& child) { todo.emplace_back(child, depth + counts); });
      std::reverse(todo.begin() + first, todo.end());
    }
    for (const int64_t layer : what_.skip_layers) skipped_.push_back(layer < 0 ? layer + total : layer);
  }

  bool is_skipped(const Expr& call) const {
    const int64_t* layer = layers_.find(call.get());
    return layer && std::ranges::count(skipped_, *layer) > 0;
  }

  bool enter(const Expr&) override { return true; }
  // A result that is cast back is what it was: so is everything that is computed from it.
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* type = what_.concerns(original) ? as_type<TensorTypeNode>(original->checked_type()) : nullptr;
    if (!type || is_skipped(original)) return rebuilt;
    const auto* was = as<CallNode>(original);
    const auto* call = as<CallNode>(rebuilt);
    made_ = was->origins().empty()
                ? OriginSet::none()
                : OriginSet::made_for(was->origins(), was->op()->name + " computes in " + what_.dtype.str());
    std::vector<Expr> args;
    for (size_t i = 0; i < call->args().size(); ++i) args.push_back(recast(call->args()[i], was->args()[i]));
    const bool says = call->attrs() && call->attrs()->schema().find("out_dtype");
    const Attrs attrs = says ? with_fields(call->attrs(), {{"out_dtype", what_.out_dtype}}) : call->attrs();
    return cast(typed_node(make_call(call->callee(), std::move(args), attrs, was->with_type({})), module_),
                type->dtype());
  }

  Expr recast(const Expr& arg, const Expr& original) {
    const auto* fields = as_type<TupleTypeNode>(original->checked_type());
    if (!fields) return cast(arg, what_.dtype);
    const auto* tuple = as<TupleNode>(arg);
    std::vector<Expr> cast_fields;
    for (size_t i = 0; i < fields->fields().size(); ++i) {
      const NodeInfo info(OriginSet::none(), arg->span(), fields->fields()[i]);
      cast_fields.push_back(cast(
          tuple ? tuple->fields()[i] : make_tuple_get_item(arg, static_cast<int>(i), info), what_.dtype));
    }
    return typed_node(make_tuple(std::move(cast_fields), NodeInfo(OriginSet::none(), arg->span())), module_);
  }

  Expr cast(const Expr& expr, DType dtype) const {
    const auto* type = as_type<TensorTypeNode>(expr->checked_type());
    return make_call(op_, {expr}, make_attrs(*find_op("cast")->attrs, {{"dtype", dtype}}),
                     NodeInfo(made_, {}, type ? tensor_type(type->shape(), dtype) : Type()));
  }

  const Recasting& what_;
  const IRModuleNode& module_;
  PointerMap<int64_t> layers_;  // where some are skipped
  std::vector<int64_t> skipped_;
  OriginSet made_ = OriginSet::none();
  const Expr op_ = op_expr(*find_op("cast"));
};

DType dtype_arg(PassArgReader& reader, const char* name) {
  const std::string text = reader.text(name, "");
  const auto dtype = DType::parse(text);
  if (!dtype || dtype->is_void())
    throw UsageError(std::string("recast: ") + name + " is \"" + text +
                     "\"; a type such as \"int8\" is expected");
  return *dtype;
}

}  // namespace

Pass recast(const PassArgs& args) {
  PassArgReader reader("recast", args);
  Recasting what{dtype_arg(reader, "dtype"), dtype_arg(reader, "out_dtype"), {}, {}};
  for (const std::string& name : reader.texts("ops", {op_names::kConv2D})) {
    what.ops.push_back(find_op(name));
    if (!what.ops.back()) throw UsageError("recast: there is no operator " + name);
  }
  if (const AttrValue* layers = reader.value("skip_layers")) what.skip_layers = ints_of(*layers);
  reader.finish();
  return module_pass({0, "recast", {}}, [what](IRModule module, const PassContext&) {
    const Function given = module->find("main");
    if (!given) return module;
    module = infer_types(std::move(module));
    const Function main = module->find("main");
    Function result = as_ref<FunctionNode>(Recaster(what, Expr(main), *module).run(Expr(main)));
    // A result type that is written down stays right: every call gives what it gave. None is added, as in
    // TVM.
    if (!given->ret_type())
      result = make_function(result->params(), result->body(), Type(), result->attrs(),
                             NodeInfo(result->origins(), result->span()), result->type_params());
    module->replace("main", result);
    return module;
  });
}

}  // namespace baton
