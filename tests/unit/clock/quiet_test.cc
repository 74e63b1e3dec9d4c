// Waiting for a quiet machine, on machines that are made up: nobody sleeps.
#include "baton/clock/quiet.h"

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;

/// Two processors; others use `busy[i]` of them in the i-th half second, then the last value for ever.
struct FakeMachine {
  std::vector<double> busy;
  size_t at = 0;
  CpuUse use{100, 10, 1000, 2};

  WaitOptions options() {
    WaitOptions options;
    options.read = [this] { return std::optional(use); };
    options.sleep = [this](double seconds) {
      use.at_s += seconds;
      use.own_s += 0.1 * seconds;
      use.all_s += (busy[std::min(at++, busy.size() - 1)] + 0.1) * seconds;
    };
    return options;
  }
};

TEST(Quiet, OthersAreAllLessOurselves) {
  EXPECT_DOUBLE_EQ(others_busy({10, 5, 100, 4}, {20, 7, 104, 4}), 2);
  EXPECT_DOUBLE_EQ(others_busy({10, 5, 100, 4}, {10, 7, 104, 4}), 0) << "our own time may be counted earlier";
  EXPECT_DOUBLE_EQ(others_busy({10, 5, 100, 4}, {20, 7, 100, 4}), 0);
}

TEST(Quiet, AQuietMachineIsMeasuredAfterTwoSeconds) {
  FakeMachine machine{{0.01}};
  const WaitResult result = wait_until_quiet(machine.options());
  EXPECT_TRUE(result.quiet);
  EXPECT_DOUBLE_EQ(result.waited_s, 2);
  EXPECT_EQ(result.note, "");
}

TEST(Quiet, WaitsUntilOthersAreDone) {
  FakeMachine machine{{1.5, 1.7, 0.01, 0.01, 0.9, 0.02}};
  std::vector<double> seen;
  WaitOptions options = machine.options();
  options.progress = [&](double busy, double) { seen.push_back(busy); };
  const WaitResult result = wait_until_quiet(options);
  EXPECT_TRUE(result.quiet);
  EXPECT_DOUBLE_EQ(result.waited_s, 4.5);
  EXPECT_EQ(result.note, "waited 4 s for other programs, which had kept up to 1.7 of 2 processors busy");
  EXPECT_EQ(seen.size(), 9u);
}

TEST(Quiet, GivesUpAtTheLimitAndSaysSo) {
  FakeMachine machine{{1.5}};
  WaitOptions options = machine.options();
  options.limit_s = 3;
  const WaitResult result = wait_until_quiet(options);
  EXPECT_FALSE(result.quiet);
  EXPECT_EQ(result.note,
            "--wait: others still kept 1.5 of 2 processors busy after 3 s; measured all the same");
}

TEST(Quiet, CanBeInterrupted) {
  FakeMachine machine{{1.5}};
  std::atomic<bool> stop{false};
  WaitOptions options = machine.options();
  options.interrupt = &stop;
  options.progress = [&](double, double) { stop = true; };
  EXPECT_TRUE(wait_until_quiet(options).interrupted);
}

TEST(Quiet, WithoutProcItSaysThatItCannotTell) {
  WaitOptions options;
  options.read = [] { return std::optional<CpuUse>(); };
  EXPECT_THAT(wait_until_quiet(options).note, HasSubstr("no /proc/stat"));
}

TEST(Quiet, ReadsThisMachine) {
  const std::optional<CpuUse> use = cpu_use();
  ASSERT_TRUE(use);
  EXPECT_GE(use->processors, 1);
  EXPECT_GT(use->all_s, 0);
  EXPECT_GT(use->own_s, 0);
}

}  // namespace
}  // namespace baton
