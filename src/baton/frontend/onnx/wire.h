#pragma once
// Protocol buffers' wire format, read in place: fields are views of the file. Knows no message; read_model.cc
// gives the numbers their meaning.
#include <cstdint>
#include <string_view>
#include <vector>

namespace baton::onnx {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      ///< of kVarint, kFixed32 and kFixed64
  std::string_view bytes;  ///< of kBytes the content, of others their encoding

  int64_t integer() const { return static_cast<int64_t>(value); }
  float float32() const;
};

/// The fields of one message, in the order of the file.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  /// The next field into `field`; false at the end. Throws Error for bytes that are no field: a length beyond
  /// the message, an overlong varint, a group or a reserved type.
  bool next(WireField& field);

 private:
  uint64_t varint();
  std::string_view take(uint64_t count, const char* what);
  std::string_view rest_;
};

/// A repeated number of a message. Packed or one by one, several times: pieces are views of the file.
class PackedValues {
 public:
  /// Throws Error where the field has another wire type than numbers of `type`.
  void add(const WireField& field, WireType type);
  bool empty() const { return pieces_.empty(); }
  /// Decoded, each as 64 bits: of kFixed32 and kFixed64 the bits. Throws Error for pieces that end within a
  /// number, and for more than `most` numbers.
  std::vector<uint64_t> values(size_t most) const;
  /// Bytes that hold the numbers; of fixed types their count times their size.
  size_t bytes() const;
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  WireType type_ = WireType::kVarint;
  std::vector<std::string_view> pieces_;
};

}  // namespace baton::onnx
