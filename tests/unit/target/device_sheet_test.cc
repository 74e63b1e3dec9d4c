#include "baton/target/device_sheet.h"

#include <gmock/gmock.h>
#include <sched.h>

namespace baton {
namespace {

TEST(DeviceSheet, HostIsSoundAndAlwaysTheSame) {
  const DeviceSheet& host = DeviceSheet::host();
  EXPECT_EQ(&host, &DeviceSheet::host());
  EXPECT_THAT(host.code_target, testing::HasSubstr("-linux"));
  EXPECT_GE(host.float_lanes, 4);
  EXPECT_GE(host.vector_registers, 16);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(host.cores, CPU_COUNT(&set));
  EXPECT_GE(host.l1_bytes, 8 << 10);
  EXPECT_GE(host.l2_bytes, host.l1_bytes);
}

TEST(DeviceSheet, WideVectorsComeWithTheirFeature) {
  const DeviceSheet& host = DeviceSheet::host();
  EXPECT_EQ(host.float_lanes == 16, host.code_target.find("avx512_skylake") != std::string::npos);
  if (host.float_lanes >= 8) {
    EXPECT_THAT(host.code_target, testing::HasSubstr("-avx"));
  }
}

DeviceSheet measured_sheet() {
  DeviceSheet sheet;
  sheet.name = "a processor: of two halves";
  sheet.code_target = "x86-64-linux-avx2";
  sheet.float_lanes = 8;
  sheet.memory_bytes = int64_t{1} << 40;
  sheet.peaks = DevicePeaks{3, 88.2, 1.0 / 3, 1e9, 4096, 77.7, 65536, 1700000000};
  sheet.links = {{"mirror 0", 12.5, 8}, {"gpu", 1e-3, 0}};
  return sheet;
}

TEST(DeviceSheet, WhatIsStoredIsReadBack) {
  const DeviceSheet sheet = measured_sheet();
  const std::optional<DeviceSheet> again = DeviceSheet::from_text(sheet.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, sheet);
  EXPECT_EQ(again->hash(), sheet.hash());
  EXPECT_EQ(DeviceSheet::from_text(DeviceSheet::host().text()), DeviceSheet::host());
}

TEST(DeviceSheet, SheetsOfBeforeProcessorsWereRecordedStayWhatTheyWere) {
  DeviceSheet sheet = measured_sheet();
  const std::string text = sheet.text();
  EXPECT_EQ(text.find("\nprocessor: "), std::string::npos);
  const uint64_t code = sheet.code_hash();
  sheet.processor = "AuthenticAMD family 25 model 17 stepping 1";
  EXPECT_NE(sheet.text(), text);
  EXPECT_EQ(sheet.code_hash(), code) << "kernels stay valid";
  EXPECT_EQ(DeviceSheet::from_text(sheet.text()), sheet);
}

#if defined(__x86_64__)
TEST(DeviceSheet, TheHostSaysWhichProcessorItIs) {
  EXPECT_THAT(DeviceSheet::host().processor,
              testing::ContainsRegex("[A-Za-z]+ family [0-9]+ model [0-9]+ stepping [0-9]+"));
}
#endif

TEST(DeviceSheet, TextThatIsNoneIsRefused) {
  const std::string text = measured_sheet().text();
  EXPECT_FALSE(DeviceSheet::from_text(""));
  EXPECT_FALSE(DeviceSheet::from_text("nonsense\n"));
  EXPECT_FALSE(DeviceSheet::from_text(text.substr(0, text.size() - 1))) << "cut off";
  EXPECT_FALSE(DeviceSheet::from_text(text + "wheels: 4\n")) << "a fact that is not known";
  EXPECT_FALSE(DeviceSheet::from_text(text + "cores: many\n"));
  EXPECT_FALSE(DeviceSheet::from_text(text + "link: gpu\n"));
}

TEST(DeviceSheet, KernelsStayValidWhenPeaksAreMeasured) {
  const DeviceSheet sheet = measured_sheet();
  DeviceSheet other = sheet;
  other.peaks.reset();
  other.links.clear();
  other.name = "the same under another name";
  EXPECT_EQ(other.code_hash(), sheet.code_hash());
  EXPECT_NE(other.hash(), sheet.hash());
  other.vector_registers *= 2;
  EXPECT_NE(other.code_hash(), sheet.code_hash());
}

}  // namespace
}  // namespace baton
