#pragma once
// JSON as values. Nothing here is a template that its users instantiate: conversions are in json.cc, for the
// types listed there.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/support/error.h"

namespace baton {

/// A text that is no JSON, or a value that is not what was asked for.
class JsonError : public Error {
 public:
  using Error::Error;
};

/// What becomes of bytes that are not UTF-8, which JSON cannot hold: a JsonError, or the replacement
/// character.
enum class JsonUtf8 { kRefuse, kReplace };

/// A JSON value. Members of objects keep their order; of those of one name that are parsed, the last counts.
class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kNatural, kReal, kString, kArray, kObject, kDiscarded };

  Json() = default;
  Json(std::nullptr_t) {}
  template <std::integral T>
  Json(T value) {
    if constexpr (std::same_as<T, bool>)
      set(value);
    else if constexpr (std::unsigned_integral<T>)
      set(static_cast<uint64_t>(value));
    else
      set(static_cast<int64_t>(value));
  }
  template <std::floating_point T>
  Json(T value) : kind_(Kind::kReal) {
    number_.real = static_cast<double>(value);
  }
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  template <class T>
  Json(const std::vector<T>& list);
  template <class T>
  Json(const std::map<std::string, T>& object);
  /// An object where each item is a pair of a name and a value (of equal names the first counts); else an
  /// array.
  Json(std::initializer_list<Json> items);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json() = default;

  static Json array(std::initializer_list<Json> items = {});
  static Json object();

  /// Throws JsonError: "line 3, column 5: expected `,` or `}`, found `x`". Bounds the depth at kDeepest.
  static Json parse(std::string_view text);
  /// A discarded value, which is of no other kind, when `text` is no JSON.
  static Json parse_or_discard(std::string_view text);
  static bool accept(std::string_view text);
  static constexpr size_t kDeepest = 1000;

  /// On one line without blanks; with `indent`, one line per member or element. Numbers are the shortest that
  /// read back the same; those that are not finite are null.
  std::string dump(int indent = -1, JsonUtf8 wrong = JsonUtf8::kRefuse) const;

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_boolean() const { return kind_ == Kind::kBool; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const { return kind_ == Kind::kInteger || kind_ == Kind::kNatural; }
  bool is_number_float() const { return kind_ == Kind::kReal; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_discarded() const { return kind_ == Kind::kDiscarded; }

  /// The value as a T; throws JsonError when it is none: a number outside of T's range, a text for a number,
  /// ... Integers are cut off, not rounded.
  template <class T>
  T get() const;
  template <class T>
  void get_to(T& to) const {
    to = get<T>();
  }
  /// A member as a T; `otherwise` when there is none. Throws JsonError when this is no object.
  template <class T>
  T value(std::string_view name, T otherwise) const {
    const Json* at = optional_member(name);
    return at ? at->get<T>() : otherwise;
  }
  std::string value(std::string_view name, const char* otherwise) const {
    return value(name, std::string(otherwise));
  }

  /// Elements of an array, or members of an object; 0 of null, 1 of other values.
  size_t size() const;
  bool empty() const { return size() == 0; }
  /// The elements or the values of the members; none of null, this value itself otherwise.
  const Json* begin() const;
  const Json* end() const { return begin() + size(); }
  Json* begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
  Json* end() { return begin() + size(); }
  /// This array; throws JsonError when it is none.
  const Json& elements() const;

  /// A member; end() when there is none or this is no object.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name) { return const_cast<Json*>(std::as_const(*this).find(name)); }
  bool contains(std::string_view name) const { return find(name) != end(); }
  /// Throws JsonError when there is none.
  const Json& at(std::string_view name) const;
  const Json& at(size_t index) const;
  const Json& operator[](std::string_view name) const { return at(name); }
  const Json& operator[](size_t index) const { return at(index); }
  Json& operator[](size_t index) { return const_cast<Json&>(at(index)); }
  /// Adds the member when there is none. Null becomes an object.
  Json& operator[](std::string_view name);
  /// Without effect when there is no such member.
  void erase(std::string_view name);
  /// Sets all members of `object`.
  void update(const Json& object);

  /// Null becomes an array.
  void push_back(Json value) { emplace_back(std::move(value)); }
  Json& emplace_back(Json value);
  Json& emplace_back() { return emplace_back(Json()); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return (*this)[size() - 1]; }

  struct Item {
    const std::string& name;
    const Json& value;
  };
  class Items {
   public:
    class Iterator {
     public:
      Iterator(const std::string* name, const Json* value) : name_(name), value_(value) {}
      Item operator*() const { return {*name_, *value_}; }
      Iterator& operator++() { return ++name_, ++value_, *this; }
      bool operator==(const Iterator&) const = default;

     private:
      const std::string* name_;
      const Json* value_;
    };
    Items(const std::string* names, const Json& object) : names_(names), object_(object) {}
    Iterator begin() const { return {names_, object_.begin()}; }
    Iterator end() const { return {names_ + object_.size(), object_.end()}; }

   private:
    const std::string* names_;
    const Json& object_;
  };
  /// The members with their names; throws JsonError when this is neither an object nor null.
  Items items() const;

  /// Numbers are equal by their value. The order of members counts.
  friend bool operator==(const Json& a, const Json& b);

 private:
  friend class JsonMaker;
  struct Tree;
  struct DropTree {
    void operator()(Tree* tree) const;
  };

  void set(bool flag);
  void set(int64_t number);
  void set(uint64_t number);
  Json(Kind kind);
  Tree& become(Kind kind);
  static Json taken(const Json& item);
  const Json* optional_member(std::string_view name) const;

  Kind kind_ = Kind::kNull;
  union {
    bool flag;
    int64_t integer;
    uint64_t natural;  // above those of int64_t
    double real;
  } number_ = {.integer = 0};
  mutable std::unique_ptr<Tree, DropTree>
      tree_;  // mutable: a list in braces gives away the contents of its items
};

/// On one line.
std::ostream& operator<<(std::ostream& out, const Json& json);

/// Appends `text` as a JSON string.
void append_json(std::string& to, std::string_view text, JsonUtf8 wrong);

/// "line 3, column 5: " of an offset in a text.
std::string json_place(std::string_view text, size_t at);

}  // namespace baton
