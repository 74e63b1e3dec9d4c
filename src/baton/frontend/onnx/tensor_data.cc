#include "baton/frontend/onnx/tensor_data.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "baton/support/error.h"

namespace baton::onnx {

namespace {

namespace fs = std::filesystem;

constexpr size_t kGivenBackFrom = size_t{256} << 10;  // smaller tensors share their pages with others

/// Bits of an element in raw data.
int raw_bits(Element element) {
  const int packed = packed_bits(element);
  return packed != 0 ? packed : static_cast<int>(dtype_of(element)->bytes()) * 8;
}

/// Elements of 4 and 2 bits, the lowest bits first, as bytes; signed ones extended.
void unpack(std::string_view raw, Element element, NDArray& to) {
  const int bits = raw_bits(element), per_byte = 8 / bits;
  const bool is_signed = element == Element::kInt4 || element == Element::kInt2;
  auto* out = static_cast<uint8_t*>(to.data());
  for (int64_t i = 0; i < to.size(); ++i) {
    const auto byte = static_cast<uint8_t>(raw[static_cast<size_t>(i / per_byte)]);
    auto value = static_cast<uint8_t>(byte >> (i % per_byte * bits) & ((1 << bits) - 1));
    if (is_signed && value >> (bits - 1)) value = static_cast<uint8_t>(value | ~((1 << bits) - 1));
    out[i] = value;
  }
}

template <class T>
void store(const std::vector<uint64_t>& values, NDArray& to) {
  T* out = static_cast<T*>(to.data());
  for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
}

/// Where a type's elements are when they are not raw; each is decoded to 64 bits.
const PackedValues& typed_values(const TensorFile& tensor) {
  switch (tensor.element) {
    case Element::kFloat:
      return tensor.floats;
    case Element::kDouble:
      return tensor.doubles;
    case Element::kInt64:
      return tensor.longs;
    case Element::kUInt32:
    case Element::kUInt64:
      return tensor.unsigned_longs;
    default:
      return tensor.ints;
  }
}

void fill_typed(const TensorFile& tensor, NDArray& to) {
  const int bits = raw_bits(tensor.element);
  const auto elements = static_cast<size_t>(to.size());
  const size_t count = bits < 8 ? (elements * static_cast<size_t>(bits) + 7) / 8 : elements;
  const std::vector<uint64_t> values = typed_values(tensor).values(count);
  if (values.size() != count)
    throw Error("it has " + std::to_string(values.size()) + " numbers for " +
                describe(to.shape(), to.dtype()));
  if (bits < 8) {
    std::string raw;
    for (const uint64_t value : values) raw += static_cast<char>(value);
    return unpack(raw, tensor.element, to);
  }
  switch (to.dtype().bytes()) {
    case 1:
      return store<uint8_t>(values, to);
    case 2:
      return store<uint16_t>(values, to);
    case 4:
      return store<uint32_t>(values, to);
    default:
      return store<uint64_t>(values, to);
  }
}

void fill_raw(std::string_view raw, Element element, std::string_view mapped, NDArray& to) {
  const auto bits = static_cast<size_t>(raw_bits(element));
  const size_t wanted = (static_cast<size_t>(to.size()) * bits + 7) / 8;
  if (raw.size() != wanted)
    throw Error("it has " + std::to_string(raw.size()) + " bytes of data; " +
                describe(to.shape(), to.dtype()) + " has " + std::to_string(wanted));
  if (bits < 8) return unpack(raw, element, to);
  if (!raw.empty()) std::memcpy(to.data(), raw.data(), raw.size());
  if (raw.size() >= kGivenBackFrom) give_back(raw, mapped);
}

uint64_t decimal(std::string_view text, const char* what) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(std::string("the ") + what + " of its external data is `" + std::string(text) +
                "`, no number");
  return value;
}

/// Bools are bytes of 0 and 1, whatever the file has.
void make_bools(NDArray& array) {
  for (uint8_t& byte : array.as<uint8_t>()) byte = byte != 0;
}

template <class Read>
NDArray named(const ModelFile& model, std::string_view name, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(model.path + ": tensor `" + std::string(name) + "`: " + error.what());
  }
}

DType computed_type(Element element) {
  if (const std::optional<DType> dtype = dtype_of(element)) return *dtype;
  throw Error("its elements are of type " + element_name(element) + ", for which Baton has no arithmetic");
}

NDArray room_for(const std::vector<int64_t>& dims, DType dtype) {
  if (!byte_count(dims, dtype))
    throw Error("its shape " + describe(dims, dtype) + " is no shape that fits into 64 bits");
  NDArray array = NDArray::empty(dims, dtype);
  if (!array) throw Error("there is no memory for it");
  return array;
}

}  // namespace

std::optional<DType> dtype_of(Element element) {
  switch (element) {
    case Element::kFloat:
      return DType::float_(32);
    case Element::kDouble:
      return DType::float_(64);
    case Element::kFloat16:
      return DType::float_(16);
    case Element::kBFloat16:
      return DType::make(DType::Code::kBFloat, 16);
    case Element::kInt2:
    case Element::kInt4:
    case Element::kInt8:
      return DType::int_(8);
    case Element::kInt16:
      return DType::int_(16);
    case Element::kInt32:
      return DType::int_(32);
    case Element::kInt64:
      return DType::int_(64);
    case Element::kUInt2:
    case Element::kUInt4:
    case Element::kUInt8:
      return DType::uint_(8);
    case Element::kUInt16:
      return DType::uint_(16);
    case Element::kUInt32:
      return DType::uint_(32);
    case Element::kUInt64:
      return DType::uint_(64);
    case Element::kBool:
      return DType::bool_();
    default:
      return std::nullopt;
  }
}

/// The rules of ONNX: a relative path without "..", a regular file within the model's folder and behind no
/// symbolic link.
std::string_view TensorReader::external(const TensorFile& tensor) {
  const std::string location(text_of(tensor.external, "location"));
  if (location.empty()) throw Error("its data are external, and it does not say where");
  const fs::path relative = fs::path(location).lexically_normal();
  const auto refuse = [&](const char* why) {
    return Error("its data are to be read from `" + location + "`, " + why);
  };
  if (relative.is_absolute()) throw refuse("an absolute path: a model's data lie in its folder");
  if (std::ranges::count(relative, "..")) throw refuse("which leaves the model's folder");
  const fs::path folder = fs::path(model_->path).parent_path();
  fs::path at = folder;
  for (const fs::path& part : relative) {
    at /= part;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(at, error)))
      throw refuse("behind a symbolic link, which may leave it");
  }
  const auto [known, is_new] = files_.try_emplace(location);
  if (is_new) known->second = map_file(at.string());
  const std::string_view bytes = known->second.bytes;
  const std::string_view offset_text = text_of(tensor.external, "offset"),
                         length_text = text_of(tensor.external, "length");
  const uint64_t offset = offset_text.empty() ? 0 : decimal(offset_text, "offset");
  if (offset > bytes.size())
    throw Error("its data begin at byte " + std::to_string(offset) + " of " + at.string() + ", which has " +
                std::to_string(bytes.size()));
  const uint64_t length = length_text.empty() ? bytes.size() - offset : decimal(length_text, "length");
  if (length > bytes.size() - offset)
    throw Error("its data are " + std::to_string(length) + " bytes from " + std::to_string(offset) +
                " on in " + at.string() + ", which has " + std::to_string(bytes.size()));
  return bytes.substr(offset, length);
}

std::string_view TensorReader::mapped_around(const TensorFile& tensor) const {
  if (!tensor.is_external) return model_->mapped;
  const auto at = files_.find(std::string(text_of(tensor.external, "location")));
  return at == files_.end() ? std::string_view() : at->second.bytes;
}

int packed_bits(Element element) {
  if (element == Element::kInt4 || element == Element::kUInt4) return 4;
  return element == Element::kInt2 || element == Element::kUInt2 ? 2 : 0;
}
bool is_packed(Element element) { return packed_bits(element) != 0; }

NDArray TensorReader::read(const TensorFile& tensor) {
  return named(*model_, tensor.name, [&] {
    const DType dtype = computed_type(tensor.element);
    const std::string_view raw = tensor.is_external ? external(tensor) : tensor.raw;
    const bool is_raw = tensor.is_external || tensor.has_raw;
    // Before memory is asked for: a shape of 2^40 elements costs nothing to write down.
    const std::optional<int64_t> elements = element_count(tensor.dims);
    const size_t most = (is_raw ? raw.size() : typed_values(tensor).bytes()) * 8;
    if (elements && static_cast<uint64_t>(*elements) > most)
      throw Error("it has " + std::to_string(most / 8) + " bytes of data for " + std::to_string(*elements) +
                  " elements");
    NDArray array = room_for(tensor.dims, dtype);
    if (is_raw)
      fill_raw(raw, tensor.element, mapped_around(tensor), array);
    else
      fill_typed(tensor, array);
    if (tensor.element == Element::kBool) make_bools(array);
    return array;
  });
}

NDArray TensorReader::read(const SparseTensorFile& tensor) {
  const NDArray values = read(tensor.values), indices = read(tensor.indices);
  return named(*model_, tensor.values.name, [&] {
    const std::optional<DType> dtype = dtype_of(tensor.values.element);
    const std::optional<int64_t> bytes = byte_count(tensor.dims, *dtype);
    if (!bytes || static_cast<uint64_t>(*bytes) > kMostDense)
      throw Error("it is sparse, and takes more than " + std::to_string(kMostDense >> 20) +
                  " MB as a dense one");
    NDArray dense = NDArray::zeros(tensor.dims, *dtype);
    const int64_t count = values.size(), rank = static_cast<int64_t>(tensor.dims.size());
    const bool by_axis = indices.ndim() == 2;
    if (indices.dtype() != DType::int_(64) || indices.size() != (by_axis ? count * rank : count))
      throw Error("its indices are " + describe(indices.shape(), indices.dtype()) + " for " +
                  std::to_string(count) + " values");
    const auto places = indices.as<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = by_axis ? 0 : places[static_cast<size_t>(i)];
      for (int64_t axis = 0; by_axis && axis < rank; ++axis) {
        const int64_t index = places[static_cast<size_t>(i * rank + axis)],
                      extent = tensor.dims[static_cast<size_t>(axis)];
        if (index < 0 || index >= extent) throw Error("an index is outside of its shape");
        at = at * extent + index;
      }
      if (at < 0 || at >= dense.size()) throw Error("an index is outside of its shape");
      std::memcpy(static_cast<char*>(dense.data()) + static_cast<size_t>(at) * dtype->bytes(),
                  static_cast<const char*>(values.data()) + static_cast<size_t>(i) * dtype->bytes(),
                  dtype->bytes());
    }
    return dense;
  });
}

}  // namespace baton::onnx
