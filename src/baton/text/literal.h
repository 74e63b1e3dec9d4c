#pragma once
// Numeric literals: `3` is int32; `3i64`, `1.5f` and `1f16` have a type suffix.
#include <optional>
#include <string>
#include <string_view>

#include "baton/support/base/ndarray.h"
#include "baton/support/diagnostic.h"
#include "baton/text/token.h"

namespace baton::text {

/// The value of a number token.
struct Number {
  DType dtype;  ///< int16, int32, int64, float16, float32 or float64
  int64_t integer = 0;
  double real = 0;  ///< value of a float, rounded to `dtype`
};

/// Parses a kNumber token; nullopt after reporting to `engine`.
std::optional<Number> parse_number(const Token& token, const Span& span, DiagnosticEngine& engine);

/// A rank-0 array of that value.
NDArray scalar_array(const Number& number);
NDArray scalar_array(bool value);

/// Appends the literal of a rank-0 array: `1`, `1i64`, `1.5f`, `True`. False when its type has no literal.
bool append_literal(std::string& out, const NDArray& value);

/// Appends `value` with six significant digits (`%g`); `inf`, `nan`.
void append_double(std::string& out, double value);
void append_integer(std::string& out, int64_t value);

/// The contents of a kString token; \" \\ and \n are unescaped.
std::string unquote(std::string_view token);
/// Appends "..." in the form that unquote parses.
void append_quoted(std::string& out, std::string_view text);

}  // namespace baton::text
