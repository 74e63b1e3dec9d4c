#include "baton/text/json/tensor_bytes.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "baton/support/error.h"

namespace baton::text {

namespace {

constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13Full;
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <typename T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads numbers from the front of a byte string.
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

}  // namespace

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
  reader.get<int32_t>();  // the saved device is ignored: data is on the host
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
