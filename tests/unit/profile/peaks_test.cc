#include "baton/profile/report/peaks.h"

#include <gmock/gmock.h>

#include "baton/profile/measure/peak_loops.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

DeviceSheet measured_at(int64_t now) {
  DeviceSheet sheet;
  sheet.name = "a machine";
  sheet.peaks = DevicePeaks{.gflops = 100,
                            .gbytes_per_s = 10,
                            .cache_gbytes_per_s = 50,
                            .cache_bytes = 1e6,
                            .l3_gbytes_per_s = 25,
                            .l3_program_bytes = 1e7,
                            .measured_s = now};
  return sheet;
}

Roofline roofline_of(double us, double flops, double bytes, const std::string& dtype = "float32",
                     double program_bytes = 2e7) {
  ProfileReport report;
  report.memory.emplace().constants_bytes = program_bytes;
  KernelRow row;
  row.median_us = us;
  row.flops = flops;
  row.bytes = bytes;
  row.roofline.dtype = dtype;
  report.kernels.push_back(row);
  add_peaks(report, measured_at(0));
  return report.kernels[0].roofline;
}

TEST(Peaks, ArithmeticIsTheRoofOfWhatComputesMuch) {
  const Roofline roof = roofline_of(20, 1e6, 1000);  // 10 us of arithmetic
  EXPECT_EQ(roof.bound, "compute");
  EXPECT_DOUBLE_EQ(roof.share, 0.5);
}

TEST(Peaks, WhatFitsIntoTheCacheIsHeldAgainstTheCache) {
  const Roofline cache = roofline_of(40, 1000, 1e6);  // 20 us from the cache, 100 us from memory
  EXPECT_EQ(cache.bound, "cache");
  EXPECT_DOUBLE_EQ(cache.share, 0.5);
  const Roofline memory = roofline_of(250, 1000, 2e6);  // 200 us
  EXPECT_EQ(memory.bound, "memory");
  EXPECT_DOUBLE_EQ(memory.share, 0.8);
}

TEST(Peaks, WhatStaysInL3IsHeldAgainstIt) {
  const Roofline weights = roofline_of(160, 1000, 2e6, "float32", 1e7);  // 80 us from L3, 200 us from memory
  EXPECT_EQ(weights.bound, "L3");
  EXPECT_DOUBLE_EQ(weights.share, 0.5);
  EXPECT_EQ(roofline_of(160, 1000, 1e6, "float32", 1e7).bound, "cache");
  EXPECT_EQ(roofline_of(250, 1000, 2e6, "float32", 1.1e7).bound, "memory") << "other kernels displace it";
}

TEST(Peaks, OtherPrecisionsHaveOtherRoofs) {
  EXPECT_DOUBLE_EQ(roofline_of(20, 1e6, 1000, "float64").share, 1);
  EXPECT_EQ(roofline_of(20, 1e6, 1000, "int8").bound, "cache") << "its arithmetic was not measured";
}

TEST(Peaks, AKernelThatDoesNothingHasNoRoof) {
  EXPECT_EQ(roofline_of(20, 0, 0).bound, "");
  EXPECT_EQ(roofline_of(0, 1e6, 1000).bound, "");
}

TEST(Peaks, KernelsOfOtherDevicesAndCopiesHaveNoRoofOfTheProcessor) {
  ProfileReport report;
  report.memory.emplace();
  report.kernels.resize(4);
  for (KernelRow& row : report.kernels) row.median_us = 20, row.flops = 1e6, row.roofline.dtype = "float32";
  report.kernels[0].device = "cpu";
  report.kernels[1].device = "cuda";
  report.kernels[2].device = "cpu", report.kernels[2].copied_from = "cuda";
  report.kernels[3].device = "sim_npu", report.kernels[3].simulated = "sim_npu";
  add_peaks(report, measured_at(0));
  EXPECT_EQ(report.kernels[0].roofline.bound, "compute");
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(report.kernels[i].roofline.bound, "") << i;
}

TEST(Peaks, EntriesLastADay) {
  const std::string entry = measured_at(1000).text();
  EXPECT_EQ(kept_sheet(entry, 1000 + 24 * 3600), measured_at(1000));
  EXPECT_FALSE(kept_sheet(entry, 1001 + 24 * 3600));
  EXPECT_FALSE(kept_sheet(entry, 999)) << "made in the future: the calendar was set back";
  EXPECT_FALSE(kept_sheet(DeviceSheet().text(), 1000)) << "never measured";
  EXPECT_FALSE(kept_sheet("nonsense", 1000));
}

TEST(Peaks, LoopsDoWhatTheyCount) {
  const PeakLoops loops = peak_loops(DeviceSheet::host().float_lanes);
  EXPECT_GT(loops.flops_per_round, 0);
  // x -> 0.9999 x + 0.0001 leaves 1 where it is: the first chain starts there, and its neighbours come to it.
  EXPECT_NEAR(loops.multiply_add(1'000'000), 12, 0.05);
  alignas(64) static float ones[1024];
  std::fill(std::begin(ones), std::end(ones), 1.0f);
  const float lane = loops.read(ones, 1024);  // the sum of one lane
  EXPECT_EQ(1024 / lane, static_cast<float>(loops.flops_per_round / 24));
}

TEST(Peaks, OfThisMachine) {
  const DevicePeaks found = measure_peaks(DeviceSheet::host(), 1);
  EXPECT_GT(found.gflops, 0.1);
  EXPECT_GT(found.gbytes_per_s, 0.01);
  EXPECT_GT(found.cache_gbytes_per_s, 0.01);
  EXPECT_GT(found.cache_bytes, 0);
}

/// A machine of two processors on which other programs use `others` of them.
SystemSource machine(double others) {
  return [=, seconds = 0.0]() mutable {
    seconds += 1;
    return SystemReading{CpuUse{seconds * (others + 1), seconds, seconds, 2}, 0};
  };
}

TEST(Peaks, AreTakenFromTheCache) {
  test::Folder folder;
  KernelCache cache(folder.path());
  std::string why;
  const auto first = measured_sheet(DeviceSheet::host(), 1, cache, why, machine(0));
  ASSERT_TRUE(first);
  const auto second = measured_sheet(DeviceSheet::host(), 1, cache, why, machine(1.5));
  EXPECT_GT(second->peaks->gflops, 0);
  EXPECT_EQ(second->code_hash(), DeviceSheet::host().code_hash());
  EXPECT_EQ(*first, *second);
}

TEST(Peaks, OfABusyMachineAreNotKnown) {
  test::Folder folder;
  KernelCache cache(folder.path());
  std::string why;
  EXPECT_FALSE(measured_sheet(DeviceSheet::host(), 1, cache, why, machine(1.4)));
  EXPECT_EQ(why, "1.4 of 2 processors busy elsewhere");
}

TEST(Peaks, OfABusyMachineAreSaidAndNotKept) {
  test::Folder folder;
  KernelCache cache(folder.path());
  const RatedSheet busy = rated_sheet(DeviceSheet::host(), 1, cache, 0.3, machine(1.4));
  EXPECT_EQ(busy.busy, "1.4 of 2 processors busy elsewhere");
  ASSERT_TRUE(busy.sheet.peaks);
  EXPECT_GT(busy.sheet.peaks->gflops, 0);
  const RatedSheet quiet = rated_sheet(DeviceSheet::host(), 1, cache, 0.3, machine(0));
  EXPECT_EQ(quiet.busy, "");
  // What is kept is taken, whatever goes on meanwhile.
  const RatedSheet kept = rated_sheet(DeviceSheet::host(), 1, cache, 0.3, machine(1.4));
  EXPECT_EQ(kept.busy, "");
  EXPECT_EQ(kept.sheet, quiet.sheet);
}

}  // namespace
}  // namespace baton
