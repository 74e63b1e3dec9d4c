#include <algorithm>
#include <map>

#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct EinsumAttrs {
  std::string equation = {};
};

template <>
const AttrSchema& attr_schema<EinsumAttrs>() {
  using A = EinsumAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.EinsumAttrs",
      {{"equation", &A::equation, "subscripts of the inputs and of the result: ij,jk->ik", kNoDefault}});
  return schema;
}

namespace {

// Subscripts of one operand, or nothing when they are no letters.
bool is_subscript(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

RelationStatus einsum_relation(RelationContext& ctx, const EinsumAttrs& attrs) {
  bool failed = false;
  const auto fields = tensor_fields(ctx, 0, &failed);
  if (fields.empty()) return failed ? kFailed : kDefer;
  std::string equation = attrs.equation;
  std::erase(equation, ' ');
  const auto bad = [&](const std::string& why) {
    return fail_attr(ctx, "equation", "\"" + attrs.equation + "\"", why);
  };
  const size_t arrow = equation.find("->");
  std::vector<std::string> operands(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      operands.emplace_back();
    else
      operands.back() += c;
  }
  if (operands.size() != fields.size())
    return bad("it has subscripts for " + std::to_string(operands.size()) + " tensors, and there are " +
               std::to_string(fields.size()));
  std::map<char, Dim> extents;
  std::map<char, int> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_subscript(operands[i])) return bad("subscripts are letters");
    if (operands[i].size() != static_cast<size_t>(fields[i]->rank()))
      return bad("tensor " + std::to_string(i) + " is " + type_text(Type(fields[i])));
    for (size_t k = 0; k < operands[i].size(); ++k) {
      const Dim extent = fields[i]->shape()[k];
      ++uses[operands[i][k]];
      const auto [at, fresh] = extents.emplace(operands[i][k], extent);
      if (fresh || at->second == extent || extent == Dim(1) || extent.is_any()) continue;
      if (at->second != Dim(1) && !at->second.is_any())
        return bad(std::string("axis ") + operands[i][k] + " is " + std::to_string(at->second.value()) +
                   " and " + std::to_string(extent.value()));
      at->second = extent;
    }
  }
  std::string result;
  if (arrow != std::string::npos)
    result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, count] : uses)
      if (count == 1) result += letter;
  std::vector<Dim> shape;
  for (const char c : result) {
    if (!extents.contains(c)) return bad(std::string("the result has a subscript that no tensor has: ") + c);
    shape.push_back(extents.at(c));
  }
  return ctx.assign_result(tensor_type(std::move(shape), fields[0]->dtype()));
}

struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
};

Subscripts subscripts_of(std::string equation) {
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  Subscripts subscripts{{""}, ""};
  std::map<char, int> uses;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',')
      subscripts.operands.emplace_back();
    else
      subscripts.operands.back() += c, ++uses[c];
  }
  if (arrow != std::string::npos)
    subscripts.result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, count] : uses)
      if (count == 1) subscripts.result += letter;
  return subscripts;
}

// The product of all operands, summed over the letters that the result lacks.
void einsum_compute(Compute& c, const EinsumAttrs& attrs) {
  const Subscripts subscripts = subscripts_of(attrs.equation);
  const Halide::Type type = sum_type(c.out().dtype());
  std::map<char, Dim> extents;
  for (size_t k = 0; k < subscripts.operands.size(); ++k)
    for (size_t axis = 0; axis < subscripts.operands[k].size(); ++axis) {
      Dim& extent = extents.emplace(subscripts.operands[k][axis], 1).first->second;
      const Dim own = c.in(static_cast<int>(k)).dim(static_cast<int>(axis));
      if (extent == 1) extent = own;
    }
  const Axes i(c.out().rank());
  std::map<char, Halide::Expr> at;
  for (int axis = 0; axis < i.rank(); ++axis) at[subscripts.result[axis]] = i[axis];
  std::vector<Dim> summed;
  for (const auto& [letter, extent] : extents)
    if (!at.contains(letter)) summed.push_back(extent);
  const Domain r(summed);
  int next = 0;
  for (const auto& [letter, extent] : extents)
    if (!at.contains(letter)) at[letter] = r[next++];
  Halide::Expr product;
  for (size_t k = 0; k < subscripts.operands.size(); ++k) {
    const Tensor& operand = c.in(static_cast<int>(k));
    Index index;
    for (size_t axis = 0; axis < subscripts.operands[k].size(); ++axis)
      index.push_back(operand.dim(static_cast<int>(axis)) == 1 ? Halide::Expr(0)
                                                               : at.at(subscripts.operands[k][axis]));
    const Halide::Expr value = cast(type, operand(index));
    product = product.defined() ? product * value : value;
  }
  Halide::Func sum = c.stage("sum"), result = c.stage("einsum");
  if (summed.empty()) {
    sum(i.reversed()) = product;
  } else {
    sum(i.reversed()) = cast(type, 0);
    sum(i.reversed()) += product;
  }
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(result);
}

}  // namespace

const OpDef& op_einsum() {
  static const OpDef def = OpSpec<EinsumAttrs>{
      .name = "einsum",
      .doc = "Sums of products by subscripts.",
      .inputs = {{"data", "tuple of tensors"}},
      .fuse = Fuse::kInjective,
      .relation = einsum_relation,
      .compute = einsum_compute,
      .python = "tensor",
      .rules = op_rules(reads_all()),
      .test_shapes = {"[(2, 3)f32], equation=\"ij->ji\"", "[(2, 3)f32, (3, 4)f32], equation=\"ij,jk->ik\""},
  };
  return def;
}

}  // namespace baton
