#include "baton/support/base/dtype.h"

#include <charconv>

namespace baton {
namespace {

/// Parses and consumes decimal digits at the front of `text`; nullopt when there are none or the number
/// exceeds `limit`.
std::optional<int> take_number(std::string_view& text, int limit) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || value < 1 || value > limit) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::optional<DType> DType::parse(std::string_view text) {
  if (text.empty() || text == "void") return void_();
  DType type;
  bool has_bits = true;
  if (take_word(text, "bool")) {
    type = bool_();
    has_bits = false;
  } else if (take_word(text, "bfloat")) {
    type = make(Code::kBFloat, 16);
  } else if (take_word(text, "uint")) {
    type = uint_(32);
  } else if (take_word(text, "int")) {
    type = int_(32);
  } else if (take_word(text, "float")) {
    type = float_(32);
  } else if (take_word(text, "handle")) {
    type = make(Code::kHandle, 64);
  } else {
    return std::nullopt;
  }
  if (has_bits && !text.empty() && text[0] != 'x') {
    const std::optional<int> bits = take_number(text, 128);
    if (!bits) return std::nullopt;
    type.bits = static_cast<uint8_t>(*bits);
  }
  if (!text.empty()) {
    if (!take_word(text, "x")) return std::nullopt;
    const std::optional<int> lanes = take_number(text, 65535);
    if (!lanes || !text.empty()) return std::nullopt;
    type.lanes = static_cast<uint16_t>(*lanes);
  }
  return type;
}

std::string DType::str() const {
  if (is_void()) return "";
  std::string text;
  switch (code) {
    case Code::kInt:
      text = "int";
      break;
    case Code::kUInt:
      text = is_bool() ? "bool" : "uint";
      break;
    case Code::kFloat:
      text = "float";
      break;
    case Code::kHandle:
      text = "handle";
      break;
    case Code::kBFloat:
      text = "bfloat";
      break;
  }
  const bool bits_are_implied = is_bool() || (code == Code::kHandle && bits == 64);
  if (!bits_are_implied) text += std::to_string(bits);
  if (lanes != 1) text += "x" + std::to_string(lanes);
  return text;
}

}  // namespace baton
