#pragma once
// Splits Relay text into tokens, one at a time; comments and white space are skipped.
#include <vector>

#include "baton/support/diagnostic.h"
#include "baton/text/token.h"

namespace baton::text {

/// After so many mistakes the rest of a text is not read.
inline constexpr size_t kMaxErrors = 20;

class Lexer {
 public:
  /// Reads `source` up to byte `end`. Mistakes are reported to `engine`; the lexer then goes on behind them.
  Lexer(Ref<const Source> source, size_t end, DiagnosticEngine& engine);

  Token next();
  /// Goes on reading at a place of the text; where the text has none, at its end.
  void seek(uint32_t line, uint32_t column);
  /// Goes on reading right behind `token`, which may have been made longer.
  void resume(const Token& token);

  Span span(uint32_t line, uint32_t column, uint32_t end_line, uint32_t end_column) const {
    return Span{source_, line, column, end_line, end_column};
  }
  /// From the first byte of `from` up to a place.
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
  std::string_view note_;       // the last comment that names origins, up to the text's end
  bool cut_short_ = false;      // by a comment without an end: what is missing then is no second mistake
  bool after_operand_ = false;  // whether a `-` here is an operator, not a sign
};

/// The place of the first byte that is no UTF-8, or npos.
size_t find_bad_utf8(std::string_view text);

}  // namespace baton::text
