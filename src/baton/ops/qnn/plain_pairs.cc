#include "baton/ops/qnn/plain_pairs.h"

#include <tuple>
#include <utility>

#include "baton/ops/rules/qnn_build.h"

namespace baton::qnn {

namespace {

using Typed = std::pair<Expr, Type>;

Typed plain(const Expr& member, const Type& type) {
  if (const auto* fields = as_type<TupleTypeNode>(type)) {
    const auto* tuple = as<TupleNode>(member);
    std::vector<Expr> exprs;
    std::vector<Type> types;
    bool changed = false;
    for (size_t i = 0; i < fields->fields().size(); ++i) {
      const Expr field = tuple ? tuple->fields()[i] : Expr(get_item(member, static_cast<int>(i)));
      auto [expr, field_type] = plain(field, fields->fields()[i]);
      changed = changed || expr != field;
      exprs.push_back(std::move(expr));
      types.push_back(std::move(field_type));
    }
    if (!changed) return {member, type};
    return {baton::tuple(std::move(exprs)), tuple_type(std::move(types))};
  }
  const auto* tensor = as_type<TensorTypeNode>(type);
  if (!tensor) return {member, type};
  const Expr expr = plain_pair_member(member, *tensor);
  if (expr == member) return {member, type};
  const DType dtype = tensor->dtype() == DType::float_(64) ? kFloat32 : tensor->dtype();
  return {expr, tensor_type(is_one_element(*tensor) ? std::vector<Dim>{} : tensor->shape(), dtype)};
}

LegalizeRule::Rewrite over_plain(size_t first, LegalizeRule::Rewrite rewrite) {
  if (!rewrite) return {};
  return [first, rewrite = std::move(rewrite)](const CallNode& call, const std::vector<Type>& types,
                                               const Type& type, const LegalizeTarget& target) -> Expr {
    std::vector<Expr> args = call.args();
    std::vector<Type> plain_types = types;
    for (size_t i = first; i < args.size(); ++i)
      std::tie(args[i], plain_types[i]) = plain(args[i], plain_types[i]);
    if (args == call.args()) return rewrite(call, types, type, target);
    const Call changed = make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
    return rewrite(*changed, plain_types, type, target);
  };
}

}  // namespace

LegalizeRule with_plain_pairs(size_t first, LegalizeRule rule) {
  return {over_plain(first, std::move(rule.legalize)), over_plain(first, std::move(rule.qnn_legalize)),
          over_plain(first, std::move(rule.qnn_canonicalize))};
}

}  // namespace baton::qnn
