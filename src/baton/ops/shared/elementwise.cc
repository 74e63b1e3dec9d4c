#include "baton/ops/shared/elementwise.h"

#include "baton/ops/relations.h"

namespace baton {

namespace {

// "nn.relu" -> "relu": stages carry the operator's last name.
std::string stage_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

OpDef map_op(const char* name, const char* doc, Relation relation,
             std::function<Halide::Expr(Halide::Expr)> f, OpRules rules, Texts test_shapes) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.inputs = {{"data", "tensor"}};
  def.num_inputs = 1;
  def.fuse = Fuse::kElementwise;
  def.relation = std::move(relation);
  def.compute = [f = std::move(f), stage = stage_of(name)](Compute& c, const Attrs&) {
    map_compute(c, stage, f);
  };
  def.python = "tensor";
  def.rules = std::move(rules);
  def.rules.set(same_layout_flow());
  if (test_shapes.empty()) test_shapes = {"(3, 5)f32[-2, 2]", "(1)f32[-2, 2]", "(2, 0)f32"};
  def.test_shapes = std::move(test_shapes);
  return def;
}

OpDef pair_op(const char* name, const char* doc, DType result, Binary f, OpRules rules, Texts test_shapes) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.inputs = {{"lhs", "tensor"}, {"rhs", "tensor, broadcast with lhs"}};
  def.num_inputs = 2;
  def.fuse = Fuse::kBroadcast;
  def.relation = [result](RelationContext& ctx, const Attrs&) { return broadcast_relation(ctx, result); };
  def.compute = [f, stage = stage_of(name)](Compute& c, const Attrs&) {
    const Axes i(c.out().rank());
    const Index at = i.exprs();
    Halide::Func both = c.stage(stage);
    both(i.reversed()) = cast_to(c.out().dtype(), f(broadcast_at(c.in(0), at), broadcast_at(c.in(1), at)));
    c.result(both);
  };
  def.python = "tensor";
  def.rules = std::move(rules);
  def.rules.set(broadcast_layout_flow());
  if (test_shapes.empty())
    test_shapes = {"(3, 5)f32[0.5, 3], (5)f32[0.5, 3]", "(4, 3)i32[1, 9], (2, 1, 3)i32[1, 5]",
                   "()f32[0.5, 3], (1)f32[0.5, 3]"};
  def.test_shapes = std::move(test_shapes);
  return def;
}

}  // namespace

OpDef unary_op(const char* name, const char* doc, Unary f, OpRules rules, Texts test_shapes) {
  return map_op(
      name, doc, [](RelationContext& ctx, const Attrs&) { return identity_relation(ctx); }, f,
      std::move(rules), std::move(test_shapes));
}

OpDef real_op(const char* name, const char* doc, Unary f, OpRules rules, Texts test_shapes) {
  auto in_real = [f](Halide::Expr x) {
    const Halide::Type type = x.type();
    if (type.is_float() && type.bits() >= 32) return f(std::move(x));
    return from_real(type, f(cast<float>(std::move(x))));
  };
  return map_op(
      name, doc, [](RelationContext& ctx, const Attrs&) { return identity_relation(ctx); }, in_real,
      std::move(rules), std::move(test_shapes));
}

OpDef predicate_op(const char* name, const char* doc, Unary f, Texts test_shapes) {
  return map_op(
      name, doc, [](RelationContext& ctx, const Attrs&) { return same_shape_relation(ctx, DType::bool_()); },
      f, {}, std::move(test_shapes));
}

OpDef binary_op(const char* name, const char* doc, Binary f, OpRules rules, Texts test_shapes) {
  return pair_op(name, doc, DType::void_(), f, std::move(rules), std::move(test_shapes));
}
OpDef compare_op(const char* name, const char* doc, Binary f, OpRules rules, Texts test_shapes) {
  return pair_op(name, doc, DType::bool_(), f, std::move(rules), std::move(test_shapes));
}

}  // namespace baton
