// A JSON (RFC 8259) scanner without exceptions, and a document of what it found: parsing returns a document
// or nothing, and accessors of a value of another kind return an empty result. Neither scanning nor
// destruction recurses, so depth is unlimited. Code that writes JSON or may throw uses support/json.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// kInteger fits int64; kReal is any other number.
enum class JsonKind : uint8_t {
  kNull,
  kFalse,
  kTrue,
  kInteger,
  kReal,
  kString,
  kArray,
  kObject,
  kName,  ///< only of tokens: of the member that follows
  kEnd    ///< only of tokens: of an array or object
};

/// What the scanner found. A container is its beginning, its contents and kEnd.
struct JsonToken {
  JsonKind kind;
  int64_t integer = 0;
  std::string_view text;    ///< of a string or name decoded, of others the source; only valid during the call
  size_t from = 0, to = 0;  ///< its range in the source
};

class JsonConsumer {
 public:
  JsonConsumer() = default;
  JsonConsumer(const JsonConsumer&) = delete;
  JsonConsumer& operator=(const JsonConsumer&) = delete;

  /// False stops the scanner.
  virtual bool take(const JsonToken& token) = 0;

 protected:
  ~JsonConsumer() = default;
};

/// Where a text stops being JSON, and why; `what` is empty where the consumer stopped.
struct JsonMistake {
  size_t at;
  std::string what;
};

/// Hands the tokens of `text`, which may begin with a byte order mark, to `consumer`. Nullopt when all is
/// JSON.
std::optional<JsonMistake> scan_json(std::string_view text, JsonConsumer& consumer);

/// The value of a kReal token: 0 for what is too small, infinite for what is too large.
double json_real(std::string_view text);

/// The number of bytes of the UTF-8 code point at the beginning of a text that is not empty; 0 when it is not
/// UTF-8, and then `wrong` is how many bytes could have begun one.
size_t utf8_size(std::string_view text, size_t* wrong = nullptr);

/// One value, owned by its document.
class JsonValue {
 public:
  using Kind = JsonKind;

  Kind kind() const { return kind_; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  /// Number of array elements or object members; 0 for other kinds.
  size_t size() const { return is_array() || is_object() ? size_ : 0; }

  /// Elements of an array; empty for other kinds.
  const JsonValue* begin() const { return is_array() ? data_.values : nullptr; }
  const JsonValue* end() const { return is_array() ? data_.values + size_ : nullptr; }
  const JsonValue& operator[](size_t index) const { return data_.values[index]; }

  /// Members of an object, sorted by name; of duplicates the last one.
  std::string_view name(size_t index) const { return *data_.values[2 * index].string(); }
  const JsonValue& value(size_t index) const { return data_.values[2 * index + 1]; }
  /// Null when absent, or when this is not an object.
  const JsonValue* member(std::string_view name) const;

  /// An integer without point and exponent that fits int64.
  std::optional<int64_t> integer() const {
    return kind_ == Kind::kInteger ? std::optional(data_.integer) : std::nullopt;
  }
  std::optional<std::string_view> string() const {
    return kind_ == Kind::kString ? std::optional(std::string_view(data_.text, size_)) : std::nullopt;
  }

 private:
  friend class JsonDocument;
  friend class JsonDocumentMaker;
  friend std::string compact_json(const JsonValue& value, std::string_view text);

  Kind kind_ = Kind::kNull;
  uint32_t size_ = 0;
  uint32_t from_ = 0, to_ = 0;  // its range in the text
  union {
    size_t offset;  // during parsing: the offset for the pointers below
    int64_t integer;
    const char* text;
    const JsonValue* values;  // of an object: name, value, name, value, ...
  } data_ = {0};
};

class JsonDocument {
 public:
  /// Nullopt for invalid JSON, and for texts of 4 GiB and more.
  static std::optional<JsonDocument> parse(std::string_view text);

  JsonDocument(JsonDocument&&) = default;
  JsonDocument& operator=(JsonDocument&&) = default;

  const JsonValue& root() const { return values_.back(); }

 private:
  friend class JsonDocumentMaker;
  JsonDocument() = default;

  std::vector<JsonValue> values_;  // elements of a container are contiguous; the root is last
  std::vector<char> strings_;
};

/// The text of a value in `text`, its document's source, without insignificant white space.
std::string compact_json(const JsonValue& value, std::string_view text);

}  // namespace baton
