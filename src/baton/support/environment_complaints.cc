#include "baton/support/environment_complaints.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/base/environment.h"
#include "baton/support/diagnostic.h"
#include "baton/support/subprocess.h"

extern char** environ;

namespace baton {
namespace {

enum class Means { kText, kThreads, kMegabytes, kClock, kProgram, kFile, kFolders };

struct Variable {
  std::string_view name;
  Means means = Means::kText;
};

constexpr Variable kVariables[] = {
#define BATON_SETTING(member, name, kind, otherwise, meaning) {name, Means::kind},
#define BATON_FOREIGN_SETTING(name, kind, otherwise, meaning) {name, Means::kind},
#include "baton/support/base/environment.def"
#undef BATON_SETTING
#undef BATON_FOREIGN_SETTING
};

bool is_ours(std::string_view name) { return name.starts_with("BATON_") || name.starts_with("TVM_"); }

constexpr int64_t kMostThreads = 256;  // as --threads

/// Whether `value` is a whole number from 0 to `most`.
bool is_number(const std::string& value, int64_t most) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failed == std::errc() && end == value.data() + value.size() && number >= 0 && number <= most;
}

bool is_there(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0;
}

/// What is wrong with the value; empty: nothing.
std::string wrong_with(Means means, const std::string& value) {
  switch (means) {
    case Means::kText:
      return "";
    case Means::kThreads:  // 0 is the default, as for --threads
      return is_number(value, kMostThreads)
                 ? ""
                 : "is no number of threads from 1 to " + std::to_string(kMostThreads);
    case Means::kMegabytes:
      return is_number(value, (1 << 30) - 1) ? "" : "is no number of megabytes";
    case Means::kClock:
      return value == "system" ? "" : "is no clock: `system` is the only one that can be asked for";
    case Means::kProgram:
      return find_program(value).empty() ? "is no program that can be run" : "";
    case Means::kFile:
      return is_there(value) ? "" : "is not there";
    case Means::kFolders:
      return std::ranges::all_of(listed(value), is_there) ? "" : "names a folder that is not there";
  }
  return "";
}

bool is_error(Means means) {
  return means == Means::kThreads || means == Means::kMegabytes || means == Means::kClock;
}

}  // namespace

std::vector<EnvironmentComplaint> environment_complaints() {
  std::vector<EnvironmentComplaint> complaints;
  std::vector<std::string> names;
  for (const Variable& variable : kVariables)
    if (is_ours(variable.name)) names.emplace_back(variable.name);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!is_ours(text)) continue;
    const size_t equals = std::min(text.find('='), text.size());
    const std::string name(text.substr(0, equals));
    const std::string value(text.substr(std::min(equals + 1, text.size())));
    const auto* known = std::ranges::find(kVariables, std::string_view(name), &Variable::name);
    if (known == std::end(kVariables)) {
      const std::string near = name.starts_with("BATON_") ? did_you_mean(name, names) : "";
      if (!near.empty())
        complaints.push_back(
            {"nothing reads the environment variable " + name + "; did you mean " + near + "?"});
    } else if (!value.empty()) {
      if (const std::string why = wrong_with(known->means, value); !why.empty())
        complaints.push_back(
            {"the environment variable " + name + "=" + value + " " + why, is_error(known->means)});
    }
  }
  std::ranges::sort(complaints, {}, &EnvironmentComplaint::text);
  return complaints;
}

}  // namespace baton
