#include "baton/text/literal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "baton/support/base/float16.h"
#include "baton/text/diagnostics.h"

namespace baton::text {

namespace {

template <typename T>
NDArray store(T value, DType dtype) {
  NDArray array = NDArray::empty({}, dtype);
  std::memcpy(array.data(), &value, sizeof value);
  return array;
}

template <typename T>
T load(const NDArray& array) {
  T value;
  std::memcpy(&value, array.data(), sizeof value);
  return value;
}

// Null when `digits` is not a number from end to end, such as 1e. On overflow from_chars leaves the result
// unset; strtod then distinguishes overflow and underflow.
template <typename T>
std::optional<T> read_float(std::string_view digits) {
  T value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  const std::string text(digits);
  return sizeof(T) == 4 ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                        : static_cast<T>(std::strtod(text.c_str(), nullptr));
}

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

constexpr const char* kFloatHint = "floats are digits, a fraction and an exponent: 1f, 0.5f, 1e-5f";

struct NumberReader {
  const Token& token;
  const Span& span;
  DiagnosticEngine& engine;

  std::nullopt_t bad(const std::string& hint) const {
    engine.report(kBadNumber, span, {quoted(token.text), hint});
    return std::nullopt;
  }
  std::nullopt_t out_of_range(DType dtype) const {
    engine.report(kOutOfRange, span, {quoted(token.text), dtype.str()});
    return std::nullopt;
  }

  std::optional<Number> real(std::string_view digits, std::string_view width, bool negative) const {
    const int bits = width.empty() || width == "32" ? 32 : width == "16" ? 16 : width == "64" ? 64 : 0;
    if (bits == 0) return bad("floats end in f16, f or f64");
    Number number{.dtype = DType::float_(bits)};
    if (digits == "inf")
      number.real = std::numeric_limits<double>::infinity();
    else if (digits == "nan")
      number.real = std::numeric_limits<double>::quiet_NaN();
    else if (bits == 32) {
      const auto value = read_float<float>(digits);
      if (!value) return bad(kFloatHint);
      number.real = *value;
    } else {
      const auto value = read_float<double>(digits);
      if (!value) return bad(kFloatHint);
      number.real = bits == 64 ? *value : half_to_float(half_from_double(*value));
    }
    if (std::isinf(number.real) && digits != "inf") return out_of_range(number.dtype);
    if (negative) number.real = -number.real;
    return number;
  }

  std::optional<Number> integer(std::string_view digits, std::string_view width, bool negative) const {
    uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
    if (error == std::errc::result_out_of_range || magnitude > uint64_t{1} << 63 ||
        (magnitude == uint64_t{1} << 63 && !negative))
      return out_of_range(DType::int_(64));
    const int64_t value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
    const bool narrow = value == static_cast<int32_t>(value);
    const int bits = width.empty()   ? (narrow ? 32 : 64)
                     : width == "16" ? 16
                     : width == "32" ? 32
                     : width == "64" ? 64
                                     : 0;
    if (bits == 0) return bad("integers end in i16, i32 or i64, or in nothing");
    if ((bits == 32 && !narrow) || (bits == 16 && value != static_cast<int16_t>(value)))
      return out_of_range(DType::int_(bits));
    return Number{.dtype = DType::int_(bits), .integer = value};
  }
};

}  // namespace

std::optional<Number> parse_number(const Token& token, const Span& span, DiagnosticEngine& engine) {
  const NumberReader read{token, span, engine};
  std::string_view text = token.text;
  bool negative = false;
  for (; text.starts_with('-'); text.remove_prefix(1)) negative = !negative;
  if (text.starts_with("inff") || text.starts_with("nanf"))
    return read.real(text.substr(0, 3), text.substr(4), negative);

  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789.eE+-"));
  const std::string_view suffix = text.substr(digits.size());
  const bool whole = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (suffix.starts_with('f')) return read.real(digits, suffix.substr(1), negative);
  if (!suffix.empty() && !suffix.starts_with('i'))
    return read.bad("a number ends in i16, i64, f16, f or f64, or in nothing");
  if (!whole) {
    engine.report(kBadInteger, span, {quoted(token.text), "floats end in f: " + std::string(digits) + "f"});
    return std::nullopt;
  }
  return read.integer(digits, suffix.empty() ? suffix : suffix.substr(1), negative);
}

NDArray scalar_array(const Number& number) {
  const DType dtype = number.dtype;
  if (dtype.is_float()) {
    if (dtype.bits == 64) return store(number.real, dtype);
    if (dtype.bits == 32) return store(static_cast<float>(number.real), dtype);
    return store(half_from_double(number.real), dtype);
  }
  if (dtype.bits == 64) return store(number.integer, dtype);
  if (dtype.bits == 32) return store(static_cast<int32_t>(number.integer), dtype);
  return store(static_cast<int16_t>(number.integer), dtype);
}

NDArray scalar_array(bool value) { return store(static_cast<uint8_t>(value), DType::bool_()); }

void append_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  out.append(text, end);
}

void append_integer(std::string& out, int64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

bool append_literal(std::string& out, const NDArray& value) {
  const DType dtype = value.dtype();
  if (value.ndim() != 0 || !dtype.is_scalar()) return false;
  if (dtype.is_bool()) {
    out += load<uint8_t>(value) ? "True" : "False";
  } else if (dtype.is_int() && dtype.bits == 32) {
    append_integer(out, load<int32_t>(value));
  } else if (dtype.is_int() && dtype.bits == 64) {
    append_integer(out, load<int64_t>(value));
    out += "i64";
  } else if (dtype.is_int() && dtype.bits == 16) {
    append_integer(out, load<int16_t>(value));
    out += "i16";
  } else if (dtype.is_float() && dtype.bits == 32) {
    append_double(out, load<float>(value));
    out += "f";
  } else if (dtype.is_float() && dtype.bits == 64) {
    append_double(out, load<double>(value));
    out += "f64";
  } else if (dtype.is_float() && dtype.bits == 16) {
    append_double(out, half_to_float(load<uint16_t>(value)));
    out += "f16";
  } else {
    return false;
  }
  return true;
}

std::string unquote(std::string_view token) {
  token.remove_prefix(1);
  if (token.ends_with('"')) token.remove_suffix(1);
  std::string text;
  text.reserve(token.size());
  for (size_t i = 0; i < token.size(); ++i) {
    const char follow = i + 1 < token.size() ? token[i + 1] : '\0';
    if (token[i] == '\\' && (follow == '"' || follow == '\\' || follow == 'n')) {
      text += follow == 'n' ? '\n' : follow;
      ++i;
    } else {
      text += token[i];
    }
  }
  return text;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  out += '"';
}

}  // namespace baton::text
