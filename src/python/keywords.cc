#include "python/keywords.h"

#include <algorithm>

#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton::python {

namespace {

/// What is expected, in the order of Flag::Value.
constexpr const char* kExpected[] = {
    "True or False", "an int",           "a number",        "a text or a path",   "an int",
    "a number",      "a text or a path", "a list of texts", "a list of integers", "a list of integers"};
static_assert(std::size(kExpected) == std::variant_size_v<Flag::Value>);

bool take(nb::handle value, std::string& to) {
  const nb::object text = nb::steal(PyOS_FSPath(value.ptr()));  // a text as it is
  if (!text.is_valid()) PyErr_Clear();
  return text.is_valid() && nb::try_cast(text, to);
}
bool take(nb::handle value, std::vector<std::string>& to) {
  to.clear();
  const nb::object items = nb::steal(PyUnicode_Check(value.ptr()) ? nullptr : PySequence_List(value.ptr()));
  if (!items.is_valid()) return PyErr_Clear(), false;
  return std::ranges::all_of(nb::borrow<nb::list>(items),
                             [&](nb::handle item) { return take(item, to.emplace_back()); });
}
template <class T>
bool take(nb::handle value, T& to) {
  return nb::try_cast(value, to);
}

template <class T>
void set(const Flag& flag, nb::handle value, T& to) {
  if (flag.kind == Flag::Kind::kList && PyUnicode_Check(value.ptr())) {
    if (const std::string wrong = flag.set_items(nb::cast<std::string>(value)); !wrong.empty())
      throw UsageError(flag.keyword() + ": " + wrong);
  } else if (!take(value, to)) {
    throw nb::type_error((flag.keyword() + ": " + kExpected[flag.value.index()] + " is expected, not " +
                          nb::cast<std::string>(value.type().attr("__name__")))
                             .c_str());
  }
}

std::string limit_text(const Flag& flag, double limit) {
  return flag.is_whole() ? std::to_string(static_cast<int>(limit)) : std::to_string(limit);
}

/// Throws, in the words of the command line, for what is not among the values allowed.
void check(const Flag& flag, nb::handle given) {
  const std::string text = nb::cast<std::string>(nb::str(given));
  if (flag.limits) {
    const auto [least, most] = *flag.limits;
    const double number = nb::cast<double>(given);
    if (!(number >= least && number <= most))
      throw UsageError(flag.keyword() + ": Value " + text + " not in range " + limit_text(flag, least) +
                       " to " + limit_text(flag, most));
  }
  if (flag.members.empty() || std::ranges::find(flag.members, text) != flag.members.end()) return;
  std::string all;
  for (const std::string& each : flag.members) all += (all.empty() ? "" : ",") + each;
  throw UsageError(flag.keyword() + ": " + text + " not in {" + all + "}");
}

/// The default as a Python value.
nb::object default_of(const Flag& flag) {
  return std::visit(
      [&](auto* value) -> nb::object {
        if constexpr (std::is_same_v<decltype(value), int*> || std::is_same_v<decltype(value), double*>)
          if (flag.limits && (*value < flag.limits->first || *value > flag.limits->second)) return nb::none();
        if constexpr (requires { value->empty(); })
          if (value->empty()) return nb::none();
        return nb::cast(*value);
      },
      flag.value);
}

}  // namespace

std::string with_keywords(const Flags& flags, std::string text) {
  // The longest first: --target is the beginning of --targets.
  std::vector<std::pair<std::string, std::string>> names;
  for (const Flag& flag : flags.all())
    names.emplace_back("--" + flag.long_name(),
                       flag.keyword() + (flag.kind == Flag::Kind::kNegated ? "=False" : ""));
  std::ranges::sort(names, std::greater(), [](const auto& each) { return each.first.size(); });
  for (const auto& [name, keyword] : names)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + keyword.size()))
      text.replace(at, name.size(), keyword);
  return text;
}

nb::list described(const Flags& flags) {
  nb::list all;
  for (const Flag& flag : flags.all()) {
    if (flag.kind == Flag::Kind::kPositional) continue;
    std::string doc = with_keywords(flags, flag.doc);
    if (flag.kind == Flag::Kind::kNegated) doc = "False: " + doc;
    all.append(nb::make_tuple(flag.keyword(), default_of(flag), doc));
  }
  return all;
}

void set_options(const char* function, const Flags& flags, const nb::dict& given) {
  for (const auto& [key, value] : given) {
    const std::string keyword = nb::cast<std::string>(key);
    const auto flag = std::ranges::find(flags.all(), keyword, &Flag::keyword);
    if (flag == flags.all().end()) {
      std::vector<std::string> names;
      for (const Flag& each : flags.all()) names.push_back(each.keyword());
      const std::string near = did_you_mean(keyword, names);
      throw nb::type_error((std::string(function) + "() got an unexpected keyword argument '" + keyword +
                            "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"))
                               .c_str());
    }
    if (value.is_none()) continue;
    std::visit(
        [&](auto* to) {
          const auto before = *to;
          set(*flag, value, *to);
          if (*to != before) check(*flag, value);  // a default out of range means that there is none
        },
        flag->value);
  }
}

}  // namespace baton::python
