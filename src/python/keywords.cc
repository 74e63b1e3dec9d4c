#include "python/keywords.h"

#include <algorithm>

#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton::python {

namespace {

[[noreturn]] void wrong_type(const Flag& flag, const char* expected, nb::handle value) {
  throw nb::type_error((flag.keyword() + ": " + expected + " is expected, not " +
                        nb::cast<std::string>(value.type().attr("__name__")))
                           .c_str());
}

void take(const Flag& flag, nb::handle value, bool& to) {
  if (PyUnicode_Check(value.ptr())) wrong_type(flag, "True or False", value);
  const int is_true = PyObject_IsTrue(value.ptr());
  if (is_true < 0) throw nb::python_error();
  to = is_true == 1;
}
void take(const Flag& flag, nb::handle value, int64_t& to) {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    wrong_type(flag, "an int", value);
  }
  to = nb::cast<int64_t>(number);
}
void take(const Flag& flag, nb::handle value, int& to) {
  int64_t wide = 0;
  take(flag, value, wide);
  // What does not fit is out of every range.
  to = static_cast<int>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX));
}
void take(const Flag& flag, nb::handle value, double& to) {
  to = PyFloat_AsDouble(value.ptr());
  if (to != -1 || !PyErr_Occurred()) return;
  PyErr_Clear();
  wrong_type(flag, "a number", value);
}
void take(const Flag& flag, nb::handle value, std::string& to) {
  const nb::object text = nb::steal(PyOS_FSPath(value.ptr()));  // a text as it is, too
  if (!text.is_valid() || !PyUnicode_Check(text.ptr())) {
    PyErr_Clear();
    wrong_type(flag, "a text or a path", value);
  }
  to = nb::cast<std::string>(text);
}
template <class T>
void take(const Flag& flag, nb::handle value, std::optional<T>& to) {
  take(flag, value, to.emplace());
}
template <class T>
void take(const Flag& flag, nb::handle value, std::vector<T>& to) {
  if (PyUnicode_Check(value.ptr())) {
    if (flag.kind != Flag::Kind::kList) wrong_type(flag, "a list", value);
    if (const std::string wrong = flag.set_items(nb::cast<std::string>(value)); !wrong.empty())
      throw UsageError(flag.keyword() + ": " + wrong);
    return;
  }
  const nb::object items = nb::steal(PyObject_GetIter(value.ptr()));
  if (!items.is_valid()) {
    PyErr_Clear();
    wrong_type(flag, "a list", value);
  }
  to.clear();
  for (nb::handle item : nb::iter(items)) take(flag, item, to.emplace_back());
}

std::string limit_text(const Flag& flag, double limit) {
  return flag.is_whole() ? std::to_string(static_cast<int>(limit)) : std::to_string(limit);
}

/// As the command line says it; empty: it is within the limits.
std::string out_of_range(const Flag& flag, nb::handle given) {
  const auto check = [&](double number) -> std::string {
    if (number >= flag.limits->first && number <= flag.limits->second) return "";
    return flag.keyword() + ": Value " + nb::cast<std::string>(nb::str(given)) + " not in range " +
           limit_text(flag, flag.limits->first) + " to " + limit_text(flag, flag.limits->second);
  };
  return std::visit(
      [&](auto* value) -> std::string {
        if constexpr (requires { check(*value); }) return check(static_cast<double>(*value));
        if constexpr (requires { check(**value); }) return check(static_cast<double>(**value));
        return "";
      },
      flag.value);
}

void check(const Flag& flag, nb::handle given) {
  if (flag.limits)
    if (const std::string wrong = out_of_range(flag, given); !wrong.empty()) throw UsageError(wrong);
  if (flag.members.empty()) return;
  const std::string value = nb::cast<std::string>(nb::str(given));
  if (std::ranges::find(flag.members, value) != flag.members.end()) return;
  std::string all;
  for (const std::string& each : flag.members) all += (all.empty() ? "" : ",") + each;
  throw UsageError(flag.keyword() + ": " + value + " not in {" + all + "}");
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
  for (const Flag& flag : flags.all()) names.emplace_back("--" + flag.long_name(), flag.keyword());
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
          take(*flag, value, *to);
          if (*to != before) check(*flag, value);  // a default out of range means that there is none
        },
        flag->value);
  }
}

}  // namespace baton::python
