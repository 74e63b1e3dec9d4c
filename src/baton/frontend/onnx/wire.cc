#include "baton/frontend/onnx/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "baton/support/error.h"

namespace baton::onnx {

namespace {

constexpr int kMostVarintBytes = 10;

template <class T>
T load(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

float WireField::float32() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    if (rest_.empty()) throw Error("it ends within a number");
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  throw Error("a number has more than ten bytes");
}

std::string_view WireReader::take(uint64_t count, const char* what) {
  if (count > rest_.size())
    throw Error(std::string(what) + " of " + std::to_string(count) + " bytes where " +
                std::to_string(rest_.size()) + " are left");
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const uint64_t tag = varint();
  const uint64_t number = tag >> 3;
  if (number == 0 || number >> 29) throw Error("a field has the number " + std::to_string(number));
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<WireType>(tag & 7);
  const std::string_view before = rest_;
  switch (field.type) {
    case WireType::kVarint:
      field.value = varint();
      field.bytes = before.substr(0, before.size() - rest_.size());
      return true;
    case WireType::kFixed64:
      field.value = load<uint64_t>(field.bytes = take(8, "a number"));
      return true;
    case WireType::kFixed32:
      field.value = load<uint32_t>(field.bytes = take(4, "a number"));
      return true;
    case WireType::kBytes:
      field.bytes = take(varint(), "a field");
      return true;
  }
  throw Error("a field has the wire type " + std::to_string(tag & 7));
}

void PackedValues::add(const WireField& field, WireType type) {
  if (field.type != WireType::kBytes && field.type != type)
    throw Error("numbers of field " + std::to_string(field.number) + " have another type than they should");
  type_ = type;
  if (!field.bytes.empty()) pieces_.push_back(field.bytes);
}

size_t PackedValues::bytes() const {
  size_t sum = 0;
  for (const std::string_view piece : pieces_) sum += piece.size();
  return sum;
}

std::vector<uint64_t> PackedValues::values(size_t most) const {
  std::vector<uint64_t> values;
  const size_t size = type_ == WireType::kFixed32 ? 4 : type_ == WireType::kFixed64 ? 8 : 1;
  values.reserve(std::min(most, bytes() / size));
  const auto add = [&](uint64_t value) {
    if (values.size() == most) throw Error("there are more numbers than elements");
    values.push_back(value);
  };
  for (std::string_view piece : pieces_) {
    if (type_ == WireType::kVarint) {
      while (!piece.empty()) {
        uint64_t value = 0;
        size_t used = 0;
        for (bool more = true; more; ++used) {
          if (used == piece.size() || used == kMostVarintBytes) throw Error("it ends within a number");
          const auto byte = static_cast<uint8_t>(piece[used]);
          value |= static_cast<uint64_t>(byte & 0x7F) << (7 * used);
          more = byte >= 0x80;
        }
        piece.remove_prefix(used);
        add(value);
      }
      continue;
    }
    if (piece.size() % size) throw Error("it ends within a number");
    for (size_t at = 0; at < piece.size(); at += size)
      add(size == 4 ? load<uint32_t>(piece.substr(at, 4)) : load<uint64_t>(piece.substr(at, 8)));
  }
  return values;
}

}  // namespace baton::onnx
