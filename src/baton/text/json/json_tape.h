#pragma once
// JSON as a flat list of values, parsed without recursion: sixteen bytes per value, so that memory is bounded
// by a few times the file size, at any nesting depth.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace baton::text {

/// A whole JSON text. Values are identified by their index in the list; the members of an object or array
/// follow it, each at the `next` of the previous one. Members of an object are pairs of a key, which is a
/// value too, and a value.
class JsonTape {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kReal, kString, kKey, kArray, kObject };
  using At = uint32_t;

  /// Parses `text`, which must be UTF-8. `keys` get the numbers 0, 1, ...; other keys the following numbers.
  /// Throws Error.
  JsonTape(std::string_view text, const std::vector<std::string_view>& keys);

  static constexpr At kRoot = 0;
  Kind kind(At at) const { return values_[at].kind; }
  bool is(At at, Kind kind) const { return values_[at].kind == kind; }
  At next(At at) const {
    return is(at, Kind::kArray) || is(at, Kind::kObject) ? static_cast<At>(values_[at].bits) : at + 1;
  }
  /// Number of members of an array, or of keys plus values of an object.
  uint32_t size(At at) const { return values_[at].size; }
  uint32_t key(At at) const { return static_cast<uint32_t>(values_[at].bits); }
  const std::string& key_text(uint32_t key) const { return *key_names_[key]; }
  /// The number of a key; nullopt when no object uses it.
  std::optional<uint32_t> key_of(std::string_view name) const;

  // Accessors. Each throws Error, naming the value, when it is of another kind.
  bool boolean(At at) const;
  int64_t integer(At at) const;
  /// An integer between `low` and `high`.
  int64_t integer(At at, int64_t low, int64_t high) const;
  double real(At at) const;  ///< integers too
  std::string_view string(At at) const;
  void need(At at, Kind kind) const;

  /// Calls `visit(at)` for each element of an array.
  template <class Visit>
  void each(At array, Visit&& visit) const {
    need(array, Kind::kArray);
    for (At at = array + 1; at < next(array); at = next(at)) visit(at);
  }
  /// Calls `visit(key, at)` for each member of an object. Throws Error for a duplicate key.
  template <class Visit>
  void members(At object, Visit&& visit) const {
    need(object, Kind::kObject);
    check_unique(object);
    for (At at = object + 1; at < next(object); at = next(at + 1)) visit(key(at), at + 1);
  }
  /// The member of an object with that key, or nullopt.
  std::optional<At> find(At object, uint32_t key) const;
  /// The same; throws Error when absent.
  At member(At object, uint32_t key) const;

  /// The value's text, shortened, for error messages.
  std::string shown(At at) const;

 private:
  struct Value {
    Kind kind = Kind::kNull;
    uint32_t size = 0;
    uint64_t bits = 0;  // the number; the offset of a string; the end of an array or object
  };
  struct Builder;
  void check_unique(At object) const;

  std::vector<Value> values_;
  std::string strings_;
  std::unordered_map<std::string, uint32_t> keys_;
  std::vector<const std::string*> key_names_;
};

}  // namespace baton::text
