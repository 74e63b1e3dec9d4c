#include "baton/support/base/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace baton {

namespace {

using Token = JsonKind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// One loop, whose only stack is the brackets that are open.
class Scanner {
 public:
  Scanner(std::string_view text, JsonConsumer& consumer) : text_(text), consumer_(consumer) {}

  bool scan() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    for (;;) {
      skip_space();
      if (peek() == '[' || peek() == '{') {
        const bool object = peek() == '{';
        open_ += object ? '}' : ']';
        if (!emit(object ? Token::kObject : Token::kArray, at_++)) return false;
        skip_space();
        if (peek() != open_.back()) {
          if (object && !scan_name()) return false;
          continue;  // to the first element
        }
        if (!close()) return false;
      } else if (!scan_scalar()) {
        return false;
      }
      if (!scan_behind_value()) return false;
      if (open_.empty()) return at_ == text_.size() || expected("the end");
    }
  }

  JsonMistake mistake() { return std::move(mistake_); }

 private:
  /// 0 at the end, which starts no token.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char wanted) {
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool fail(std::string what) {
    mistake_ = {at_, std::move(what)};
    return false;
  }
  bool expected(const char* what) {
    std::string text = std::string("expected ") + what + ", found ";
    const size_t size = at_ < text_.size() ? utf8_size(text_.substr(at_)) : 0;
    if (at_ == text_.size())
      text += "the end";
    else if (size == 0 || static_cast<unsigned char>(peek()) < ' ')
      text += "a byte that is no character";
    else
      text.append("`").append(text_.substr(at_, size)).append("`");
    return fail(std::move(text));
  }

  bool emit(Token kind, size_t from, std::string_view text = {}, int64_t integer = 0) {
    if (consumer_.take({kind, integer, text, from, at_})) return true;
    mistake_ = {from, ""};
    return false;
  }

  /// Closes finished containers, until another element is expected or none is open.
  bool scan_behind_value() {
    for (;;) {
      skip_space();
      if (open_.empty()) return true;
      const bool object = open_.back() == '}';
      if (take(',')) return !object || scan_name();
      if (peek() != open_.back()) return expected(object ? "`,` or `}`" : "`,` or `]`");
      if (!close()) return false;
    }
  }

  bool close() {
    open_.pop_back();
    ++at_;
    return emit(Token::kEnd, at_ - 1);
  }

  /// "name":
  bool scan_name() {
    skip_space();
    if (peek() != '"') return expected("a name in quotes");
    if (!scan_string(Token::kName)) return false;
    skip_space();
    return take(':') || expected("`:`");
  }

  bool scan_scalar() {
    if (peek() == '"') return scan_string(Token::kString);
    if (peek() == '-' || is_digit(peek())) return scan_number();
    for (const auto& [word, kind] : {std::pair<std::string_view, Token>{"null", Token::kNull},
                                     {"false", Token::kFalse},
                                     {"true", Token::kTrue}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return emit(kind, at_ - word.size());
    }
    return expected("a value");
  }

  bool scan_digits() {
    if (!is_digit(peek())) return expected("a digit");
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool scan_number() {
    const size_t from = at_;
    take('-');
    if (!take('0') && !scan_digits()) return false;  // no digit may follow a leading zero
    bool integer = true;
    if (take('.')) {
      integer = false;
      if (!scan_digits()) return false;
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      if (!scan_digits()) return false;
    }
    const std::string_view source = text_.substr(from, at_ - from);
    int64_t number = 0;
    integer =
        integer && std::from_chars(source.data(), source.data() + source.size(), number).ec == std::errc();
    return emit(integer ? Token::kInteger : Token::kReal, from, source, number);
  }

  /// A string without escapes is a part of the text.
  bool scan_string(Token kind) {
    const size_t from = at_++;
    size_t plain = at_;  // where what is not in `decoded_` yet begins
    bool escaped = false;
    decoded_.clear();
    while (!take('"')) {
      if (peek() == '\\') {
        decoded_ += text_.substr(plain, at_ - plain);
        if (!scan_escape()) return false;
        plain = at_;
        escaped = true;
      } else if (!scan_character()) {
        return false;
      }
    }
    std::string_view content = text_.substr(plain, at_ - 1 - plain);
    if (escaped) content = decoded_ += content;
    return emit(kind, from, content);
  }

  bool scan_character() {
    if (at_ == text_.size()) return fail("a string does not end");
    if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a control character in a string");
    const size_t size = static_cast<unsigned char>(text_[at_]) < 0x80 ? 1 : utf8_size(text_.substr(at_));
    at_ += size;
    return size > 0 || fail("this is not UTF-8");
  }

  bool scan_escape() {
    static constexpr std::string_view kShort = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    ++at_;
    if (take('u')) return scan_code_point();
    const size_t which = at_ < text_.size() ? kShort.find(peek()) : std::string_view::npos;
    if (which == std::string_view::npos) return fail("there is no such escape in a string");
    ++at_;
    decoded_ += kMeant[which];
    return true;
  }

  bool scan_hex(uint32_t& unit) {
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (error != std::errc() || end != digits.data() + 4) return fail("`\\u` needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  /// The rest of a `\u` escape: one UTF-16 code unit, or a surrogate pair.
  bool scan_code_point() {
    uint32_t code = 0, low = 0;
    if (!scan_hex(code)) return false;
    if (code >= 0xD800 && code <= 0xDFFF) {
      const bool pair = code < 0xDC00 && take('\\') && take('u') && scan_hex(low);
      if (!pair || low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    const auto put = [&](uint32_t byte) { decoded_ += static_cast<char>(byte); };
    if (code < 0x80) return put(code), true;
    if (code >= 0x10000) {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    } else if (code >= 0x800) {
      put(0xE0 | (code >> 12));
    }
    put(code >= 0x800 ? 0x80 | ((code >> 6) & 0x3F) : 0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
    return true;
  }

  std::string_view text_;
  JsonConsumer& consumer_;
  size_t at_ = 0;
  std::string open_;     // the brackets that close what is open
  std::string decoded_;  // the last string with escapes
  JsonMistake mistake_ = {};
};

}  // namespace

std::optional<JsonMistake> scan_json(std::string_view text, JsonConsumer& consumer) {
  Scanner scanner(text, consumer);
  if (scanner.scan()) return std::nullopt;
  return scanner.mistake();
}

double json_real(std::string_view text) {
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
  // Out of range, which says not on which side: the power of ten of its first digit that is not 0.
  const size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, exponent_at);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(std::min(digits.find_first_of("123456789"), digits.size()));
  int64_t exponent = 0;
  size_t from = exponent_at + 1;
  if (from < text.size() && text[from] == '+') ++from;
  if (from < text.size() &&
      std::from_chars(text.data() + from, text.data() + text.size(), exponent).ec != std::errc())
    exponent = text[from] == '-' ? INT32_MIN : INT32_MAX;
  value = point - first + exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  return text.starts_with('-') ? -value : value;
}

// No overlong forms, no surrogates, at most U+10FFFF.
size_t utf8_size(std::string_view text, size_t* wrong) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  const size_t size = lead < 0x80   ? 1
                      : lead < 0xC2 ? 0
                      : lead < 0xE0 ? 2
                      : lead < 0xF0 ? 3
                      : lead < 0xF5 ? 4
                                    : 0;
  size_t right = 1;
  for (; right < size && right < text.size(); ++right) {
    const unsigned char low = right > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = right > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(right) < low || byte(right) > high) break;
  }
  if (right == size) return size;
  if (wrong) *wrong = right;
  return 0;
}

/// Completed values of unfinished containers are kept on a stack, so that the elements of a container become
/// contiguous, without recursion.
class JsonDocumentMaker final : public JsonConsumer {
 public:
  bool take(const JsonToken& token) override {
    if (token.kind == JsonKind::kEnd) return close(token), true;
    if (token.kind == JsonKind::kArray || token.kind == JsonKind::kObject) {
      open_.push_back({waiting_.size(), token.from, token.kind});
      return true;
    }
    JsonValue& value =
        add(token.kind == JsonKind::kName ? JsonKind::kString : token.kind, token.from, token.to);
    if (value.kind_ == JsonKind::kInteger) value.data_.integer = token.integer;
    if (value.kind_ == JsonKind::kString) {
      value.size_ = static_cast<uint32_t>(token.text.size());
      value.data_.offset = result_.strings_.size();
      result_.strings_.insert(result_.strings_.end(), token.text.begin(), token.text.end());
    }
    return true;
  }

  /// Finishes the document: offsets become pointers, since no more values are moved.
  JsonDocument finish() {
    result_.values_.push_back(waiting_.back());
    for (JsonValue& value : result_.values_) {
      if (value.kind_ == JsonKind::kString)
        value.data_.text = result_.strings_.data() + value.data_.offset;
      else if (value.is_array() || value.is_object())
        value.data_.values = result_.values_.data() + value.data_.offset;
    }
    return std::move(result_);
  }

 private:
  struct Open {
    size_t first;  // index of its first element on the stack
    size_t from;
    JsonKind kind;
  };

  JsonValue& add(JsonKind kind, size_t from, size_t to) {
    JsonValue& value = waiting_.emplace_back();
    value.kind_ = kind;
    value.from_ = static_cast<uint32_t>(from);
    value.to_ = static_cast<uint32_t>(to);
    return value;
  }

  void close(const JsonToken& token) {
    const Open open = open_.back();
    open_.pop_back();
    if (open.kind == JsonKind::kObject) sort_members(open.first);
    const size_t count = waiting_.size() - open.first, offset = result_.values_.size();
    result_.values_.insert(result_.values_.end(), waiting_.begin() + static_cast<ptrdiff_t>(open.first),
                           waiting_.end());
    waiting_.resize(open.first);
    JsonValue& value = add(open.kind, open.from, token.to);
    value.size_ = static_cast<uint32_t>(open.kind == JsonKind::kObject ? count / 2 : count);
    value.data_.offset = offset;
  }

  std::string_view name_at(size_t at) const {
    return {result_.strings_.data() + waiting_[at].data_.offset, waiting_[at].size_};
  }

  /// When names are duplicate, the last member is kept.
  void sort_members(size_t first) {
    bool sorted = true;
    for (size_t at = first + 2; at < waiting_.size() && sorted; at += 2)
      sorted = name_at(at - 2) < name_at(at);
    if (sorted) return;
    std::vector<size_t> order;
    for (size_t at = first; at < waiting_.size(); at += 2) order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return name_at(a) < name_at(b); });
    std::vector<JsonValue> members;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i + 1 < order.size() && name_at(order[i]) == name_at(order[i + 1])) continue;
      members.push_back(waiting_[order[i]]);
      members.push_back(waiting_[order[i] + 1]);
    }
    waiting_.resize(first);
    waiting_.insert(waiting_.end(), members.begin(), members.end());
  }

  std::vector<Open> open_;
  std::vector<JsonValue> waiting_;
  JsonDocument result_;
};

std::optional<JsonDocument> JsonDocument::parse(std::string_view text) {
  JsonDocumentMaker maker;
  if (text.size() > UINT32_MAX || scan_json(text, maker)) return std::nullopt;
  return maker.finish();
}

const JsonValue* JsonValue::member(std::string_view wanted) const {
  if (!is_object()) return nullptr;
  size_t first = 0, last = size_;
  while (first < last) {
    const size_t middle = (first + last) / 2;
    if (name(middle) < wanted)
      first = middle + 1;
    else
      last = middle;
  }
  return first < size_ && name(first) == wanted ? &value(first) : nullptr;
}

std::string compact_json(const JsonValue& value, std::string_view text) {
  std::string compact;
  bool quoted = false;
  const std::string_view part = text.substr(value.from_, value.to_ - value.from_);
  for (size_t i = 0; i < part.size(); ++i) {
    if (!quoted && is_space(part[i])) continue;
    compact += part[i];
    if (quoted && part[i] == '\\')
      compact += part[++i];
    else if (part[i] == '"')
      quoted = !quoted;
  }
  return compact;
}

}  // namespace baton
