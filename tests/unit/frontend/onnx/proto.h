#pragma once
// Protocol buffers as texts, for tests of what reads them.
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::onnx::proto {

inline std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
inline std::string integer(int number, int64_t value) {
  return varint(static_cast<uint64_t>(number) << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(int number, std::string_view content) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(content.size()) + std::string(content);
}
inline std::string float32(int number, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return varint(static_cast<uint64_t>(number) << 3 | 5) +
         std::string(reinterpret_cast<const char*>(&bits), sizeof bits);
}
/// The bytes of numbers as they lie in memory.
template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline std::string tensor(std::string_view name, int element, const std::vector<int64_t>& dims,
                          const std::string& data) {
  std::string text;
  for (const int64_t dim : dims) text += integer(1, dim);
  return text + integer(2, element) + bytes(8, name) + data;
}
inline std::string raw_data(std::string_view content) { return bytes(9, content); }

inline std::string node(std::string_view op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& more = {}) {
  std::string text;
  for (const std::string& each : inputs) text += bytes(1, each);
  for (const std::string& each : outputs) text += bytes(2, each);
  return text + bytes(4, op) + more;
}
inline std::string value(std::string_view name, int element, const std::vector<std::string>& dims) {
  std::string shape;
  for (const std::string& dim : dims)
    shape += bytes(1, dim.empty()                                       ? std::string()
                      : dim.find_first_not_of("0123456789") == dim.npos ? integer(1, std::stoll(dim))
                                                                        : bytes(2, dim));
  return bytes(1, name) + bytes(2, bytes(1, integer(1, element) + bytes(2, shape)));
}
/// A model of IR version 8 and opset `opset` whose graph has these fields.
inline std::string model(const std::string& graph, int opset = 17) {
  return integer(1, 8) + bytes(7, graph) + bytes(8, integer(2, opset));
}

}  // namespace baton::onnx::proto
