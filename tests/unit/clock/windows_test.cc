// Windows of what the system counted: which samples they mark.
#include "baton/clock/windows.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

/// A machine of two processors by hand: what it counts grows as the test says.
class Windows : public testing::Test {
 protected:
  void passes(double seconds, double others, double throttled_s = 0) {
    now_.cpu->at_s += seconds;
    now_.cpu->own_s += seconds;
    now_.cpu->all_s += seconds * (1 + others);
    now_.throttled_s += throttled_s;
  }
  /// A window of so many samples.
  void window(size_t samples, double seconds, double others, double throttled_s = 0) {
    windows_.resume();
    marks_.resize(marks_.size() + samples);
    passes(seconds, others, throttled_s);
    windows_.pause();
  }
  std::string marks() const {
    std::string text;
    for (const bool disturbed : marks_) text += disturbed ? 'd' : '.';
    return text;
  }

  SystemReading now_{CpuUse{0, 0, 0, 2}, 0};
  DisturbanceWindows windows_{[this] { return now_; }};
  std::vector<bool> marks_;
};

TEST_F(Windows, MarkTheSamplesTakenInThem) {
  marks_.resize(2);  // before it is tracked
  windows_.track(marks_);
  window(2, 0.3, 0);
  window(3, 0.3, 1.4);
  EXPECT_TRUE(windows_.last_disturbed());
  window(1, 0.3, 0);
  EXPECT_EQ(marks(), "....ddd.");
  EXPECT_FALSE(windows_.last_disturbed());
  EXPECT_FALSE(windows_.always_disturbed());
  EXPECT_NEAR(windows_.sum().seconds, 0.9, 1e-9);
}

TEST_F(Windows, WhatIsTooShortIsJudgedWithTheNext) {
  windows_.track(marks_);
  window(1, 0.1, 2);
  EXPECT_EQ(marks(), ".") << "not judged yet";
  window(1, 0.2, 0);
  EXPECT_EQ(marks(), "dd") << "0.67 of 2 processors";
  window(1, 0.15, 0);
  windows_.finish();
  EXPECT_EQ(marks(), "dd.") << "long enough at the end";
}

TEST_F(Windows, AShortEndIsTakenForTheWindowBeforeIt) {
  windows_.track(marks_);
  window(1, 0.3, 1.4);
  window(1, 0.05, 0);
  EXPECT_EQ(marks(), "d.");
  windows_.finish();
  EXPECT_EQ(marks(), "dd");
  EXPECT_TRUE(windows_.always_disturbed());
}

TEST_F(Windows, AnyHoldByTheQuotaCounts) {
  windows_.track(marks_);
  window(1, 0.05, 0, 0.02);
  EXPECT_EQ(marks(), "d");
}

TEST_F(Windows, PausesDoNotCount) {
  windows_.track(marks_);
  window(1, 0.3, 0);
  passes(5, 2);  // while the core is waited for
  window(1, 0.3, 0);
  EXPECT_EQ(marks(), "..");
  EXPECT_NEAR(windows_.sum().seconds, 0.6, 1e-9);
}

TEST_F(Windows, ASeriesBeginsAgain) {
  windows_.track(marks_);
  window(4, 0.3, 0);
  marks_.clear();
  windows_.restart(marks_);
  window(2, 0.3, 1.4);
  EXPECT_EQ(marks(), "dd");
}

}  // namespace
}  // namespace baton
