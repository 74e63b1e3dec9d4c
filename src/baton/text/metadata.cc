#include "baton/text/metadata.h"

#include <array>
#include <cstring>

#include <nlohmann/json.hpp>

#include "baton/support/error.h"
#include "baton/text/literal.h"

namespace baton::text {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13Full;
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <typename T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads numbers off the front of a byte string.
struct ByteReader {
  std::string_view rest;
  template <typename T>
  T get() {
    if (rest.size() < sizeof(T)) throw Error("a tensor's bytes end early");
    T value;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
};

const Json& member(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || at == object.end()) throw Error(std::string("`") + name + "` is missing");
  return *at;
}

// TVM writes numbers as numbers or as strings, depending on where they stand.
size_t number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  const std::string* text = value.get_ptr<const std::string*>();
  if (!text || text->empty() || text->size() > 9 ||
      text->find_first_not_of("0123456789") != std::string::npos)
    throw Error("expected an index, found " +
                value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40));
  return std::stoul(*text);
}

}  // namespace

struct MetadataReader::Graph {
  Json json;
  std::unordered_map<std::string, std::vector<size_t>> objects;  // type key -> node numbers

  const Json& node(size_t index) const {
    const Json& nodes = member(json, "nodes");
    if (!nodes.is_array() || index >= nodes.size()) throw Error("there is no node " + std::to_string(index));
    return nodes[index];
  }
};

MetadataReader::MetadataReader(std::string_view text) : graph_(std::make_unique<Graph>()) {
  try {
    graph_->json = Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    throw Error(error.what());
  }
  const Json& map = graph_->node(number(member(graph_->json, "root")));
  const Json &keys = member(map, "keys"), &data = member(map, "data");
  if (!keys.is_array() || !data.is_array() || keys.size() != data.size())
    throw Error("the root is not a map");
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string* key = keys[i].get_ptr<const std::string*>();
    if (!key) throw Error("a key of the root is not a string");
    const Json& list = graph_->node(number(data[i]));
    if (!list.contains("data")) continue;  // an empty array
    for (const Json& item : member(list, "data")) graph_->objects[*key].push_back(number(item));
  }
}

MetadataReader::~MetadataReader() = default;

size_t MetadataReader::count(const std::string& type_key) const {
  const auto at = graph_->objects.find(type_key);
  return at == graph_->objects.end() ? 0 : at->second.size();
}

NDArray MetadataReader::constant(size_t index) const {
  const Json& node = graph_->node(graph_->objects.at("relay.Constant").at(index));
  const size_t blob = number(member(member(node, "attrs"), "data"));
  const Json& blobs = member(graph_->json, "b64ndarrays");
  if (!blobs.is_array() || blob >= blobs.size()) throw Error("there is no tensor " + std::to_string(blob));
  const std::string* text = blobs[blob].get_ptr<const std::string*>();
  const std::optional<std::string> bytes = text ? base64_decode(*text) : std::nullopt;
  if (!bytes) throw Error("tensor " + std::to_string(blob) + " is not base64");
  return array_from_bytes(*bytes);
}

size_t MetadataWriter::use(std::string_view type_key, const NDArray& value) {
  for (Objects& objects : objects_) {
    if (objects.type_key != type_key) continue;
    objects.values.push_back(value);
    return objects.values.size() - 1;
  }
  objects_.push_back({std::string(type_key), {value}});
  return 0;
}

size_t MetadataWriter::add_constant(const NDArray& value) { return use("relay.Constant", value); }

// Nodes are numbered in the order of a depth-first walk from the root: the map, then for each key its array
// and the objects in it; all constants share one VirtualDevice ("none") and its empty scope name.
std::string MetadataWriter::json() const {
  std::vector<std::string> nodes = {"      \"type_key\": \"\"\n", ""};
  std::string keys, lists, blobs;
  size_t blob_count = 0, device = 0;
  auto index_text = [](const std::vector<size_t>& indices) {
    std::string text = "[";
    for (size_t i = 0; i < indices.size(); ++i) text += (i ? ", " : "") + std::to_string(indices[i]);
    return text + "]";
  };
  std::vector<size_t> arrays;
  for (const Objects& objects : objects_) {
    keys += (keys.empty() ? "        \"" : ", \n        \"") + objects.type_key + "\"";
    const size_t array = nodes.size();
    arrays.push_back(array);
    nodes.emplace_back();
    std::vector<size_t> members;
    for (const NDArray& value : objects.values) {
      members.push_back(nodes.size());
      if (!value.defined()) {
        nodes.push_back(
            "      \"type_key\": \"IncompleteType\", \n      \"attrs\": {\n        \"kind\": \"0\", \n"
            "        \"span\": \"0\"\n      }\n");
        continue;
      }
      const bool first = device == 0;
      if (first) device = nodes.size() + 1;
      nodes.push_back(
          "      \"type_key\": \"relay.Constant\", \n      \"attrs\": {\n        \"_checked_type_\": \"0\", "
          "\n"
          "        \"data\": \"" +
          std::to_string(blob_count) +
          "\", \n        \"span\": \"0\", \n"
          "        \"virtual_device_\": \"" +
          std::to_string(device) + "\"\n      }\n");
      if (first) {
        nodes.push_back(
            "      \"type_key\": \"VirtualDevice\", \n      \"attrs\": {\n        \"device_type_int\": "
            "\"-1\", \n"
            "        \"memory_scope\": \"" +
            std::to_string(device + 1) +
            "\", \n        \"target\": \"0\", \n"
            "        \"virtual_device_id\": \"-1\"\n      }\n");
        nodes.push_back("      \"type_key\": \"runtime.String\"\n");
      }
      blobs += (blob_count++ ? ", \n    \"" : "\n    \"") + base64_encode(array_to_bytes(value)) + "\"";
    }
    nodes[array] = "      \"type_key\": \"Array\", \n      \"data\": " + index_text(members) + "\n";
  }
  nodes[1] = "      \"type_key\": \"Map\", \n      \"keys\": [\n" + keys +
             "\n      ], \n      \"data\": " + index_text(arrays) + "\n";
  std::string out = "{\n  \"root\": 1, \n  \"nodes\": [\n";
  for (size_t i = 0; i < nodes.size(); ++i) out += (i ? ", \n    {\n" : "    {\n") + nodes[i] + "    }";
  out += "\n  ], \n  \"b64ndarrays\": [" + blobs + (blobs.empty() ? "]" : "\n  ]");
  return out + ", \n  \"attrs\": {\"tvm_version\": \"0.11.1\"}\n}";
}

std::string array_to_bytes(const NDArray& array) {
  std::string bytes;
  bytes.reserve(array.bytes() + 64 + 8 * array.shape().size());
  put(bytes, kArrayMagic);
  put(bytes, uint64_t{0});
  put(bytes, int32_t{1});  // CPU
  put(bytes, int32_t{0});
  put(bytes, static_cast<int32_t>(array.ndim()));
  put(bytes, static_cast<uint8_t>(array.dtype().code));
  put(bytes, array.dtype().bits);
  put(bytes, array.dtype().lanes);
  for (const int64_t extent : array.shape()) put(bytes, extent);
  put(bytes, static_cast<int64_t>(array.bytes()));
  bytes.append(static_cast<const char*>(array.data()), array.bytes());
  return bytes;
}

NDArray array_from_bytes(std::string_view bytes) {
  ByteReader reader{bytes};
  if (reader.get<uint64_t>() != kArrayMagic) throw Error("a tensor does not begin with its magic number");
  reader.get<uint64_t>();
  reader.get<int32_t>();  // where it lived; it lives on the host now
  reader.get<int32_t>();
  const int32_t rank = reader.get<int32_t>();
  const uint8_t code = reader.get<uint8_t>();
  const uint8_t bits = reader.get<uint8_t>();
  const uint16_t lanes = reader.get<uint16_t>();
  if (rank < 0 || static_cast<size_t>(rank) > reader.rest.size() / 8)
    throw Error("a tensor has rank " + std::to_string(rank));
  Shape shape(static_cast<size_t>(rank));
  for (int64_t& extent : shape) extent = reader.get<int64_t>();
  const DType dtype = DType::make(static_cast<DType::Code>(code), bits, lanes);
  if (code > static_cast<uint8_t>(DType::Code::kBFloat) || DType::parse(dtype.str()) != dtype ||
      dtype.is_void())
    throw Error("a tensor has an unknown element type");
  const int64_t size = reader.get<int64_t>();
  const std::optional<int64_t> expected = byte_count(shape, dtype);
  if (!expected || *expected != size || static_cast<uint64_t>(size) != reader.rest.size())
    throw Error("the size of a tensor, " + std::to_string(size) + " bytes, does not fit its type " +
                describe(shape, dtype));
  NDArray array = NDArray::from_bytes(std::move(shape), dtype, reader.rest.data());
  if (!array.defined()) throw Error("no memory for a tensor of " + std::to_string(size) + " bytes");
  return array;
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kAlphabet[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  static constexpr std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values{};
    values.fill(-1);
    for (size_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t padding = last ? (text[i + 3] == '=') + (text[i + 3] == '=' && text[i + 2] == '=') : 0;
    uint32_t word = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int8_t value = k >= 4 - padding ? int8_t{0} : kValues[static_cast<unsigned char>(text[i + k])];
      if (value < 0) return std::nullopt;
      word = word << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(word >> (16 - 8 * k) & 255);
  }
  return bytes;
}

}  // namespace baton::text
