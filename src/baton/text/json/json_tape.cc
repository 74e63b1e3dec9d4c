#include "baton/text/json/json_tape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "baton/support/base/json.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::text {

namespace {

constexpr size_t kFewKeys = 24;  // up to this size two loops are faster than sorting

}  // namespace

// What the scanner calls. Returning false stops it.
struct JsonTape::Builder final : JsonConsumer {
  explicit Builder(JsonTape& to) : tape(to) {}

  JsonTape& tape;
  std::vector<At> open = {};
  std::string error = {};

  bool add(Kind kind, uint64_t bits, size_t size = 0) {
    if (tape.values_.size() >= std::numeric_limits<uint32_t>::max() ||
        size > std::numeric_limits<uint32_t>::max()) {
      error = "the JSON has more than 4294967295 values, or a string of more than as many bytes";
      return false;
    }
    if (!open.empty()) ++tape.values_[open.back()].size;
    tape.values_.push_back({kind, static_cast<uint32_t>(size), bits});
    return true;
  }
  bool begin(Kind kind) {
    if (!add(kind, 0)) return false;
    open.push_back(static_cast<At>(tape.values_.size() - 1));
    return true;
  }
  bool end() {
    tape.values_[open.back()].bits = tape.values_.size();
    open.pop_back();
    return true;
  }

  bool take(const JsonToken& token) override {
    using Token = JsonKind;
    switch (token.kind) {
      case Token::kNull:
        return add(Kind::kNull, 0);
      case Token::kFalse:
      case Token::kTrue:
        return add(Kind::kBool, token.kind == Token::kTrue);
      case Token::kInteger:
        return add(Kind::kInt, static_cast<uint64_t>(token.integer));
      case Token::kReal:
        return real(token.text);
      case Token::kString: {
        const size_t start = tape.strings_.size();
        tape.strings_ += token.text;
        return add(Kind::kString, start, token.text.size());
      }
      case Token::kName: {
        const auto [at, fresh] =
            tape.keys_.try_emplace(std::string(token.text), static_cast<uint32_t>(tape.key_names_.size()));
        if (fresh) tape.key_names_.push_back(&at->first);
        return add(Kind::kKey, at->second);
      }
      case Token::kArray:
        return begin(Kind::kArray);
      case Token::kObject:
        return begin(Kind::kObject);
      case Token::kEnd:
        return end();
    }
    return false;
  }

  bool real(std::string_view text) {
    const double value = json_real(text);
    const bool integer = text.find_first_of(".eE") == std::string_view::npos;
    if (!integer && std::isfinite(value)) return add(Kind::kReal, std::bit_cast<uint64_t>(value));
    error = "the number " + std::string(text.substr(0, 40)) +
            (integer ? " does not fit into 64 bits with a sign" : " is too large");
    return false;
  }
};

JsonTape::JsonTape(std::string_view text, const std::vector<std::string_view>& keys) {
  Builder builder(*this);
  for (const std::string_view key : keys) {
    const auto at = keys_.try_emplace(std::string(key), static_cast<uint32_t>(key_names_.size())).first;
    key_names_.push_back(&at->first);
  }
  if (const std::optional<JsonMistake> mistake = scan_json(text, builder))
    throw Error("this is no JSON: " +
                (builder.error.empty() ? json_place(text, mistake->at) + mistake->what : builder.error));
}

std::string JsonTape::shown(At at) const {
  switch (kind(at)) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return values_[at].bits ? "true" : "false";
    case Kind::kInt:
      return std::to_string(static_cast<int64_t>(values_[at].bits));
    case Kind::kReal:
      return Json(real(at)).dump();
    case Kind::kString:
      return Json(string(at)).dump().substr(0, 40);
    case Kind::kKey:
      return "the key \"" + key_text(key(at)).substr(0, 40) + "\"";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return {};
}

std::optional<uint32_t> JsonTape::key_of(std::string_view name) const {
  const auto at = keys_.find(std::string(name));
  if (at == keys_.end()) return std::nullopt;
  return at->second;
}

void JsonTape::need(At at, Kind kind) const {
  if (is(at, kind)) return;
  const char* const names[] = {"null",     "true or false", "an integer", "a number",
                               "a string", "a key",         "an array",   "an object"};
  throw Error(std::string("expected ") + names[static_cast<size_t>(kind)] + ", found " + shown(at));
}

bool JsonTape::boolean(At at) const {
  need(at, Kind::kBool);
  return values_[at].bits != 0;
}
int64_t JsonTape::integer(At at) const {
  need(at, Kind::kInt);
  return static_cast<int64_t>(values_[at].bits);
}
int64_t JsonTape::integer(At at, int64_t low, int64_t high) const {
  const int64_t value = integer(at);
  if (value < low || value > high)
    throw Error("expected an integer from " + std::to_string(low) + " to " + std::to_string(high) +
                ", found " + std::to_string(value));
  return value;
}
double JsonTape::real(At at) const {
  if (is(at, Kind::kInt)) return static_cast<double>(integer(at));
  need(at, Kind::kReal);
  return std::bit_cast<double>(values_[at].bits);
}
std::string_view JsonTape::string(At at) const {
  need(at, Kind::kString);
  return std::string_view(strings_).substr(values_[at].bits, values_[at].size);
}

void JsonTape::check_unique(At object) const {
  auto twice = [&](uint32_t key) {
    throw Error("the key \"" + key_text(key).substr(0, 40) + "\" is given twice");
  };
  if (size(object) / 2 <= kFewKeys) {
    for (At at = object + 1; at < next(object); at = next(at + 1))
      for (At before = object + 1; before < at; before = next(before + 1))
        if (key(before) == key(at)) twice(key(at));
    return;
  }
  std::vector<uint32_t> all;
  for (At at = object + 1; at < next(object); at = next(at + 1)) all.push_back(key(at));
  std::sort(all.begin(), all.end());
  if (const auto at = std::adjacent_find(all.begin(), all.end()); at != all.end()) twice(*at);
}

std::optional<JsonTape::At> JsonTape::find(At object, uint32_t wanted) const {
  need(object, Kind::kObject);
  for (At at = object + 1; at < next(object); at = next(at + 1))
    if (key(at) == wanted) return at + 1;
  return std::nullopt;
}
JsonTape::At JsonTape::member(At object, uint32_t wanted) const {
  const std::optional<At> at = find(object, wanted);
  if (!at) throw Error("`" + key_text(wanted) + "` is missing");
  return *at;
}

}  // namespace baton::text
