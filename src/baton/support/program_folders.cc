#include "baton/support/program_folders.h"

#include <dlfcn.h>

namespace baton {
namespace {

constexpr int kLevels = 3;  // build/PRESET/python is the deepest below a source tree

void add(std::vector<std::filesystem::path>& folders, std::filesystem::path folder) {
  for (int up = 0; up <= kLevels && folder.has_relative_path(); ++up, folder = folder.parent_path())
    folders.push_back(folder);
}

}  // namespace

std::vector<std::filesystem::path> program_folders() {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  add(folders, std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path());
  if (Dl_info about{}; dladdr(reinterpret_cast<const void*>(&program_folders), &about) && about.dli_fname)
    add(folders, std::filesystem::absolute(about.dli_fname, ignored).parent_path());
  return folders;
}

}  // namespace baton
