#include "baton/support/base/files.h"

#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "changed_setting.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

size_t files_in(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

TEST(Files, ReadWhole) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("test").ok());
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{100'000}}) {
    std::string text(bytes, 'x');
    if (bytes > 0) text.back() = '\0';
    ASSERT_TRUE(folder.write("file", text).ok());
    const Result<std::string> read = read_file(folder.path("file"));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, text);
    EXPECT_EQ(*read_file(folder.path("file"), 4096), text.substr(0, 4096));
  }
}

TEST(Files, ReadWhatHasNoSizeBeforehand) {
  const Result<std::string> cpus = read_file("/proc/cpuinfo");
  ASSERT_TRUE(cpus.ok());
  EXPECT_GT(cpus->size(), 100u);
}

TEST(Files, ReadFailsAndSaysWhy) {
  EXPECT_EQ(read_file("/nowhere/at/all").status().message, "No such file or directory");
  EXPECT_EQ(read_file("/tmp").status().message, "Is a directory");
}

TEST(Files, ReplaceLeavesOneFileThatOthersMayRead) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("test").ok());
  const std::string path = folder.path("a");
  ASSERT_TRUE(replace_file(path, {"one ", "two"}).ok());
  ASSERT_TRUE(replace_file(path, {"three"}).ok());
  EXPECT_EQ(*read_file(path), "three");
  EXPECT_EQ(files_in(folder.path("")), 1u);
  struct stat about;
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_NE(about.st_mode & S_IRUSR, 0u);
  EXPECT_EQ(about.st_mode & S_IXUSR, 0u);
}

TEST(Files, FailedReplaceLeavesNothingBehind) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.create("test").ok());
  fs::create_directory(folder.path("taken"));
  EXPECT_EQ(replace_file(folder.path("taken"), {"x"}).message, "Is a directory");
  EXPECT_EQ(replace_file(folder.path("no/such"), {"x"}).message, "No such file or directory");
  EXPECT_EQ(files_in(folder.path("")), 1u);
}

TEST(Files, FolderIsRemovedWithWhatIsInIt) {
  std::string path;
  {
    TemporaryFolder folder;
    ASSERT_TRUE(folder.create("test").ok());
    path = folder.path("");
    EXPECT_NE(path.find("/baton-test-" + folder.suffix()), std::string::npos);
    fs::create_directories(folder.path("a/b"));
    ASSERT_TRUE(folder.write("a/b/file", "x").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Files, FolderThatCannotBeMade) {
  const ChangedSetting changed(&Environment::tmpdir, "/nowhere");
  TemporaryFolder folder;
  const Status status = folder.create("test");
  EXPECT_EQ(status.message, "cannot create a folder in `/nowhere`: No such file or directory");
}

}  // namespace
}  // namespace baton
