#include "baton/text/lexer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "baton/text/diagnostics.h"
#include "baton/text/origin_text.h"
#include "baton/text/tvm_position.h"

namespace baton::text {

namespace {

enum CharClass : uint8_t { kDigit = 1, kLetter = 2 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  classes['_'] = classes['/'] = kLetter;  // names may contain slashes: %conv/weight
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

bool is_digit(char c) { return kClasses[static_cast<unsigned char>(c)] == kDigit; }
bool is_letter(char c) { return kClasses[static_cast<unsigned char>(c)] == kLetter; }
bool is_word(char c) { return kClasses[static_cast<unsigned char>(c)] != 0; }

TokenKind keyword(std::string_view word) {
  static constexpr std::pair<std::string_view, TokenKind> kWords[] = {
      {"let", TokenKind::kLet},          {"fn", TokenKind::kFn},
      {"def", TokenKind::kDef},          {"if", TokenKind::kIf},
      {"else", TokenKind::kElse},        {"type", TokenKind::kType},
      {"match", TokenKind::kMatch},      {"extern", TokenKind::kExtern},
      {"free_var", TokenKind::kFreeVar}, {"ref", TokenKind::kRef},
      {"ref_read", TokenKind::kRefRead}, {"ref_write", TokenKind::kRefWrite},
      {"True", TokenKind::kTrue},        {"False", TokenKind::kFalse},
      {"_", TokenKind::kUnderscore}};
  if (word.size() > 9) return TokenKind::kIdent;
  for (const auto& [text, kind] : kWords)
    if (text == word) return kind;
  return TokenKind::kIdent;
}

// Numbers that begin with a letter: inff, nanf16, ...
bool is_special_number(std::string_view word) {
  if (!word.starts_with("inff") && !word.starts_with("nanf")) return false;
  const std::string_view width = word.substr(4);
  return width.empty() || width == "16" || width == "32" || width == "64";
}

const char* word_end(const char* at, const char* end) {
  // A comment may directly follow a name, although names may contain slashes.
  while (at < end && is_word(*at) && !(*at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*'))) ++at;
  return at;
}

}  // namespace

std::string_view describe(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kUnknown:
      return "an unexpected character";
    case TokenKind::kHash:
      return "a section";
    case TokenKind::kIdent:
      return "a name";
    case TokenKind::kLocal:
      return "a local variable";
    case TokenKind::kGraph:
      return "a graph variable";
    case TokenKind::kGlobal:
      return "a global name";
    case TokenKind::kNumber:
      return "a number";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kMeta:
      return "a metadata reference";
    case TokenKind::kLet:
      return "`let`";
    case TokenKind::kFn:
      return "`fn`";
    case TokenKind::kDef:
      return "`def`";
    case TokenKind::kIf:
      return "`if`";
    case TokenKind::kElse:
      return "`else`";
    case TokenKind::kType:
      return "`type`";
    case TokenKind::kMatch:
      return "`match`";
    case TokenKind::kMatchPartial:
      return "`match?`";
    case TokenKind::kExtern:
      return "`extern`";
    case TokenKind::kFreeVar:
      return "`free_var`";
    case TokenKind::kRef:
      return "`ref`";
    case TokenKind::kRefRead:
      return "`ref_read`";
    case TokenKind::kRefWrite:
      return "`ref_write`";
    case TokenKind::kTrue:
      return "`True`";
    case TokenKind::kFalse:
      return "`False`";
    case TokenKind::kUnderscore:
      return "`_`";
    case TokenKind::kDot:
      return "`.`";
    case TokenKind::kComma:
      return "`,`";
    case TokenKind::kSemicolon:
      return "`;`";
    case TokenKind::kColon:
      return "`:`";
    case TokenKind::kAssign:
      return "`=`";
    case TokenKind::kArrow:
      return "`->`";
    case TokenKind::kFatArrow:
      return "`=>`";
    case TokenKind::kLeftParen:
      return "`(`";
    case TokenKind::kRightParen:
      return "`)`";
    case TokenKind::kLeftBrace:
      return "`{`";
    case TokenKind::kRightBrace:
      return "`}`";
    case TokenKind::kLeftSquare:
      return "`[`";
    case TokenKind::kRightSquare:
      return "`]`";
    case TokenKind::kLess:
      return "`<`";
    case TokenKind::kLessEqual:
      return "`<=`";
    case TokenKind::kGreater:
      return "`>`";
    case TokenKind::kGreaterEqual:
      return "`>=`";
    case TokenKind::kEqual:
      return "`==`";
    case TokenKind::kNotEqual:
      return "`!=`";
    case TokenKind::kPlus:
      return "`+`";
    case TokenKind::kMinus:
      return "`-`";
    case TokenKind::kStar:
      return "`*`";
    case TokenKind::kSlash:
      return "`/`";
    case TokenKind::kBang:
      return "`!`";
    case TokenKind::kQuestion:
      return "`?`";
  }
  return "";
}

Lexer::Lexer(Ref<const Source> source, size_t end, DiagnosticEngine& engine)
    : source_(std::move(source)),
      engine_(engine),
      at_(source_->text().data()),
      end_(at_ + end),
      line_start_(at_) {}

void Lexer::seek(uint32_t line, uint32_t column) {
  at_ = source_->text().data();
  line_ = 1;
  for (line_start_ = at_; line_ < line; new_line()) {
    const void* found = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    at_ = found ? static_cast<const char*>(found) + 1 : end_;
    if (!found) return;
  }
  at_ += std::min<size_t>(column - 1, static_cast<size_t>(end_ - at_));
  after_operand_ = false;
}

void Lexer::resume(const Token& token) {
  at_ = token.text.data() + token.text.size();
  line_ = token.line;
  line_start_ = token.text.data() - (token.column - 1);
  drift_ = token.drift;
  after_operand_ = true;
}

void Lexer::skip_block_comment() {
  const uint32_t line = line_, column = static_cast<uint32_t>(at_ - line_start_) + 1;
  at_ += 2;
  const std::string_view inside(at_, static_cast<size_t>(end_ - at_));
  if (is_origin_comment(inside.substr(0, 10))) note_ = inside;
  for (int depth = 1; depth > 0;) {
    if (at_ >= end_) {
      engine_.report(kOpenComment, span(line, column, line, column + 2));
      cut_short_ = true;
      return;
    }
    const char c = *at_++;
    if (c == '\n') {
      new_line();
    } else if (at_ < end_ && ((c == '*' && *at_ == '/') || (c == '/' && *at_ == '*'))) {
      depth += c == '/' ? 1 : -1;
      ++at_;
    }
  }
}

void Lexer::skip_blanks() {
  while (at_ < end_) {
    const char c = *at_;
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      new_line();
    } else if (c == '/' && at_ + 1 < end_ && at_[1] == '/') {
      const void* found = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      at_ = found ? static_cast<const char*>(found) : end_;
    } else if (c == '/' && at_ + 1 < end_ && at_[1] == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

Token Lexer::take(TokenKind kind, const char* end) {
  Token token{kind, line_, static_cast<uint32_t>(at_ - line_start_) + 1,
              std::string_view(at_, static_cast<size_t>(end - at_))};
  count_like_tvm(token, drift_);
  token.drift = drift_;
  token.note = std::exchange(note_, {});
  at_ = end;
  after_operand_ = false;
  return token;
}

Token Lexer::name(TokenKind kind, const char* end) {
  Token token = take(kind, end);
  after_operand_ = true;
  return token;
}

Token Lexer::identifier() {
  const char* end = word_end(at_, end_);
  const std::string_view word(at_, static_cast<size_t>(end - at_));
  if (word == "meta" && end < end_ && *end == '[') {  // meta[type.key][n]
    const char* close = end;
    for (int part = 0; part < 2; ++part) {
      if (close >= end_ || *close != '[') return name(TokenKind::kIdent, end);
      while (close < end_ && *close != ']' && *close != '\n') ++close;
      if (close >= end_ || *close != ']') return name(TokenKind::kIdent, end);
      ++close;
    }
    return name(TokenKind::kMeta, close);
  }
  if (word == "match" && end < end_ && *end == '?') return take(TokenKind::kMatchPartial, end + 1);
  const TokenKind kind = keyword(word);
  if (kind == TokenKind::kTrue || kind == TokenKind::kFalse) return name(kind, end);
  if (kind != TokenKind::kIdent) return take(kind, end);
  if (is_special_number(word)) return name(TokenKind::kNumber, end);
  while (end + 1 < end_ && *end == '.' && is_letter(end[1])) end = word_end(end + 1, end_);
  return name(kind, end);
}

Token Lexer::number(const char* digits) {
  const char* end = digits;
  if (!is_digit(*end)) return name(TokenKind::kNumber, word_end(end, end_));  // -inff
  auto skip_digits = [&] {
    while (end < end_ && is_digit(*end)) ++end;
  };
  skip_digits();
  if (end + 1 < end_ && *end == '.' && (is_digit(end[1]) || end[1] == 'f')) {
    ++end;
    skip_digits();
  }
  if (end + 1 < end_ && (*end == 'e' || *end == 'E')) {
    const char* exponent = end + 1;
    if (exponent + 1 < end_ && (*exponent == '-' || *exponent == '+')) ++exponent;
    if (is_digit(*exponent)) {
      end = exponent;
      skip_digits();
    }
  }
  return name(TokenKind::kNumber, word_end(end, end_));  // with its suffix, or with invalid characters
}

// A sign binds only to digits, inff and nanf; there may be several signs.
bool Lexer::number_starts(const char* after_sign) const {
  const char* at = after_sign;
  while (at < end_ && *at == '-') ++at;
  if (at >= end_) return false;
  if (is_digit(*at)) return true;
  return is_special_number(std::string_view(at, static_cast<size_t>(word_end(at, end_) - at)));
}

Token Lexer::string() {
  const char* end = at_ + 1;
  while (end < end_ && *end != '"' && *end != '\n')
    end += *end == '\\' && end + 1 < end_ && end[1] != '\n' ? 2 : 1;
  if (end >= end_ || *end != '"') {
    end = std::min(end, end_);
    Token token = name(TokenKind::kUnknown, end);
    engine_.report(kOpenString, span(token));
    return token;
  }
  return name(TokenKind::kString, end + 1);
}

Token Lexer::hash() {
  const char* end = at_ + 1;
  while (end < end_ && *end != ']' && *end != '\n') ++end;
  return take(TokenKind::kHash, end < end_ && *end == ']' ? end + 1 : end);
}

// One report for a run of invalid characters and the following word: `$x`.
Token Lexer::unknown() {
  const char* end = at_ + 1;
  while (end < end_ && (static_cast<unsigned char>(*end) >= 0x80 || is_word(*end))) ++end;
  const unsigned char first = static_cast<unsigned char>(*at_);
  char shown[64];
  if (end - at_ >= 3 && std::memcmp(at_, "\xEF\xBB\xBF", 3) == 0) {
    std::snprintf(shown, sizeof shown, "U+FEFF, a byte order mark: save the file without it");
  } else if (first < 0x20 || first == 0x7f) {
    std::snprintf(shown, sizeof shown, "\\x%02x", first);
  } else {  // a whole character of the (valid) UTF-8 text
    size_t size = 1;
    while (size < 4 && at_ + size < end && (static_cast<unsigned char>(at_[size]) & 0xC0) == 0x80) ++size;
    std::snprintf(shown, sizeof shown, "`%.*s`", static_cast<int>(size), at_);
  }
  const Token token = name(TokenKind::kUnknown, end);
  engine_.report(kBadCharacter, span(token), {shown});
  if (engine_.diagnostics().size() >= kMaxErrors) at_ = end_;
  return token;
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= end_)
    return take(std::exchange(cut_short_, false) ? TokenKind::kUnknown : TokenKind::kEnd, end_);
  return is_known() ? known() : unknown();
}

// 'llvm': quoted words inside printed virtual devices. The end of the text when the quote is not closed.
const char* Lexer::closing_quote() const {
  const char* end = at_ + 1;
  while (end < end_ && *end != '\'' && *end != '"' && *end != '\n') ++end;
  return end < end_ && *end == '\'' ? end : end_;
}

bool Lexer::is_known() const {
  const char follow = at_ + 1 < end_ ? at_[1] : '\0';
  if (*at_ == '%') return is_word(follow);
  if (*at_ == '@') return is_letter(follow);
  if (*at_ == '#') return follow == '[';
  if (*at_ == '\'') return closing_quote() < end_;
  return is_word(*at_) || (*at_ != '\0' && std::strchr("\"({[)}].,;:?+*/-=!<>", *at_));
}

Token Lexer::known() {
  const char c = *at_;
  const char follow = at_ + 1 < end_ ? at_[1] : '\0';
  switch (c) {
    case '%': {
      if (is_digit(follow)) {
        const char* end = at_ + 1;
        while (end < end_ && is_digit(*end)) ++end;
        return name(TokenKind::kGraph, end);
      }
      return name(TokenKind::kLocal, word_end(at_ + 1, end_));
    }
    case '@':
      return name(TokenKind::kGlobal, word_end(at_ + 1, end_));
    case '"':
      return string();
    case '\'':
      return name(TokenKind::kString, closing_quote() + 1);
    case '#':
      return hash();
    case '(':
      return take(TokenKind::kLeftParen, at_ + 1);
    case '{':
      return take(TokenKind::kLeftBrace, at_ + 1);
    case '[':
      return take(TokenKind::kLeftSquare, at_ + 1);
    case ')':
      return name(TokenKind::kRightParen, at_ + 1);
    case '}':
      return name(TokenKind::kRightBrace, at_ + 1);
    case ']':
      return name(TokenKind::kRightSquare, at_ + 1);
    case '.':
      return take(TokenKind::kDot, at_ + 1);
    case ',':
      return take(TokenKind::kComma, at_ + 1);
    case ';':
      return take(TokenKind::kSemicolon, at_ + 1);
    case ':':
      return take(TokenKind::kColon, at_ + 1);
    case '?':
      return take(TokenKind::kQuestion, at_ + 1);
    case '+':
      return take(TokenKind::kPlus, at_ + 1);
    case '*':
      return take(TokenKind::kStar, at_ + 1);
    case '/':
      return take(TokenKind::kSlash, at_ + 1);
    case '-':
      if (follow == '>') return take(TokenKind::kArrow, at_ + 2);
      if (!after_operand_ && number_starts(at_ + 1)) {
        const char* digits = at_;
        while (*digits == '-') ++digits;
        return number(digits);
      }
      return take(TokenKind::kMinus, at_ + 1);
    case '=':
      if (follow == '=') return take(TokenKind::kEqual, at_ + 2);
      if (follow == '>') return take(TokenKind::kFatArrow, at_ + 2);
      return take(TokenKind::kAssign, at_ + 1);
    case '!':
      return follow == '=' ? take(TokenKind::kNotEqual, at_ + 2) : take(TokenKind::kBang, at_ + 1);
    case '<':
      return follow == '=' ? take(TokenKind::kLessEqual, at_ + 2) : take(TokenKind::kLess, at_ + 1);
    case '>':
      return follow == '=' ? take(TokenKind::kGreaterEqual, at_ + 2) : take(TokenKind::kGreater, at_ + 1);
    default:
      return is_digit(c) ? number(at_) : identifier();
  }
}

size_t find_bad_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (size_t i = 0; i < text.size();) {
    uint64_t word;
    if (i + 8 <= text.size() && (std::memcpy(&word, bytes + i, 8), (word & 0x8080808080808080ull) == 0)) {
      i += 8;
      continue;
    }
    const unsigned char lead = bytes[i];
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + size > text.size()) return i;
    for (size_t k = 1; k < size; ++k)
      if ((bytes[i + k] & 0xC0) != 0x80) return i;
    const unsigned char second =
        bytes[i + 1];  // rejects overlong forms, surrogates, and code points above U+10FFFF
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
      return i;
    i += size;
  }
  return std::string_view::npos;
}

}  // namespace baton::text
