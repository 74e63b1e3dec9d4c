#include "baton/frontend/onnx/kept_node.h"

#include <bit>

#include "baton/frontend/onnx/wire_writer.h"
#include "baton/ir/inspect.h"

namespace baton::onnx {

namespace {

std::string to_hex(std::string_view bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<uint8_t>(byte);
    text += kDigits[value >> 4], text += kDigits[value & 15];
  }
  return text;
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

/// -1 for an extent that is not a number.
std::vector<int64_t> extents_or_minus_one(const TensorTypeNode& type) {
  std::vector<int64_t> shape;
  for (const Dim each : type.shape()) shape.push_back(each.is_any() ? -1 : each.value());
  return shape;
}

}  // namespace

Expr error_of_type(const Conversion& c, const Expr& on, const std::string& message, const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return c.call(
      "onnx.error", {on},
      {{"message", message}, {"shape", extents_or_minus_one(*tensor)}, {"dtype", tensor->dtype().str()}});
}

Expr kept_node(const Conversion& c, const std::string& path, const std::vector<Type>& types) {
  AttrList shapes, dtypes;
  for (const Type& type : types) {
    const auto* tensor = as_type<TensorTypeNode>(type);
    shapes.emplace_back(extents_or_minus_one(*tensor));
    dtypes.emplace_back(tensor->dtype().str());
  }
  std::vector<Expr> inputs;
  for (size_t i = 0; i < c.count(); ++i)
    if (c.has(i)) inputs.push_back(c[i]);
  return c.call("onnx.node", std::move(inputs),
                {{"path", path}, {"model", to_hex(model_bytes(c))}, {"shapes", shapes}, {"dtypes", dtypes}});
}

}  // namespace baton::onnx
