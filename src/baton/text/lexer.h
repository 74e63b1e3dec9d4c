#pragma once
// The lexer of Relay text: produces one token at a time, skipping comments and white space.
#include <vector>

#include "baton/support/diagnostic.h"
#include "baton/text/token.h"

namespace baton::text {

/// After this many errors the rest of a text is skipped.
inline constexpr size_t kMaxErrors = 20;

class Lexer {
 public:
  /// Reads `source` up to byte `end`. Reports errors to `engine` and continues after them.
  Lexer(Ref<const Source> source, size_t end, DiagnosticEngine& engine);

  Token next();
  /// Continues at a position of the text; at the end when there is no such position.
  void seek(uint32_t line, uint32_t column);
  /// Continues right after `token`, which may have been extended.
  void resume(const Token& token);

  Span span(uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column) const {
    return Span{source_, line, column, end_line, end_column};
  }
  /// From the first byte of `from` to a position.
  Span span(const Token& from, uint32_t end_line, uint32_t end_column) const {
    return Span{source_, from.line, from.column, end_line, end_column, from.line, from.shown};
  }
  Span span(const Token& token) const { return span(token, token.line, token.end_column()); }

 private:
  void skip_blanks();
  void skip_block_comment();
  void new_line() {
    ++line_;
    drift_ = 0;
    line_start_ = at_;
  }
  Token take(TokenKind kind, const char* end);
  Token name(TokenKind kind, const char* end);
  Token identifier();
  Token number(const char* digits);
  Token string();
  Token hash();
  bool is_known() const;
  const char* closing_quote() const;
  Token known();
  Token unknown();
  bool number_starts(const char* after_sign) const;

  Ref<const Source> source_;
  DiagnosticEngine& engine_;
  const char *at_, *end_, *line_start_;
  uint32_t line_ = 1, drift_ = 0;
  std::string_view note_;       // the last origin comment, up to the end of the text
  bool cut_short_ = false;      // by an unterminated comment: suppresses follow-up errors
  bool after_operand_ = false;  // whether a `-` here is an operator, not a sign
};

/// The position of the first invalid UTF-8 byte, or npos.
size_t find_bad_utf8(std::string_view text);

}  // namespace baton::text
