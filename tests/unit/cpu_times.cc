// Each test's processor time as a property of the report, for the limit of tools/house/checks.py: time by the
// clock would fail tests on a busy machine.
#include <cstdio>

#include <sys/resource.h>

#include "gtest/gtest.h"

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Seconds of processor time of this process and of the children that it has waited for.
double processor_s() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

class CpuTimes final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*info*/) override { begin_ = processor_s(); }
  void OnTestEnd(const testing::TestInfo& /*info*/) override {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", processor_s() - begin_);
    testing::Test::RecordProperty("cpu_s", text);
  }
  double begin_ = 0;
};

[[maybe_unused]] const bool is_listening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new CpuTimes);
  return true;
}();

}  // namespace
