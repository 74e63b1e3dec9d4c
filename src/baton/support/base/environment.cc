#include "baton/support/base/environment.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace baton {
namespace {

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Current {
  std::mutex mutex;
  std::shared_ptr<const Environment> settings = std::make_shared<const Environment>(Environment::read());
};

/// Never destroyed: background threads read settings while the process ends.
Current& current() {
  static Current* const current = new Current;
  return *current;
}

}  // namespace

Environment Environment::read() {
  Environment read;
#define BATON_SETTING(member, name, kind, otherwise, meaning) read.member = value_of(name);
#define BATON_FOREIGN_SETTING(name, kind, otherwise, meaning)
#include "baton/support/base/environment.def"
#undef BATON_SETTING
#undef BATON_FOREIGN_SETTING
  return read;
}

std::shared_ptr<const Environment> environment() {
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  return now.settings;
}

void set_environment(Environment settings) {
  auto next = std::make_shared<const Environment>(std::move(settings));
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  now.settings.swap(next);
}

std::string temporary_folder() {
  const std::string chosen = environment()->tmpdir;
  return chosen.empty() ? "/tmp" : chosen;
}

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace baton
