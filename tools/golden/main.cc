// baton-golden [--update | --mutate [--every-pass]] PATH...: compares golden files with what comes out now,
// or tries whether they notice broken origins. A folder means all files below it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>

#include "baton/driver/initialize.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"

#include "case.h"
#include "demo_compiler.h"

namespace {

namespace fs = std::filesystem;
using namespace baton::golden;

constexpr const char* kUsage =
    "usage: baton-golden [--update | --mutate [--every-pass]] PATH...\n"
    "  PATH          a golden file, or a folder: all *.relay files below it\n"
    "  --update      rewrite what stands below `// EXPECT`\n"
    "  --mutate      break the handling of origins in the last pass of each file; every mutant must be "
    "noticed\n"
    "  --every-pass  and every pass that there is must have mutants\n";

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && entry.path().extension() == ".relay")
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// True when the file says what comes out.
bool check(const std::string& path, bool updating) {
  const Case which = read_case(path);
  const Outcome outcome = run(which);
  if (outcome.failed != which.must_fail) {
    std::printf("FAIL %s: %s\n%s", path.c_str(),
                which.must_fail ? "its name begins with fail_, but nothing failed" : "it must not fail",
                outcome.text.c_str());
    return false;
  }
  if (outcome.text == which.expected) return true;
  if (updating) {
    update(which, outcome.text);
    std::printf("updated %s\n", path.c_str());
    return true;
  }
  std::printf("FAIL %s\n%s", path.c_str(), difference(which.expected, outcome.text).c_str());
  return false;
}

// True when every mutant of the file's last pass is noticed.
bool try_mutants(const std::string& path, std::map<std::string, int>& made) {
  const Case which = read_case(path);
  const bool shows_origins =
      which.form == "print" && std::ranges::find(which.flags, "--no-origins") == which.flags.end();
  if (which.passes.empty() || which.must_fail || !shows_origins) return true;
  const Mutants mutants = mutate(which);
  made[mutants.pass] += mutants.made;
  if (mutants.made == 0) std::printf("note: %s makes no mutants\n", path.c_str());
  for (const std::string& survivor : mutants.survivors)
    std::printf("SURVIVED %s: %s\n", path.c_str(), survivor.c_str());
  return mutants.survivors.empty();
}

// Passes that no file breaks.
int count_without_mutants(const std::map<std::string, int>& made) {
  int without = 0;
  for (const std::string& pass : baton::pass_names()) {
    const auto at = made.find(pass);
    if (at != made.end() && at->second > 0) continue;
    std::printf("FAIL %s: no golden file makes mutants of it\n", pass.c_str());
    ++without;
  }
  return without;
}

}  // namespace

int main(int argc, char** argv) {
  bool updating = false, mutating = false, every_pass = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--update") == 0)
      updating = true;
    else if (std::strcmp(argv[i], "--mutate") == 0)
      mutating = true;
    else if (std::strcmp(argv[i], "--every-pass") == 0)
      every_pass = true;
    else
      paths.emplace_back(argv[i]);
  }
  if (paths.empty() || paths[0].starts_with("-")) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  baton::initialize();
  register_demo_compiler();
  int passed = 0, failed = 0;
  std::map<std::string, int> made;  // mutants by pass
  try {
    for (const std::string& path : files_of(paths)) {
      bool good = false;
      try {
        good = mutating ? try_mutants(path, made) : check(path, updating);
      } catch (const std::exception& error) {
        std::printf("FAIL %s: %s\n", path.c_str(), error.what());
      }
      ++(good ? passed : failed);
    }
  } catch (const std::exception& error) {  // a path that is not there
    std::fprintf(stderr, "baton-golden: %s\n", error.what());
    return 1;
  }
  if (mutating) {
    int all = 0;
    for (const auto& [pass, mutants] : made) all += mutants;
    std::printf("%d mutants of %d passes\n", all, static_cast<int>(made.size()));
    if (every_pass) failed += count_without_mutants(made);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
