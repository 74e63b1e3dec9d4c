#include "baton/target/target.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton {

namespace {

struct KindInfo {
  std::string name;
  int device_type;
  std::vector<std::string> keys;
  std::vector<std::pair<std::string, Target::Value>> defaults = {};
  bool registered = false;  ///< by set_target_kind()
};

struct KindFamily {
  std::string option;
  std::function<std::string(const std::string& value)> resolve;
};

std::map<std::string, KindFamily, std::less<>>& families() {
  static std::map<std::string, KindFamily, std::less<>> families;
  return families;
}

std::deque<KindInfo>& kinds() {
  // The default architecture is the one TVM uses when it finds no device.
  static std::deque<KindInfo> kinds = {
      // a deque keeps pointers to elements valid
      {"llvm", 1, {"cpu"}},
      {"c", 1, {"cpu"}},
      {"stackvm", 1, {"cpu"}},
      {"hybrid", 1, {"hybrid", "cpu"}},
      {"ccompiler", 1, {}},
      {"cuda",
       2,
       {"cuda", "gpu"},
       {{"thread_warp_size", int64_t{32}},
        {"max_num_threads", int64_t{1024}},
        {"arch", std::string("sm_20")}}},
      {"nvptx", 2, {"cuda", "gpu"}},
      {"opencl", 4, {"opencl", "gpu"}},
      {"vulkan", 7, {"vulkan", "gpu"}},
      {"metal", 8, {"metal", "gpu"}},
      {"rocm", 10, {"rocm", "gpu"}},
      {"ext_dev", 12, {}},
      {"webgpu", 15, {"webgpu", "gpu"}},
      {"hexagon", 16, {"hexagon"}},
  };
  return kinds;
}

/// Kinds and what stands for them; under kinds_mutex().
std::vector<std::pair<std::string, std::string>>& aliases() {
  static std::vector<std::pair<std::string, std::string>> pairs;
  return pairs;
}

std::mutex& kinds_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The kind that `word`, a family, stands for with these options; `word` itself where it is no family.
std::string resolved_kind(const std::string& word, std::string_view options) {
  KindFamily family;
  {
    const std::lock_guard lock(kinds_mutex());
    const auto at = families().find(word);
    if (at == families().end()) return word;
    family = at->second;
  }
  std::istringstream words{std::string(options)};
  const std::string option = "-" + family.option + "=";
  std::string value;
  for (std::string each; words >> each;)
    if (each.starts_with(option)) value = each.substr(option.size());
  return family.resolve(value);
}

/// The family that a target was asked for by: "sim" of kind "sim_npu" with -sheet; else its kind.
std::string family_of(const Target& target) {
  const std::lock_guard lock(kinds_mutex());
  for (const auto& [name, family] : families())
    for (const auto& [option, value] : target.attrs)
      if (option == family.option && target.kind.starts_with(name + "_")) return name;
  return target.kind;
}

/// Options of every kind of target. Many of TVM's mean nothing here.
constexpr std::string_view kCommonOptions[] = {"device",
                                               "model",
                                               "libs",
                                               "tag",
                                               "host",
                                               "keys",
                                               "from_device",
                                               "system-lib",
                                               "runtime",
                                               "link-params",
                                               "executor",
                                               "interface-api",
                                               "unpacked-api",
                                               "target_device_type",
                                               "workspace-byte-alignment",
                                               "constants-byte-alignment"};

/// Options of the kinds that Baton makes code for.
constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {"llvm", "mcpu"},
    {"llvm", "mattr"},
    {"llvm", "mtriple"},
    {"llvm", "target"},
    {"llvm", "march"},
    {"llvm", "mabi"},
    {"llvm", "mfloat-abi"},
    {"llvm", "num-cores"},
    {"llvm", "opt-level"},
    {"llvm", "cl-opt"},
    {"llvm", "jit"},
    {"llvm", "vector-width"},
    {"llvm", "fast-math"},
    {"llvm", "fast-math-nnan"},
    {"llvm", "fast-math-ninf"},
    {"llvm", "fast-math-nsz"},
    {"llvm", "fast-math-arcp"},
    {"llvm", "fast-math-contract"},
    {"llvm", "fast-math-reassoc"},
    {"cuda", "arch"},
    {"cuda", "mcpu"},
    {"cuda", "max_num_threads"},
    {"cuda", "thread_warp_size"},
    {"cuda", "max_threads_per_block"},
    {"cuda", "max_shared_memory_per_block"},
    {"cuda", "registers_per_block"},
    {"cuda", "l2_cache_size_bytes"},
    {"opencl", "max_num_threads"},
    {"opencl", "thread_warp_size"},
    {"opencl", "max_threads_per_block"},
    {"opencl", "max_shared_memory_per_block"},
    {"opencl", "max_function_args"},
    {"opencl", "image_base_address_alignment"},
    {"opencl", "texture_spatial_limit"},
    {"opencl", "texture_depth_limit"},
};

const KindInfo* find_kind(std::string_view name) {
  const std::lock_guard lock(kinds_mutex());
  for (const KindInfo& kind : kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

std::vector<std::string> kind_names() {
  const std::lock_guard lock(kinds_mutex());
  std::vector<std::string> names;
  for (const KindInfo& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::optional<int64_t> integer(std::string_view text, int base = 10) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string joined(const std::vector<std::string>& parts, const char* quote, const char* between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += quote + part + quote;
  }
  return text;
}

/// Throws UsageError for an option that targets of that kind do not have; those of other backends may have
/// any. `asked`: the kind or family as it was written.
void check_option(const std::string& kind, const std::string& asked, const std::string& name,
                  std::string_view all) {
  std::vector<std::string> known;
  for (const auto& [of, option] : kOptions)
    if (of == kind) known.emplace_back(option);
  {
    const std::lock_guard lock(kinds_mutex());
    if (const auto family = families().find(asked); family != families().end())
      known.push_back(family->second.option);
  }
  if (known.empty()) return;
  const size_t own = known.size();
  known.insert(known.end(), std::begin(kCommonOptions), std::end(kCommonOptions));
  if (std::ranges::count(known, name)) return;
  const std::string near = did_you_mean(name, known);
  known.resize(own);
  throw UsageError(
      "target \"" + std::string(all) + "\": " + asked + " has no option -" + name +
      (near.empty() ? "; it has -" + joined(known, "", ", -") : "; did you mean -" + near + "?"));
}

void set(Target& target, const std::string& name, Target::Value value) {
  for (auto& [at, old] : target.attrs) {
    if (at != name) continue;
    old = std::move(value);
    return;
  }
  target.attrs.emplace_back(name, std::move(value));
}

// Parses `Target(id=?, kind='llvm', keys={'cpu'}, attrs={'mcpu': "skylake"}, host=Target(...))`.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  TargetRef target(int depth = 0) {
    auto made = std::make_shared<Target>();
    if (depth > 8 || !accept("Target(")) return {};
    while (!accept(")")) {
      const std::string field = until("=");
      if (!accept("=")) return {};
      if (field == "id")
        until(",)");
      else if (field == "kind")
        made->kind = quoted();
      else if (field == "keys" && accept("{")) {
        while (!accept("}")) {
          made->keys.push_back(quoted());
          accept(",");
          if (bad_) return {};
        }
      } else if (field == "attrs" && accept("{")) {
        while (!accept("}")) {
          const std::string name = quoted();
          if (!accept(":")) return {};
          made->attrs.emplace_back(name, value());
          accept(",");
          if (bad_) return {};
        }
      } else if (field == "host") {
        made->host = target(depth + 1);
        if (!made->host) return {};
      } else {
        return {};
      }
      accept(",");
      if (bad_) return {};
    }
    return bad_ || !find_kind(made->kind) ? TargetRef() : made;
  }
  bool at_end() {
    blanks();
    return text_.empty();
  }

 private:
  void blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0]))) text_.remove_prefix(1);
  }
  bool accept(std::string_view token) {
    blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::string until(const char* ends) {
    blanks();
    const size_t end = text_.find_first_of(ends);
    if (end == std::string_view::npos) bad_ = true;
    const std::string word(text_.substr(0, end));
    text_.remove_prefix(bad_ ? text_.size() : end);
    return word;
  }
  std::string quoted() {
    blanks();
    const char quote = text_.empty() ? ' ' : text_[0];
    const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      bad_ = true;
      return "";
    }
    const std::string word(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return word;
  }
  Target::Value value() {
    blanks();
    if (!text_.empty() && (text_[0] == '"' || text_[0] == '\'')) return quoted();
    const auto number = integer(until(",}"), 16);
    if (!number) bad_ = true;
    return number.value_or(0);
  }

  std::string_view text_;
  bool bad_ = false;
};

/// "-arch=sm_80 -mcpu=skylake", sorted.
std::string options_text(std::vector<std::pair<std::string, Target::Value>> attrs) {
  std::sort(attrs.begin(), attrs.end());
  std::vector<std::string> words;
  for (const auto& [name, value] : attrs) {
    const auto* number = std::get_if<int64_t>(&value);
    words.push_back("-" + name + "=" + (number ? std::to_string(*number) : std::get<std::string>(value)));
  }
  return joined(words, "", " ");
}

}  // namespace

TargetRef Target::parse(std::string_view options) {
  std::istringstream words{std::string(options)};
  std::string word;
  words >> word;
  if (const std::string other = aliased_kind(word); other != word)
    return parse(other);  // without its options
  const std::string asked = word;
  word = resolved_kind(word, options);
  const KindInfo* kind = find_kind(word);
  if (!kind) {
    const std::string near = did_you_mean(word, kind_names());
    throw UsageError("there is no target \"" + word + "\"" +
                     (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  }
  auto target = std::make_shared<Target>(Target{word, kind->keys, kind->defaults, {}});
  while (words >> word) {
    const size_t equal = word.find('=');
    if (word[0] != '-' || word.size() < 2)
      throw UsageError("target \"" + std::string(options) + "\": \"" + word +
                       "\" is no option; write -name=value");
    const std::string name = word.substr(1, equal == std::string::npos ? equal : equal - 1);
    const std::string value = equal == std::string::npos ? "1" : word.substr(equal + 1);
    check_option(kind->name, asked, name, options);
    if (name == "keys") {
      target->keys = split(value, ',');
      continue;
    }
    if (const auto number = integer(value))
      set(*target, name, *number);
    else
      set(*target, name, value);
  }
  return target;
}

TargetRef Target::from_text(std::string_view text) {
  Reader reader(text);
  const TargetRef target = reader.target();
  if (!target || !reader.at_end()) return {};
  const std::string other = aliased_kind(target->kind);
  return other == target->kind ? target : with_host(parse(other), target->host);
}

int Target::device_type() const {
  const KindInfo* info = find_kind(kind);
  const std::lock_guard lock(kinds_mutex());
  return info ? info->device_type : 1;
}

std::string Target::options() const {
  return kind + " -keys=" + joined(keys, "", ",") + " " + options_text(attrs);
}

std::string Target::asked() const {
  const KindInfo* info = find_kind(kind);
  auto chosen = attrs;
  if (info)
    std::erase_if(chosen, [&](const auto& each) { return std::ranges::count(info->defaults, each) > 0; });
  return chosen.empty() ? kind : family_of(*this) + " " + options_text(std::move(chosen));
}

std::string Target::text() const {
  std::string text = "Target(id=?, kind='" + kind + "', keys={" + joined(keys, "'", ", ") + "}";
  std::string fields;
  for (const auto& [name, value] : attrs) {
    std::ostringstream out;
    if (const auto* number = std::get_if<int64_t>(&value))
      out << std::hex << *number;
    else
      out << '"' << std::get<std::string>(value) << '"';
    fields += (fields.empty() ? "'" : ", '") + name + "': " + out.str();
  }
  if (!fields.empty()) text += ", attrs={" + fields + "}";
  if (host) text += ", host=" + host->text();
  return text + ")";
}

bool Target::operator==(const Target& other) const {
  return kind == other.kind && keys == other.keys && attrs == other.attrs && same_target(host, other.host);
}

void set_target_kind(const std::string& name, int device_type) {
  const std::lock_guard lock(kinds_mutex());
  for (KindInfo& kind : kinds()) {
    if (kind.name != name) continue;
    if (kind.registered) kind.device_type = device_type;
    return;
  }
  kinds().push_back({name, device_type, {name}, {}, true});
}

void set_target_family(const std::string& name, const std::string& option,
                       std::function<std::string(const std::string& value)> resolve) {
  const std::lock_guard lock(kinds_mutex());
  families()[name] = {option, std::move(resolve)};
}

void set_device_aliases(std::string_view pairs) {
  const auto kind_of = [&](std::string name) {
    if (name == "cpu") name = "llvm";
    if (name == "gpu") name = "cuda";
    if (find_kind(name)) return name;
    const std::string near = did_you_mean(name, kind_names());
    throw UsageError("device alias \"" + std::string(pairs) + "\": there is no kind of device \"" + name +
                     "\"" + (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  };
  std::vector<std::pair<std::string, std::string>> found;
  if (!pairs.empty()) {
    for (const std::string& pair : split(pairs, ',')) {
      const std::vector<std::string> names = split(pair, ':');
      if (names.size() != 2)
        throw UsageError("device alias \"" + std::string(pairs) + "\": \"" + pair +
                         "\" is no pair of kinds; write for example cuda:opencl");
      found.emplace_back(kind_of(names[0]), kind_of(names[1]));
      if (found.back().first == "llvm")
        throw UsageError("device alias \"" + std::string(pairs) +
                         "\": nothing stands for the processor, which is always there");
    }
  }
  const std::lock_guard lock(kinds_mutex());
  aliases() = std::move(found);
}

std::string aliased_kind(const std::string& kind) {
  const std::lock_guard lock(kinds_mutex());
  for (const auto& [from, to] : aliases())
    if (from == kind) return to;
  return kind;
}

int aliased_device_type(int device_type) {
  std::string to;
  {
    const std::lock_guard lock(kinds_mutex());
    for (const auto& [from, other] : aliases())
      for (const KindInfo& kind : kinds())
        if (kind.name == from && kind.device_type == device_type) to = other;
  }
  const KindInfo* other = find_kind(to);
  return other ? other->device_type : device_type;
}

bool same_target(const TargetRef& a, const TargetRef& b) { return a == b || (a && b && *a == *b); }

TargetRef with_host(const TargetRef& target, TargetRef host) {
  auto made = std::make_shared<Target>(*target);
  made->host = std::move(host);
  return made;
}

}  // namespace baton
