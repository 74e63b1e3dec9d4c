#include "baton/support/subprocess.h"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace baton {
namespace {

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Subprocess, AnswersLineByLine) {
  Child child;
  ASSERT_TRUE(child.start({"sh", "-c", "echo ready; while read line; do echo \"<$line>\"; done"}).ok());
  EXPECT_EQ(child.read_line(), "ready");
  child.write_line("one");
  EXPECT_EQ(child.read_line(), "<one>");
  child.write_line("two words");
  EXPECT_EQ(child.read_line(), "<two words>");
}

TEST(Subprocess, EndOfAnswers) {
  Child child;
  ASSERT_TRUE(child.start({"sh", "-c", "echo; printf last"}).ok());
  EXPECT_EQ(child.read_line(), "");
  EXPECT_EQ(child.read_line(), "last");
  EXPECT_EQ(child.read_line(), std::nullopt);
}

// Peers of `baton bench` that could not be started left two pipes open, one of them in use.
TEST(Subprocess, FailedStartLeavesNothingOpen) {
  const size_t before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    Child child;
    EXPECT_EQ(child.start({"/nowhere/program"}).message, "No such file or directory");
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Subprocess, NoDescriptorsLeftForTheSecondPipe) {
  const size_t before = open_descriptors();
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  // The limit is on numbers, which are given from the lowest free one on: room for one pipe, not for two.
  int next[3];
  for (int& descriptor : next) descriptor = open("/dev/null", O_RDONLY);
  for (const int descriptor : next) close(descriptor);
  const rlimit tight{static_cast<rlim_t>(next[2]), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  Child child;
  const Status status = child.start({"true"});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(status.message, "no pipe: Too many open files");
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Subprocess, ChildIsWaitedFor) {
  const size_t before = open_descriptors();
  {
    Child child;
    ASSERT_TRUE(child.start({"cat"}).ok());
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace baton
