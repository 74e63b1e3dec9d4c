// Reads JSON (RFC 8259) where there are no exceptions: a text gives a document or nothing, and a value of
// another kind than was expected is an empty answer. Neither reading nor destroying recurses, so depth is no
// limit. Writing, and everything that may throw, is nlohmann's: docs/design/0002-libraries.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// One value. It belongs to its document.
class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kInteger, kReal, kString, kArray, kObject };

  Kind kind() const { return kind_; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  /// Elements of an array, members of an object; 0 of anything else.
  size_t size() const { return is_array() || is_object() ? size_ : 0; }

  /// Elements of an array. Of anything else there are none.
  const JsonValue* begin() const { return is_array() ? data_.values : nullptr; }
  const JsonValue* end() const { return is_array() ? data_.values + size_ : nullptr; }
  const JsonValue& operator[](size_t index) const { return data_.values[index]; }

  /// Members of an object, in the order of their names; of several that have one name the last.
  std::string_view name(size_t index) const { return *data_.values[2 * index].string(); }
  const JsonValue& value(size_t index) const { return data_.values[2 * index + 1]; }
  /// Null when there is none, or this is no object.
  const JsonValue* member(std::string_view name) const;

  /// A number without point and exponent that fits.
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
  uint32_t from_ = 0, to_ = 0;  // where it stands in the text
  union {
    size_t offset;  // while it is read: of what the pointers below point to
    int64_t integer;
    const char* text;
    const JsonValue* values;  // of an object: name, value, name, value, ...
  } data_ = {0};
};

class JsonDocument {
 public:
  /// Nothing for what is no JSON, and for texts of 4 GiB and more.
  static std::optional<JsonDocument> parse(std::string_view text);

  JsonDocument(JsonDocument&&) = default;
  JsonDocument& operator=(JsonDocument&&) = default;

  const JsonValue& root() const { return values_.back(); }

 private:
  friend class JsonParser;
  JsonDocument() = default;

  std::vector<JsonValue> values_;  // elements of one container stand together; the root is the last
  std::vector<char> strings_;
};

/// A value as it stands in `text`, which its document was read from, less the space between its parts.
std::string compact_json(const JsonValue& value, std::string_view text);

}  // namespace baton
