#include "baton/cli/write_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "baton/support/error.h"

namespace baton::cli {

namespace fs = std::filesystem;

void check_can_write(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) throw Error("the name of the file to write is empty");
  if (fs::is_directory(path, ignored)) throw Error(path + " is a folder: name a file in it");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw Error(path + " cannot be written: there is no folder " + folder.string() + "; make it first");
}

void write_file(const std::string& path, const std::string& text) {
  check_can_write(path);
  const std::string temporary = path + ".part";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code failed;
  if (!file) failed.assign(errno ? errno : EIO, std::generic_category());
  else fs::rename(temporary, path, failed);
  if (!failed) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  throw Error(path + " cannot be written: " + failed.message());
}

}  // namespace baton::cli
