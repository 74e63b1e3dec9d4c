#include "baton/frontend/onnx/node_operator.h"

#include "baton/frontend/onnx/importer.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct OnnxNodeAttrs {
  std::string path, model;
  std::vector<std::vector<int64_t>> shapes = {};
  std::vector<std::string> dtypes = {};
};

template <>
const AttrSchema& attr_schema<OnnxNodeAttrs>() {
  using A = OnnxNodeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "baton.attrs.OnnxNodeAttrs",
      {{"path", &A::path, "the file that the node comes from", kNoDefault},
       {"model", &A::model, "an ONNX model of this node alone, its bytes as hexadecimal digits", kNoDefault},
       {"shapes", &A::shapes, "of each result; -1: known at run time", kNoDefault},
       {"dtypes", &A::dtypes, "of each result", kNoDefault}});
  return schema;
}

struct OnnxErrorAttrs {
  std::string message;
  std::vector<int64_t> shape = {};
  std::string dtype;
};

template <>
const AttrSchema& attr_schema<OnnxErrorAttrs>() {
  using A = OnnxErrorAttrs;
  static const AttrSchema schema = make_schema<A>(
      "baton.attrs.OnnxErrorAttrs", {{"message", &A::message, "why there is no result", kNoDefault},
                                     {"shape", &A::shape, "of the result; -1: not known", kNoDefault},
                                     {"dtype", &A::dtype, "of the result", kNoDefault}});
  return schema;
}

namespace onnx {

namespace {

std::string from_hex(std::string_view text) {
  const auto digit = [](char c) -> int {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) throw Error("`model` of onnx.node is not written in hexadecimal digits");
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

/// nullptr where `dtype` names none.
Type result_type(const std::vector<int64_t>& extents, const std::string& dtype) {
  std::vector<Dim> shape;
  for (const int64_t extent : extents) shape.push_back(extent < 0 ? Dim::any() : Dim(extent));
  const std::optional<DType> known = DType::parse(dtype);
  return known ? baton::tensor_type(std::move(shape), *known) : Type();
}

RelationStatus error_relation(RelationContext& ctx, const OnnxErrorAttrs& attrs) {
  const Type type = result_type(attrs.shape, attrs.dtype);
  if (!type) return fail_attr(ctx, "dtype", "\"" + attrs.dtype + "\"", "it is no element type");
  return ctx.assign_result(type);
}

Expr raised(const CallNode& call, const BuildContext&) {
  throw Error(attrs_as<OnnxErrorAttrs>(call.attrs()).message);
}

const OpDef& op_onnx_error() {
  static const OpDef def = OpSpec<OnnxErrorAttrs>{
      .name = "onnx.error",
      .doc = "Raises an error: in the place of a branch that its inputs' types do not permit.",
      .inputs = {{"on", "any value that is known at run time only"}},
      .relation = error_relation,
      .non_computational = true,
      .data_dependent = true,
      .declares_attrs = false,
      .rules = op_rules(RunTimeRule{raised}),
  };
  return def;
}

RelationStatus node_relation(RelationContext& ctx, const OnnxNodeAttrs& attrs) {
  if (attrs.shapes.empty() || attrs.shapes.size() != attrs.dtypes.size())
    return fail_attr(ctx, "dtypes", std::to_string(attrs.dtypes.size()) + " types",
                     "one is needed for each shape");
  std::vector<Type> types;
  for (size_t i = 0; i < attrs.shapes.size(); ++i) {
    types.push_back(result_type(attrs.shapes[i], attrs.dtypes[i]));
    if (!types.back())
      return fail_attr(ctx, "dtypes", "\"" + attrs.dtypes[i] + "\"", "it is no element type");
  }
  return ctx.assign_result(types.size() == 1 ? types[0] : tuple_type(std::move(types)));
}

Expr expanded(const CallNode& call, const BuildContext& context) {
  const auto& attrs = attrs_as<OnnxNodeAttrs>(call.attrs());
  const auto bytes = std::make_shared<const std::string>(from_hex(attrs.model));
  const OriginScope origins(call.origins());
  return Importer(read_model_bytes(*bytes, attrs.path, bytes), {}, context).applied(call.args());
}

const OpDef& op_onnx_node() {
  static const OpDef def = OpSpec<OnnxNodeAttrs>{
      .name = "onnx.node",
      .doc = "A node of an ONNX file, converted once the values of its inputs are known.",
      .inputs = {{"inputs", "those that are given"}},
      .variadic = true,
      .relation = node_relation,
      .non_computational = true,
      .data_dependent = true,
      .declares_attrs = false,
      .rules = op_rules(RunTimeRule{expanded}),
  };
  return def;
}

}  // namespace

void register_node_operators() {
  static const bool once = [] {
    register_ops({&op_onnx_node(), &op_onnx_error()});
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace onnx

}  // namespace baton
