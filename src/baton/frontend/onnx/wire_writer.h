#pragma once
// Fields of protocol buffers, written one after the other.
#include <cstdint>
#include <string>
#include <string_view>

namespace baton::onnx {

class WireWriter {
 public:
  WireWriter& varint(uint32_t number, uint64_t value) {
    plain(number << 3);
    plain(value);
    return *this;
  }
  WireWriter& fixed32(uint32_t number, uint32_t bits) {
    plain(number << 3 | 5);
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(bits >> 8 * i);
    return *this;
  }
  WireWriter& bytes(uint32_t number, std::string_view content) {
    plain(number << 3 | 2);
    plain(content.size());
    bytes_ += content;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  void plain(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace baton::onnx
