#include "baton/codegen/dnnl/operators.h"

#include "baton/ir/inspect.h"

namespace baton::dnnl_blob {
namespace {

/// Refuses types that the call's primitive has not.
void require_types(Types types, const CallNode& call) {
  std::vector<DType> operands, results;
  for (const Expr& arg : call.args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) operands.push_back(type->dtype());
  for (const TensorTypeNode* type : flat_types(call.checked_type())) results.push_back(type->dtype());
  const auto is_byte = [](DType type) { return type == DType::int_(8) || type == DType::uint_(8); };
  if (types == Types::kAny || (types == Types::kMaximum && is_byte(operands[0]))) return;
  if (types == Types::kProduct && is_byte(operands[0])) {
    if (operands[1] != DType::int_(8))
      refuse("has weights of type " + operands[1].str() + ", and oneDNN multiplies bytes by int8 only");
    if (results[0] != DType::int_(32))
      refuse("has sums of type " + results[0].str() + ", and oneDNN adds products of bytes in int32");
    return;
  }
  operands.insert(operands.end(), results.begin(), results.end());
  for (const DType type : operands)
    if (type != DType::float_(32)) refuse("has elements of type " + type.str() + ", not float32");
}

}  // namespace

const OperatorTable& operators() {
  static const OperatorTable all = [] {
    OperatorTable table;
    for (OperatorTable part :
         {elementwise_operators(), layer_operators(), norm_operators(), shape_operators()})
      table.merge(part);
    return table;
  }();
  return all;
}

void lower_operator(RegionWriter& writer, const CallNode& call) {
  const auto at = operators().find(call.op()->name);
  if (at == operators().end()) refuse("is not mapped to a primitive of oneDNN");
  const Operator& op = at->second;
  require_types(op.types, call);
  for (const TensorTypeNode* type : flat_types(call.checked_type())) dims_of(*type);  // may refuse
  const View value = op.lower(writer, call);
  std::vector<View> results = {value};
  for (const size_t operand : op.forwarded) results.push_back(writer.value_of(call.args()[operand]));
  writer.define(call, std::move(results));
  if (!op.is_view) writer.set_owner(value, call);
}

}  // namespace baton::dnnl_blob
