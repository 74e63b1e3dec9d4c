#include "baton/support/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>

#include "baton/support/base/json.h"

namespace baton {

/// The contents of a text, an array or an object, whose names are in the order of their values.
struct Json::Tree {
  std::string text;
  std::vector<std::string> names;
  std::vector<Json> values;
};

void Json::DropTree::operator()(Tree* tree) const { delete tree; }

namespace {

constexpr size_t kShown = 40;  // bytes of a value in an error

std::string shown(const Json& value) {
  std::string text = value.dump(-1, JsonUtf8::kReplace);
  if (text.size() <= kShown) return text;
  size_t end = kShown;
  while ((text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

[[noreturn]] void expected(const std::string& what, const Json& found) {
  throw JsonError("expected " + what + ", found " + shown(found));
}

}  // namespace

Json::Json(Kind kind) : kind_(kind), tree_(new Tree) {}
Json::Json(std::string_view text) : Json(Kind::kString) { tree_->text = text; }
Json::Json(const Json& other) : kind_(other.kind_), number_(other.number_) {
  if (other.tree_) tree_.reset(new Tree(*other.tree_));
}
Json::Json(Json&& other) noexcept
    : kind_(std::exchange(other.kind_, Kind::kNull)), number_(other.number_), tree_(std::move(other.tree_)) {}
Json& Json::operator=(Json other) noexcept {
  kind_ = other.kind_;
  number_ = other.number_;
  tree_.swap(other.tree_);
  return *this;
}

Json::Json(std::initializer_list<Json> items) : Json(Kind::kArray) {
  const auto is_member = [](const Json& item) {
    return item.is_array() && item.size() == 2 && item[0].is_string();
  };
  bool object = true;
  for (const Json& item : items) object = object && is_member(item);
  if (object) kind_ = Kind::kObject;
  for (const Json& item : items) {
    if (!object)
      push_back(taken(item));
    else if (!contains(item[0].tree_->text))
      (*this)[item[0].tree_->text] = taken(item[1]);
  }
}

Json Json::taken(const Json& item) {
  Json own;
  own.kind_ = item.kind_;
  own.number_ = item.number_;
  own.tree_ = std::move(item.tree_);
  return own;
}

Json Json::array(std::initializer_list<Json> items) {
  Json list(Kind::kArray);
  for (const Json& item : items) list.push_back(taken(item));
  return list;
}
Json Json::object() { return Json(Kind::kObject); }

void Json::set(bool flag) {
  kind_ = Kind::kBool;
  number_.flag = flag;
}
void Json::set(int64_t number) {
  kind_ = Kind::kInteger;
  number_.integer = number;
}
void Json::set(uint64_t number) {
  if (std::in_range<int64_t>(number)) return set(static_cast<int64_t>(number));
  kind_ = Kind::kNatural;
  number_.natural = number;
}

Json::Tree& Json::become(Kind kind) {
  if (is_null()) *this = Json(kind);
  if (kind_ != kind) expected(kind == Kind::kArray ? "an array" : "an object", *this);
  return *tree_;
}

size_t Json::size() const {
  if (is_array() || is_object()) return tree_->values.size();
  return is_null() || is_discarded() ? 0 : 1;
}
const Json* Json::begin() const { return is_array() || is_object() ? tree_->values.data() : this; }

const Json& Json::elements() const {
  if (!is_array()) expected("an array", *this);
  return *this;
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return end();
  const std::vector<std::string>& names = tree_->names;
  size_t at = 0;
  while (at < names.size() && names[at] != name) ++at;
  return begin() + at;
}
const Json& Json::at(std::string_view name) const {
  if (const Json* member = optional_member(name)) return *member;
  throw JsonError("there is no `" + std::string(name) + "` in " + shown(*this));
}
const Json* Json::optional_member(std::string_view name) const {
  if (!is_object()) expected("an object with `" + std::string(name) + "`", *this);
  const Json* member = find(name);
  return member == end() ? nullptr : member;
}
const Json& Json::at(size_t index) const {
  if (index < elements().size()) return tree_->values[index];
  throw JsonError("there is no element " + std::to_string(index) + " in " + shown(*this));
}

Json& Json::operator[](std::string_view name) {
  Tree& tree = become(Kind::kObject);
  Json* member = find(name);
  if (member != end()) return *member;
  tree.names.emplace_back(name);
  return tree.values.emplace_back();
}
void Json::erase(std::string_view name) {
  const auto at = find(name) - begin();
  if (at == end() - begin()) return;
  tree_->names.erase(tree_->names.begin() + at);
  tree_->values.erase(tree_->values.begin() + at);
}
void Json::update(const Json& object) {
  become(Kind::kObject);
  for (const auto& [name, value] : object.items()) (*this)[name] = value;
}
Json& Json::emplace_back(Json value) { return become(Kind::kArray).values.emplace_back(std::move(value)); }
Json::Items Json::items() const {
  static const Json kNone = object();
  if (is_null()) return kNone.items();
  if (!is_object()) expected("an object", *this);
  return {tree_->names.data(), *this};
}

bool operator==(const Json& a, const Json& b) {
  using enum Json::Kind;
  if (a.is_number() && b.is_number()) {
    if (a.kind_ == kReal || b.kind_ == kReal) return a.get<double>() == b.get<double>();
    return a.kind_ == b.kind_ && (a.kind_ == kInteger ? a.number_.integer == b.number_.integer
                                                      : a.number_.natural == b.number_.natural);
  }
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == kBool) return a.number_.flag == b.number_.flag;
  if (!a.tree_) return a.kind_ == kNull;
  return a.tree_->text == b.tree_->text && a.tree_->names == b.tree_->names &&
         a.tree_->values == b.tree_->values;
}

// ---- Conversions

namespace {

template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
constexpr bool kIsMap = false;
template <class T>
constexpr bool kIsMap<std::map<std::string, T>> = true;

template <class T>
[[noreturn]] void out_of_range(const Json& json) {
  expected("a number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
               std::to_string(std::numeric_limits<T>::max()),
           json);
}

/// As doubles the greatest integers of 64 bits are one too large, and so is what is one more.
template <class T>
bool fits(double real) {
  using Limits = std::numeric_limits<T>;
  return std::trunc(real) >= static_cast<double>(Limits::min()) &&
         real < static_cast<double>(Limits::max()) + 1;
}

}  // namespace

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, Json>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    if (!is_boolean()) expected("true or false", *this);
    return number_.flag;
  } else if constexpr (std::integral<T>) {
    if (!is_number()) expected("a number", *this);
    if (kind_ == Kind::kInteger && std::in_range<T>(number_.integer)) return static_cast<T>(number_.integer);
    if (kind_ == Kind::kNatural && std::in_range<T>(number_.natural)) return static_cast<T>(number_.natural);
    if (kind_ == Kind::kReal && fits<T>(number_.real)) return static_cast<T>(number_.real);
    out_of_range<T>(*this);
  } else if constexpr (std::floating_point<T>) {
    if (!is_number()) expected("a number", *this);
    return static_cast<T>(kind_ == Kind::kInteger   ? static_cast<double>(number_.integer)
                          : kind_ == Kind::kNatural ? static_cast<double>(number_.natural)
                                                    : number_.real);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!is_string()) expected("a text", *this);
    return tree_->text;
  } else if constexpr (kIsVector<T>) {
    T list;
    list.reserve(elements().size());
    for (const Json& each : *this) list.push_back(each.get<typename T::value_type>());
    return list;
  } else {
    static_assert(kIsMap<T>);
    if (!is_object()) expected("an object", *this);
    T map;
    for (const Item& member : items()) map[member.name] = member.value.get<typename T::mapped_type>();
    return map;
  }
}

template <class T>
Json::Json(const std::vector<T>& list) : Json(Kind::kArray) {
  tree_->values.reserve(list.size());
  for (const T& each : list) tree_->values.emplace_back(each);
}

template <class T>
Json::Json(const std::map<std::string, T>& object) : Json(Kind::kObject) {
  for (const auto& [name, value] : object) {
    tree_->names.push_back(name);
    tree_->values.emplace_back(value);
  }
}

template bool Json::get() const;
template int Json::get() const;
template uint32_t Json::get() const;
template int64_t Json::get() const;
template uint64_t Json::get() const;
template float Json::get() const;
template double Json::get() const;
template std::string Json::get() const;
template Json Json::get() const;

/// Both ways, and lists of it.
#define BATON_JSON_LIST(...)                            \
  template Json::Json(const std::vector<__VA_ARGS__>&); \
  template std::vector<__VA_ARGS__> Json::get() const;
#define BATON_JSON_MAP(...)                                       \
  template Json::Json(const std::map<std::string, __VA_ARGS__>&); \
  template std::map<std::string, __VA_ARGS__> Json::get() const;
BATON_JSON_LIST(int)
BATON_JSON_LIST(uint32_t)
BATON_JSON_LIST(int64_t)
BATON_JSON_LIST(uint64_t)
BATON_JSON_LIST(float)
BATON_JSON_LIST(double)
BATON_JSON_LIST(std::string)
BATON_JSON_LIST(Json)
BATON_JSON_LIST(std::vector<std::string>)
BATON_JSON_LIST(std::vector<uint32_t>)
BATON_JSON_LIST(std::vector<int64_t>)
BATON_JSON_LIST(std::vector<double>)
BATON_JSON_MAP(int)
BATON_JSON_MAP(int64_t)
BATON_JSON_MAP(double)
BATON_JSON_MAP(std::string)
BATON_JSON_MAP(std::vector<double>)
#undef BATON_JSON_LIST
#undef BATON_JSON_MAP

// ---- Reading

/// Makes a value of what the scanner finds.
class JsonMaker final : public JsonConsumer {
 public:
  bool take(const JsonToken& token) override {
    using enum JsonKind;
    if (token.kind == kReal) return add_real(token.text);
    if ((token.kind == kArray || token.kind == kObject) && open_.size() == Json::kDeepest) {
      why_ = "nested more than " + std::to_string(Json::kDeepest) + " deep";
      return false;
    }
    if (token.kind == kName) name_ = token.text;
    if (token.kind == kNull) add(nullptr);
    if (token.kind == kFalse || token.kind == kTrue) add(token.kind == kTrue);
    if (token.kind == kInteger) add(token.integer);
    if (token.kind == kString) add(token.text);
    if (token.kind == kArray) open_.push_back(&add(Json::array()));
    if (token.kind == kObject) open_.push_back(&add(Json::object()));
    if (token.kind == kEnd) open_.pop_back();
    return true;
  }

  Json root;

  const std::string& why() const { return why_; }

 private:
  // What is open does not move: its container gets no other value before it is closed.
  Json& add(Json value) {
    if (open_.empty()) return root = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    return (*open_.back())[name_] = std::move(value);
  }

  /// An integer beyond int64, or a real; what overflows that too is no value.
  bool add_real(std::string_view text) {
    uint64_t natural = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), natural);
    if (error == std::errc() && end == text.data() + text.size()) return add(natural), true;
    const double value = json_real(text);
    why_ = std::isfinite(value) ? "" : "the number " + std::string(text.substr(0, kShown)) + " is too large";
    add(value);
    return why_.empty();
  }

  std::vector<Json*> open_;
  std::string name_, why_;
};

std::string json_place(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  size_t line = 1, begin = 0;
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] == '\n') {
      ++line;
      begin = i + 1;
    }
  return "line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1) + ": ";
}

Json Json::parse(std::string_view text) {
  JsonMaker maker;
  const std::optional<JsonMistake> mistake = scan_json(text, maker);
  if (mistake)
    throw JsonError(json_place(text, mistake->at) + (mistake->what.empty() ? maker.why() : mistake->what));
  return std::move(maker.root);
}
Json Json::parse_or_discard(std::string_view text) {
  JsonMaker maker;
  if (!scan_json(text, maker)) return std::move(maker.root);
  Json none;
  none.kind_ = Kind::kDiscarded;
  return none;
}
bool Json::accept(std::string_view text) { return !parse_or_discard(text).is_discarded(); }

// ---- Writing

void append_json(std::string& to, std::string_view text, JsonUtf8 wrong) {
  static constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kWritten = "\"\\bfnrt";
  static constexpr char kHex[] = "0123456789abcdef";
  to += '"';
  for (size_t at = 0; at < text.size();) {
    const auto plain = [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; };
    size_t end = at;
    while (end < text.size() && plain(text[end])) ++end;
    to += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    const char c = text[at];
    if (const size_t which = kShort.find(c); which != std::string_view::npos) {
      to += {'\\', kWritten[which]};
      ++at;
    } else if (static_cast<unsigned char>(c) < ' ') {
      to += {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      ++at;
    } else {
      size_t bad = 0;
      const size_t size = utf8_size(text.substr(at), &bad);
      if (size == 0 && wrong == JsonUtf8::kRefuse)
        throw JsonError("a text that is not UTF-8 cannot be JSON, from its byte " + std::to_string(at) +
                        " on");
      to += size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(at, size);
      at += size == 0 ? bad : size;
    }
  }
  to += '"';
}

namespace {

/// Shortest digits that read back the same; as 0.0001 to 999999999999999.0, else with an exponent of two
/// digits.
void append_real(std::string& to, double value) {
  if (!std::isfinite(value)) {
    to += "null";
    return;
  }
  std::array<char, 40> written;
  const auto end =
      std::to_chars(written.data(), written.data() + written.size(), value, std::chars_format::scientific)
          .ptr;
  const std::string_view text(written.data(), static_cast<size_t>(end - written.data()));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + 1 + (text[e + 1] == '+'), end, exponent);
  if (text[0] == '-') to += '-';
  std::string digits;
  for (const char c : text.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 15) {
    to += digits[0];
    if (count > 1) to.append(".").append(digits, 1);
    to += text.substr(e);
  } else if (exponent < 0) {
    to.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    if (count < exponent + 2) digits.append(static_cast<size_t>(exponent + 2 - count), '0');
    to.append(digits, 0, static_cast<size_t>(exponent) + 1).append(".");
    to.append(digits, static_cast<size_t>(exponent) + 1);
  }
}

struct Writer {
  std::string& to;
  int indent;
  JsonUtf8 wrong;

  void line(int depth) {
    if (indent < 0) return;
    to += '\n';
    to.append(static_cast<size_t>(depth * indent), ' ');
  }

  void scalar(const Json& value) {
    using enum Json::Kind;
    if (value.kind() == kNull) to += "null";
    if (value.kind() == kDiscarded) to += "<discarded>";
    if (value.kind() == kBool) to += value.get<bool>() ? "true" : "false";
    if (value.kind() == kInteger) to += std::to_string(value.get<int64_t>());
    if (value.kind() == kNatural) to += std::to_string(value.get<uint64_t>());
    if (value.kind() == kReal) append_real(to, value.get<double>());
    if (value.kind() == kString) append_json(to, value.get<std::string>(), wrong);
  }

  // Recursive: what is parsed is at most Json::kDeepest deep.
  void write(const Json& value, int depth) {
    if (!value.is_array() && !value.is_object()) return scalar(value);
    to += value.is_array() ? '[' : '{';
    const auto item = [&](const Json& each, const std::string* name) {
      if (&each != value.begin()) to += ',';
      line(depth + 1);
      if (name) append_json(to, *name, wrong);
      if (name) to += indent < 0 ? ":" : ": ";
      write(each, depth + 1);
    };
    if (value.is_array())
      for (const Json& each : value) item(each, nullptr);
    else
      for (const auto& [name, each] : value.items()) item(each, &name);
    if (!value.empty()) line(depth);
    to += value.is_array() ? ']' : '}';
  }
};

}  // namespace

std::string Json::dump(int indent, JsonUtf8 wrong) const {
  std::string text;
  Writer{text, indent, wrong}.write(*this, 0);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

}  // namespace baton
