#pragma once
// Tokens of Relay text.
#include <cstdint>
#include <string_view>

namespace baton::text {

enum class TokenKind : uint8_t {
  kEnd,
  kUnknown,  ///< already reported by the lexer
  kHash,     ///< `#[...]`, e.g. the version line
  kIdent,    ///< `add`, `nn.conv2d`: includes dots
  kLocal,    ///< `%x`
  kGraph,    ///< `%0`
  kGlobal,   ///< `@main`
  kNumber,   ///< with its sign and suffix: `-1.5f`, `3i64`, `inff`
  kString,   ///< with its quotes
  kMeta,     ///< `meta[relay.Constant][0]`
  kLet,
  kFn,
  kDef,
  kIf,
  kElse,
  kType,
  kMatch,
  kMatchPartial,
  kExtern,
  kFreeVar,
  kRef,
  kRefRead,
  kRefWrite,
  kTrue,
  kFalse,
  kUnderscore,
  kDot,
  kComma,
  kSemicolon,
  kColon,
  kAssign,
  kArrow,
  kFatArrow,
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kLeftSquare,
  kRightSquare,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kBang,
  kQuestion,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t line = 1, column = 1;  ///< of its first byte, 1-based
  std::string_view text;
  uint32_t shown = 1;          ///< its column in TVM's counting, see tvm_position.h
  uint32_t drift = 0;          ///< after it
  std::string_view note = {};  ///< the origin comment before it: origin_text.h

  bool is(TokenKind other) const { return kind == other; }
  uint32_t end_column() const { return column + static_cast<uint32_t>(text.size()); }
};

/// The name of a kind in error messages: "`;`", "a name", "the end of the text".
std::string_view describe(TokenKind kind);

}  // namespace baton::text
