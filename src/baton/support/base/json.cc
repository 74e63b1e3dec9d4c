#include "baton/support/base/json.h"

#include <algorithm>
#include <charconv>

namespace baton {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

/// Single-pass parser. Completed values of unfinished containers are kept on a stack, so that the elements of
/// a container become contiguous, without recursion.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  bool parse() {
    if (text_.size() > UINT32_MAX) return false;
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    for (;;) {
      skip_space();
      if (peek() == '[' || peek() == '{') {
        const bool object = peek() == '{';
        open_.push_back({waiting_.size(), static_cast<uint32_t>(at_++), object});
        skip_space();
        if (peek() == (object ? '}' : ']'))
          close();
        else if (object && !read_name())
          return false;
        else
          continue;  // to the first element
      } else if (!read_scalar()) {
        return false;
      }
      if (!read_behind_value()) return false;
      if (open_.empty()) return at_ == text_.size();
    }
  }

  /// Finishes the document: offsets become pointers, since no more values are moved.
  JsonDocument finish() {
    result_.values_.push_back(waiting_.back());
    for (JsonValue& value : result_.values_) {
      if (value.kind_ == JsonValue::Kind::kString)
        value.data_.text = result_.strings_.data() + value.data_.offset;
      else if (value.is_array() || value.is_object())
        value.data_.values = result_.values_.data() + value.data_.offset;
    }
    return std::move(result_);
  }

 private:
  struct Open {
    size_t first;  // index of its first element on the stack
    uint32_t from;
    bool object;
  };

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

  JsonValue& add(JsonValue::Kind kind, size_t from) {
    JsonValue& value = waiting_.emplace_back();
    value.kind_ = kind;
    value.from_ = static_cast<uint32_t>(from);
    value.to_ = static_cast<uint32_t>(at_);
    return value;
  }

  /// Closes finished containers, until another element is expected or none is open.
  bool read_behind_value() {
    for (;;) {
      skip_space();
      if (open_.empty()) return true;
      if (take(',')) return !open_.back().object || read_name();
      if (peek() != (open_.back().object ? '}' : ']')) return false;
      close();
    }
  }

  void close() {
    ++at_;
    const Open open = open_.back();
    open_.pop_back();
    if (open.object) sort_members(open.first);
    const size_t count = waiting_.size() - open.first, offset = result_.values_.size();
    result_.values_.insert(result_.values_.end(), waiting_.begin() + static_cast<ptrdiff_t>(open.first),
                           waiting_.end());
    waiting_.resize(open.first);
    JsonValue& value = add(open.object ? JsonValue::Kind::kObject : JsonValue::Kind::kArray, open.from);
    value.size_ = static_cast<uint32_t>(open.object ? count / 2 : count);
    value.data_.offset = offset;
  }

  std::string_view name_at(size_t at) const {
    return {result_.strings_.data() + waiting_[at].data_.offset, waiting_[at].size_};
  }

  /// Of duplicate names the last member is kept.
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

  /// "name":
  bool read_name() {
    skip_space();
    if (!read_string()) return false;
    skip_space();
    return take(':');
  }

  bool read_scalar() {
    if (peek() == '"') return read_string();
    if (peek() == '-' || is_digit(peek())) return read_number();
    return read_word("null", JsonValue::Kind::kNull) || read_word("false", JsonValue::Kind::kFalse) ||
           read_word("true", JsonValue::Kind::kTrue);
  }

  bool read_word(std::string_view word, JsonValue::Kind kind) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    add(kind, at_ - word.size());
    return true;
  }

  bool read_digits() {
    const size_t from = at_;
    while (is_digit(peek())) ++at_;
    return at_ > from;
  }

  bool read_number() {
    const size_t from = at_;
    take('-');
    if (!take('0') && !read_digits()) return false;  // no digit may follow a leading zero
    bool integer = true;
    if (take('.')) {
      integer = false;
      if (!read_digits()) return false;
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      if (!read_digits()) return false;
    }
    int64_t number = 0;
    integer = integer && std::from_chars(text_.data() + from, text_.data() + at_, number).ec == std::errc();
    JsonValue& value = add(integer ? JsonValue::Kind::kInteger : JsonValue::Kind::kReal, from);
    if (integer) value.data_.integer = number;
    return true;
  }

  bool read_string() {
    const size_t from = at_, offset = result_.strings_.size();
    if (!take('"')) return false;
    while (!take('"')) {
      if (!(peek() == '\\' ? read_escape() : read_character())) return false;
    }
    JsonValue& value = add(JsonValue::Kind::kString, from);
    value.size_ = static_cast<uint32_t>(result_.strings_.size() - offset);
    value.data_.offset = offset;
    return true;
  }

  void put(char c) { result_.strings_.push_back(c); }

  /// One UTF-8 code point: no overlong forms, no surrogates, at most U+10FFFF.
  bool read_character() {
    if (at_ == text_.size()) return false;
    const auto lead = static_cast<unsigned char>(text_[at_]);
    const size_t size = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
    if (lead < 0x20 || size == 0 || text_.size() - at_ < size) return false;
    for (size_t i = 1; i < size; ++i)
      if ((text_[at_ + i] & 0xC0) != 0x80) return false;
    if (size > 2) {
      const auto second = static_cast<unsigned char>(text_[at_ + 1]);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
          (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
        return false;
    }
    for (size_t i = 0; i < size; ++i) put(text_[at_++]);
    return true;
  }

  bool read_escape() {
    static constexpr std::string_view kShort = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    ++at_;
    if (take('u')) return read_code_point();
    const size_t which = at_ < text_.size() ? kShort.find(peek()) : std::string_view::npos;
    if (which == std::string_view::npos) return false;
    ++at_;
    put(kMeant[which]);
    return true;
  }

  bool read_hex(uint32_t& unit) {
    if (text_.size() - at_ < 4) return false;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, first + 4, unit, 16);
    at_ += 4;
    return error == std::errc() && end == first + 4;
  }

  /// The rest of a `\u` escape: one UTF-16 code unit, or a surrogate pair.
  bool read_code_point() {
    uint32_t code = 0, low = 0;
    if (!read_hex(code)) return false;
    if (code >= 0xDC00 && code <= 0xDFFF) return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (!take('\\') || !take('u') || !read_hex(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code < 0x80) return put(static_cast<char>(code)), true;
    if (code >= 0x10000) {
      put(static_cast<char>(0xF0 | (code >> 18)));
      put(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    } else if (code >= 0x800) {
      put(static_cast<char>(0xE0 | (code >> 12)));
    }
    put(static_cast<char>(code >= 0x800 ? 0x80 | ((code >> 6) & 0x3F) : 0xC0 | (code >> 6)));
    put(static_cast<char>(0x80 | (code & 0x3F)));
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Open> open_;
  std::vector<JsonValue> waiting_;
  JsonDocument result_;
};

std::optional<JsonDocument> JsonDocument::parse(std::string_view text) {
  JsonParser parser(text);
  if (!parser.parse()) return std::nullopt;
  return parser.finish();
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
