#pragma once
// An ONNX file as it says: messages as values, whose texts and data are views of the mapped file. What the
// messages mean, import.h decides.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/frontend/onnx/wire.h"

namespace baton::onnx {

/// Numbers of TensorProto.DataType.
enum class Element : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kUInt4 = 21,
  kInt4 = 22,
  kUInt2 = 25,
  kInt2 = 26,
};
/// "float", "int4", ..., as ONNX's texts write them; "number 99" for what is none.
std::string element_name(Element element);

/// metadata_props, external_data: in the order of the file.
using TextPairs = std::vector<std::pair<std::string_view, std::string_view>>;
/// The value of `key`; empty: there is none.
std::string_view text_of(const TextPairs& pairs, std::string_view key);

struct TensorFile {
  std::string_view name;
  Element element = Element::kUndefined;
  std::vector<int64_t> dims;
  bool has_raw = false;
  std::string_view raw;  ///< little endian
  PackedValues floats, ints, longs, doubles, unsigned_longs;
  std::vector<std::string_view> strings;
  bool is_external = false;
  TextPairs external;
};

struct SparseTensorFile {
  TensorFile values, indices;
  std::vector<int64_t> dims;
};

struct DimFile {
  bool is_known = false;
  int64_t value = 0;
  std::string_view symbol;  ///< dim_param; empty: unknown
};

struct TypeFile {
  enum class Kind : uint8_t { kNone, kTensor, kSequence, kOptional, kMap, kSparseTensor, kOpaque };
  Kind kind = Kind::kNone;
  Element element = Element::kUndefined;  ///< of a tensor
  bool has_shape = false;
  std::vector<DimFile> dims;
  std::shared_ptr<const TypeFile> of;  ///< of a sequence or optional
};

struct ValueFile {
  std::string_view name;
  TypeFile type;
};

struct GraphFile;

struct AttributeFile {
  /// Numbers of AttributeProto.AttributeType.
  enum class Kind : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
    kSparseTensors = 12,
    kType = 13,
    kTypes = 14,
  };
  std::string_view name, ref_name;  ///< ref_name: the attribute of the function around it whose value it has
  Kind kind = Kind::kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<TensorFile> tensors;                       ///< of kTensor one
  std::vector<std::shared_ptr<const GraphFile>> graphs;  ///< of kGraph one
  std::shared_ptr<const SparseTensorFile> sparse;
  std::shared_ptr<const TypeFile> type;
};

struct NodeFile {
  std::string_view name, op_type, domain, overload, doc;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeFile> attributes;
  TextPairs metadata;

  const AttributeFile* attribute(std::string_view name) const;
};

struct GraphFile {
  std::string_view name;
  std::vector<NodeFile> nodes;
  std::vector<TensorFile> initializers;
  std::vector<SparseTensorFile> sparse_initializers;
  std::vector<ValueFile> inputs, outputs, values;
};

/// Version by domain; "" is ONNX's own.
using OpsetVersions = std::map<std::string_view, int64_t>;

struct FunctionFile {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;  ///< attributes: those without a default
  std::vector<AttributeFile> defaults;
  std::vector<NodeFile> nodes;
  OpsetVersions opsets;
};

struct ModelFile {
  std::string path;
  std::shared_ptr<const void> memory;  ///< that all views are of
  std::string_view mapped;             ///< the mapped file; empty: it was given as bytes
  /// Names of initializers: looking one up in the file would bring the pages around it, elements, to memory.
  std::deque<std::string> names;
  int64_t ir_version = 0;
  OpsetVersions opsets;
  std::string_view producer, producer_version;
  GraphFile graph;
  std::vector<FunctionFile> functions;
  TextPairs metadata;
};

/// Maps and reads a file. Throws Error (path, what is wrong and in which message) for what is no ONNX file,
/// is cut off or damaged, or nests graphs or types deeper than it may.
std::shared_ptr<const ModelFile> read_model_file(const std::string& path);
/// The same of bytes in memory that `owner` keeps. `path`: what errors name.
std::shared_ptr<const ModelFile> read_model_bytes(std::string_view bytes, std::string path,
                                                  std::shared_ptr<const void> owner);
/// Whether the file, whatever its name, may be one: its first field is a model's. False where it cannot be
/// read.
bool is_model_file(const std::string& path);

}  // namespace baton::onnx
