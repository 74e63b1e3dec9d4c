#include "baton/frontend/onnx/kept_node.h"

#include <bit>

#include "baton/frontend/onnx/importer.h"
#include "baton/frontend/onnx/wire_writer.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/run_time_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/types/infer_type.h"

namespace baton {

struct OnnxNodeAttrs {
  std::string path, model;
  std::vector<std::vector<int64_t>> shapes = {};
  std::vector<std::string> dtypes = {};
};

template <>
const AttrSchema& attr_schema<OnnxNodeAttrs>() {
  using A = OnnxNodeAttrs;
  static const AttrSchema schema =
      make_schema<A>("baton.attrs.OnnxNodeAttrs",
                     {{"path", &A::path, "the file that the node comes from", kNoDefault},
                      {"model", &A::model, "an ONNX model of this node alone, its bytes as hexadecimal digits",
                       kNoDefault},
                      {"shapes", &A::shapes, "of each result; -1: known at run time", kNoDefault},
                      {"dtypes", &A::dtypes, "of each result", kNoDefault}});
  return schema;
}

namespace onnx {

namespace {

constexpr const char* kName = "onnx.node";

std::string to_hex(std::string_view bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<uint8_t>(byte);
    text += kDigits[value >> 4], text += kDigits[value & 15];
  }
  return text;
}

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

std::string attribute_bytes(const Conversion& c, const AttributeFile& attribute) {
  using Kind = AttributeFile::Kind;
  WireWriter out;
  out.bytes(1, attribute.name);
  switch (attribute.kind) {
    case Kind::kFloat:
      out.fixed32(2, std::bit_cast<uint32_t>(attribute.f));
      break;
    case Kind::kInt:
      out.varint(3, static_cast<uint64_t>(attribute.i));
      break;
    case Kind::kString:
      out.bytes(4, attribute.s);
      break;
    case Kind::kFloats:
      for (const float each : attribute.floats) out.fixed32(7, std::bit_cast<uint32_t>(each));
      break;
    case Kind::kInts:
      for (const int64_t each : attribute.ints) out.varint(8, static_cast<uint64_t>(each));
      break;
    case Kind::kStrings:
      for (const std::string_view each : attribute.strings) out.bytes(9, each);
      break;
    default:
      throw c.not_supported("values at run time of a node whose attribute `" + std::string(attribute.name) +
                            "` is a tensor or a graph");
  }
  out.varint(20, static_cast<uint64_t>(attribute.kind));
  return out.take();
}

/// Inputs are i0, i1, ...; those that are not given stay without a name.
std::string model_bytes(const Conversion& c) {
  WireWriter node, graph, opset, model;
  for (size_t i = 0; i < c.count(); ++i) {
    const std::string name = c.has(i) ? "i" + std::to_string(i) : "";
    node.bytes(1, name);
    if (c.has(i)) graph.bytes(11, WireWriter().bytes(1, name).take());
  }
  for (size_t i = 0; i < c.outputs(); ++i) {
    if (!c.wants(i)) {
      node.bytes(2, "");
      continue;
    }
    const std::string name = "o" + std::to_string(i);
    node.bytes(2, name);
    graph.bytes(12, WireWriter().bytes(1, name).take());
  }
  node.bytes(3, c.node.name).bytes(4, c.node.op_type).bytes(7, c.node.domain);
  for (const AttributeFile& each : c.node.attributes) node.bytes(5, attribute_bytes(c, each));
  graph.bytes(1, node.take());
  opset.bytes(1, c.node.domain).varint(2, static_cast<uint64_t>(c.version));
  return model.varint(1, 8).bytes(8, opset.take()).bytes(7, graph.take()).take();
}

RelationStatus node_relation(RelationContext& ctx, const OnnxNodeAttrs& attrs) {
  if (attrs.shapes.empty() || attrs.shapes.size() != attrs.dtypes.size())
    return fail_attr(ctx, "dtypes", std::to_string(attrs.dtypes.size()) + " types",
                     "one is needed for each shape");
  std::vector<Type> types;
  for (size_t i = 0; i < attrs.shapes.size(); ++i) {
    std::vector<Dim> shape;
    for (const int64_t extent : attrs.shapes[i]) shape.push_back(extent < 0 ? Dim::any() : Dim(extent));
    const std::optional<DType> dtype = DType::parse(attrs.dtypes[i]);
    if (!dtype) return fail_attr(ctx, "dtypes", "\"" + attrs.dtypes[i] + "\"", "it is no element type");
    types.push_back(baton::tensor_type(std::move(shape), *dtype));
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
      .name = kName,
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

void register_kept_node() {
  static const bool once = [] {
    register_ops({&op_onnx_node()});
    return true;
  }();
  static_cast<void>(once);
}

Expr kept_node(const Conversion& c, const std::string& path, const std::vector<Type>& types) {
  AttrList shapes, dtypes;
  for (const Type& type : types) {
    const auto* tensor = as_type<TensorTypeNode>(type);
    std::vector<int64_t> shape;
    for (const Dim each : tensor->shape()) shape.push_back(each.is_any() ? -1 : each.value());
    shapes.emplace_back(shape);
    dtypes.emplace_back(tensor->dtype().str());
  }
  std::vector<Expr> inputs;
  for (size_t i = 0; i < c.count(); ++i)
    if (c.has(i)) inputs.push_back(c[i]);
  return c.call(kName, std::move(inputs),
                {{"path", path}, {"model", to_hex(model_bytes(c))}, {"shapes", shapes}, {"dtypes", dtypes}});
}

}  // namespace onnx

}  // namespace baton
