// Changed files, as the fuzzer of tests/fuzz makes them, are modules or errors that name the file.
// Deterministic.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/onnx/import.h"
#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"

#include "frontend/onnx/mutator.h"
#include "test_paths.h"

namespace baton::onnx {
namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& each : std::filesystem::directory_iterator(std::string(source_dir()) + "/" + folder))
    paths.push_back(each.path().string());
  std::ranges::sort(paths);
  return paths;
}
std::vector<std::string> seed_paths() { return files_of("tests/fuzz/corpus/onnx"); }

/// What the importer says; of other exceptions that, which no test expects; empty: it is a module.
std::string error_of(const std::string& bytes) {
  try {
    import_bytes(bytes, "changed.onnx", {}, host_context());
    return {};
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not caught: ") + error.what();
  }
}

TEST(OnnxMutation, SeedsAreModulesAndAreWrittenAsTheyWere) {
  initialize();
  for (const std::string& path : seed_paths()) {
    const std::string seed = *read_file(path);
    EXPECT_EQ(error_of(seed), "") << path;
    EXPECT_EQ(mutation::written(mutation::parsed(seed, mutation::Kind::kModel)), seed) << path;
  }
}

// Each of them ended the process, or read memory that was not there.
TEST(OnnxMutation, FilesThatFuzzersFoundAreModulesOrErrorsThatNameTheFile) {
  initialize();
  for (const std::string& path : files_of("tests/fuzz/found/onnx"))
    if (const std::string error = error_of(*read_file(path)); !error.empty()) {
      EXPECT_THAT(error, ::testing::HasSubstr("changed.onnx")) << path;
    }
}

TEST(OnnxMutation, ChangedFilesAreModulesOrErrorsThatNameTheFile) {
  initialize();
  constexpr int kRounds = 25, kChanges = 4;
  int modules = 0, errors = 0;
  uint32_t number = 0;
  for (const std::string& path : seed_paths())
    for (int round = 0; round < kRounds; ++round) {
      std::string bytes = *read_file(path);
      for (int change = 0; change < kChanges; ++change) {
        bytes = mutation::Mutator(++number).changed(bytes);
        const std::string error = error_of(bytes);
        ++(error.empty() ? modules : errors);
        if (error.empty()) continue;
        EXPECT_THAT(error, ::testing::HasSubstr("changed.onnx")) << path << " seed " << number;
      }
    }
  EXPECT_GT(modules, 100);
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace baton::onnx
