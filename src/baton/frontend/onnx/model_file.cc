#include "baton/frontend/onnx/model_file.h"

#include <algorithm>
#include <bit>
#include <fstream>

#include "baton/frontend/onnx/mapped_file.h"
#include "baton/support/error.h"

namespace baton::onnx {

namespace {

constexpr int kMostDepth = 64;  // of graphs within graphs, and of types within types

/// Adds where an error was met, from the inside out: "graph: node `Conv_1`: attribute `pads`: ...".
template <class Read>
void within(const std::string& where, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    throw Error(where + ": " + error.what());
  }
}

std::string quoted(const char* kind, std::string_view name) {
  return std::string(kind) + " `" + std::string(name) + "`";
}

std::string_view text(const WireField& field) {
  if (field.type != WireType::kBytes)
    throw Error("field " + std::to_string(field.number) + " is a number where a text or message should be");
  return field.bytes;
}
int64_t integer(const WireField& field) {
  if (field.type != WireType::kVarint)
    throw Error("field " + std::to_string(field.number) + " is no integer");
  return field.integer();
}

template <class Each>
void each_field(std::string_view message, const Each& each) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) each(field);
}

void add_integers(const WireField& field, std::vector<int64_t>& to) {
  PackedValues values;
  values.add(field, WireType::kVarint);
  for (const uint64_t value : values.values(values.bytes())) to.push_back(static_cast<int64_t>(value));
}

std::pair<std::string_view, std::string_view> read_pair(std::string_view message) {
  std::pair<std::string_view, std::string_view> pair;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) pair.first = text(field);
    if (field.number == 2) pair.second = text(field);
  });
  return pair;
}

void read_opset(std::string_view message, OpsetVersions& opsets) {
  std::string_view domain;
  int64_t version = 0;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) domain = text(field);
    if (field.number == 2) version = integer(field);
  });
  opsets[domain == "ai.onnx" ? std::string_view() : domain] = version;
}

TensorFile read_tensor(std::string_view message) {
  TensorFile tensor;
  each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        return add_integers(field, tensor.dims);
      case 2:
        tensor.element = static_cast<Element>(integer(field));
        return;
      case 3:
        throw Error("it is a segment of a tensor, which no version of ONNX defines");
      case 4:
        return tensor.floats.add(field, WireType::kFixed32);
      case 5:
        return tensor.ints.add(field, WireType::kVarint);
      case 6:
        tensor.strings.push_back(text(field));
        return;
      case 7:
        return tensor.longs.add(field, WireType::kVarint);
      case 8:
        tensor.name = text(field);
        return;
      case 9:
        tensor.has_raw = true;
        tensor.raw = text(field);
        return;
      case 10:
        return tensor.doubles.add(field, WireType::kFixed64);
      case 11:
        return tensor.unsigned_longs.add(field, WireType::kVarint);
      case 13:
        tensor.external.push_back(read_pair(text(field)));
        return;
      case 14:
        tensor.is_external = integer(field) == 1;
        return;
      default:
        return;
    }
  });
  return tensor;
}

SparseTensorFile read_sparse(std::string_view message) {
  SparseTensorFile tensor;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) tensor.values = read_tensor(text(field));
    if (field.number == 2) tensor.indices = read_tensor(text(field));
    if (field.number == 3) add_integers(field, tensor.dims);
  });
  return tensor;
}

DimFile read_dim(std::string_view message) {
  DimFile dim;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) dim = {true, integer(field), {}};
    if (field.number == 2) dim = {false, 0, text(field)};
  });
  return dim;
}

void read_tensor_type(std::string_view message, TypeFile& type) {
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) type.element = static_cast<Element>(integer(field));
    if (field.number != 2) return;
    type.has_shape = true;
    each_field(text(field), [&](const WireField& dim) {
      if (dim.number == 1) type.dims.push_back(read_dim(text(dim)));
    });
  });
}

TypeFile read_type(std::string_view message, int depth) {
  if (depth > kMostDepth) throw Error("its type nests more than " + std::to_string(kMostDepth) + " deep");
  TypeFile type;
  const auto nested = [&](const WireField& field, TypeFile::Kind kind) {
    type.kind = kind;
    each_field(text(field), [&](const WireField& of) {
      if (of.number == 1) type.of = std::make_shared<const TypeFile>(read_type(text(of), depth + 1));
    });
  };
  each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        type.kind = TypeFile::Kind::kTensor;
        return read_tensor_type(text(field), type);
      case 4:
        return nested(field, TypeFile::Kind::kSequence);
      case 5:
        type.kind = TypeFile::Kind::kMap;
        return;
      case 7:
        type.kind = TypeFile::Kind::kOpaque;
        return;
      case 8:
        type.kind = TypeFile::Kind::kSparseTensor;
        return;
      case 9:
        return nested(field, TypeFile::Kind::kOptional);
      default:
        return;
    }
  });
  return type;
}

ValueFile read_value(std::string_view message) {
  ValueFile value;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) value.name = text(field);
    if (field.number == 2)
      within(quoted("value", value.name), [&] { value.type = read_type(text(field), 0); });
  });
  return value;
}

GraphFile read_graph(std::string_view message, int depth);

void read_attribute_value(const WireField& field, AttributeFile& attribute, int depth) {
  const auto graph = [&] {
    attribute.graphs.push_back(std::make_shared<const GraphFile>(read_graph(text(field), depth + 1)));
  };
  switch (field.number) {
    case 2:
      attribute.f = field.float32();
      return;
    case 3:
      attribute.i = integer(field);
      return;
    case 4:
      attribute.s = text(field);
      return;
    case 5:
    case 10:
      attribute.tensors.push_back(read_tensor(text(field)));
      return;
    case 6:
    case 11:
      return graph();
    case 7: {
      PackedValues values;
      values.add(field, WireType::kFixed32);
      for (const uint64_t bits : values.values(values.bytes()))
        attribute.floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      return;
    }
    case 8:
      return add_integers(field, attribute.ints);
    case 9:
      attribute.strings.push_back(text(field));
      return;
    case 14:
      attribute.type = std::make_shared<const TypeFile>(read_type(text(field), 0));
      return;
    case 20:
      attribute.kind = static_cast<AttributeFile::Kind>(integer(field));
      return;
    case 21:
      attribute.ref_name = text(field);
      return;
    case 22:
      attribute.sparse = std::make_shared<const SparseTensorFile>(read_sparse(text(field)));
      return;
    default:
      return;
  }
}

/// Files of the first versions do not say an attribute's type: it is that of the value that is there.
AttributeFile::Kind kind_by_value(const AttributeFile& attribute, uint32_t last_field) {
  using Kind = AttributeFile::Kind;
  if (!attribute.graphs.empty()) return last_field == 11 ? Kind::kGraphs : Kind::kGraph;
  if (!attribute.tensors.empty()) return last_field == 10 ? Kind::kTensors : Kind::kTensor;
  switch (last_field) {
    case 2:
      return Kind::kFloat;
    case 3:
      return Kind::kInt;
    case 4:
      return Kind::kString;
    case 7:
      return Kind::kFloats;
    case 8:
      return Kind::kInts;
    case 9:
      return Kind::kStrings;
    default:
      return Kind::kUndefined;
  }
}

AttributeFile read_attribute(std::string_view message, int depth) {
  AttributeFile attribute;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) attribute.name = text(field);
  });
  uint32_t last_value = 0;
  within(quoted("attribute", attribute.name), [&] {
    each_field(message, [&](const WireField& field) {
      if (field.number == 1 || field.number == 13) return;
      read_attribute_value(field, attribute, depth);
      if (field.number <= 11) last_value = field.number;
    });
  });
  if (attribute.kind == AttributeFile::Kind::kUndefined)
    attribute.kind = kind_by_value(attribute, last_value);
  return attribute;
}

NodeFile read_node(std::string_view message, int depth) {
  NodeFile node;
  each_field(message, [&](const WireField& field) {  // what errors name, first
    if (field.number == 3) node.name = text(field);
    if (field.number == 4) node.op_type = text(field);
  });
  within(node.name.empty() ? quoted("a node of type", node.op_type) : quoted("node", node.name), [&] {
    each_field(message, [&](const WireField& field) {
      switch (field.number) {
        case 1:
          node.inputs.push_back(text(field));
          return;
        case 2:
          node.outputs.push_back(text(field));
          return;
        case 5:
          node.attributes.push_back(read_attribute(text(field), depth));
          return;
        case 6:
          node.doc = text(field);
          return;
        case 7:
          node.domain = text(field) == "ai.onnx" ? std::string_view() : text(field);
          return;
        case 8:
          node.overload = text(field);
          return;
        case 9:
          node.metadata.push_back(read_pair(text(field)));
          return;
        default:
          return;
      }
    });
  });
  return node;
}

GraphFile read_graph(std::string_view message, int depth) {
  if (depth > kMostDepth) throw Error("graphs are nested more than " + std::to_string(kMostDepth) + " deep");
  GraphFile graph;
  each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        graph.nodes.push_back(read_node(text(field), depth));
        return;
      case 2:
        graph.name = text(field);
        return;
      case 5:
        within("an initializer", [&] { graph.initializers.push_back(read_tensor(text(field))); });
        return;
      case 11:
        graph.inputs.push_back(read_value(text(field)));
        return;
      case 12:
        graph.outputs.push_back(read_value(text(field)));
        return;
      case 13:
        graph.values.push_back(read_value(text(field)));
        return;
      case 15:
        within("a sparse initializer",
               [&] { graph.sparse_initializers.push_back(read_sparse(text(field))); });
        return;
      default:
        return;
    }
  });
  return graph;
}

FunctionFile read_function(std::string_view message) {
  FunctionFile function;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) function.name = text(field);
  });
  within(quoted("function", function.name), [&] {
    each_field(message, [&](const WireField& field) {
      switch (field.number) {
        case 4:
          function.inputs.push_back(text(field));
          return;
        case 5:
          function.outputs.push_back(text(field));
          return;
        case 6:
          function.attributes.push_back(text(field));
          return;
        case 7:
          function.nodes.push_back(read_node(text(field), 0));
          return;
        case 9:
          return read_opset(text(field), function.opsets);
        case 10:
          function.domain = text(field) == "ai.onnx" ? std::string_view() : text(field);
          return;
        case 11:
          function.defaults.push_back(read_attribute(text(field), 0));
          return;
        case 13:
          function.overload = text(field);
          return;
        default:
          return;
      }
    });
  });
  return function;
}

void read_fields(std::string_view bytes, ModelFile& model) {
  bool has_graph = false;
  each_field(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        model.ir_version = integer(field);
        return;
      case 2:
        model.producer = text(field);
        return;
      case 3:
        model.producer_version = text(field);
        return;
      case 7:
        has_graph = true;
        within("graph", [&] { model.graph = read_graph(text(field), 0); });
        return;
      case 8:
        return read_opset(text(field), model.opsets);
      case 14:
        model.metadata.push_back(read_pair(text(field)));
        return;
      case 25:
        model.functions.push_back(read_function(text(field)));
        return;
      default:
        return;
    }
  });
  if (!has_graph) throw Error("it has no graph");
  if (model.ir_version < 3 && model.opsets.empty()) model.opsets[""] = 1;
}

}  // namespace

std::string element_name(Element element) {
  static const char* const kNames[] = {
      "undefined",      "float",      "uint8",          "int8",       "uint16",    "int16",
      "int32",          "int64",      "string",         "bool",       "float16",   "double",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
      "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
  const auto at = static_cast<int32_t>(element);
  return at >= 0 && static_cast<size_t>(at) < std::size(kNames) ? kNames[at] : "number " + std::to_string(at);
}

std::string_view text_of(const TextPairs& pairs, std::string_view key) {
  const auto at = std::ranges::find(pairs, key, &TextPairs::value_type::first);
  return at == pairs.end() ? std::string_view() : at->second;
}

const AttributeFile* NodeFile::attribute(std::string_view wanted) const {
  const auto at = std::ranges::find(attributes, wanted, &AttributeFile::name);
  return at == attributes.end() ? nullptr : &*at;
}

bool is_model_file(const std::string& path) {
  char begin[2] = {};
  std::ifstream file(path, std::ios::binary);
  // ir_version, a small number, is the first field that all writers write; no text begins so.
  return file.read(begin, sizeof begin) && begin[0] == 0x08 && begin[1] > 0;
}

namespace {

std::shared_ptr<ModelFile> read(std::string_view bytes, std::string path, std::shared_ptr<const void> owner) {
  auto model = std::make_shared<ModelFile>();
  model->path = std::move(path);
  model->memory = std::move(owner);
  within(model->path + " is no ONNX file, or damaged", [&] { read_fields(bytes, *model); });
  return model;
}

}  // namespace

std::shared_ptr<const ModelFile> read_model_bytes(std::string_view bytes, std::string path,
                                                  std::shared_ptr<const void> owner) {
  return read(bytes, std::move(path), std::move(owner));
}

std::shared_ptr<const ModelFile> read_model_file(const std::string& path) {
  const MappedFile file = map_file(path);
  auto model = read(file.bytes, path, file.owner);
  model->mapped = file.bytes;
  for (TensorFile& each : model->graph.initializers) each.name = model->names.emplace_back(each.name);
  give_back(file.bytes, file.bytes);
  return model;
}

}  // namespace baton::onnx
