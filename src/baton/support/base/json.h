// A JSON (RFC 8259) parser without exceptions: parsing returns a document or nothing, and accessors of a
// value of another kind return an empty result. Neither parsing nor destruction recurses, so depth is
// unlimited. Code that writes JSON or may throw uses nlohmann's: docs/design/0002-libraries.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// One value, owned by its document.
class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kInteger, kReal, kString, kArray, kObject };

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
  friend class JsonParser;
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
  friend class JsonParser;
  JsonDocument() = default;

  std::vector<JsonValue> values_;  // elements of a container are contiguous; the root is last
  std::vector<char> strings_;
};

/// The text of a value in `text`, its document's source, without insignificant white space.
std::string compact_json(const JsonValue& value, std::string_view text);

}  // namespace baton
