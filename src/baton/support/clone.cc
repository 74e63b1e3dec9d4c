#include "baton/support/clone.h"

#include <map>
#include <mutex>

#include <unistd.h>

#include "baton/support/base/environment.h"
#include "baton/support/subprocess.h"

namespace baton {

std::string clone_folder() {
  const std::string root = environment()->root;
  return !root.empty() && access((root + "/baton").c_str(), R_OK) == 0 ? root : "";
}

bool build_part(const std::string& part) {
  static std::mutex mutex;
  static std::map<std::string, bool> tried;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = tried.try_emplace(part, false);
  const std::string root = clone_folder();
  if (!fresh || root.empty()) return at->second;
  const std::string given = environment()->python;
  const std::string python = find_program(given.empty() ? "python3" : given);
  if (python.empty()) return false;
  return at->second = run_program({python, root + "/baton", "setup", part}) == 0;
}

}  // namespace baton
