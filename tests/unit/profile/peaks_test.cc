#include "baton/profile/report/peaks.h"

#include <gmock/gmock.h>

#include "baton/profile/measure/peak_loops.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

MachinePeaks peaks() {
  MachinePeaks peaks{"a machine", 100, 10, 50};
  peaks.cache_bytes = 1e6;
  return peaks;
}

Roofline roofline_of(double us, double flops, double bytes, const std::string& dtype = "float32") {
  ProfileReport report;
  KernelRow row;
  row.median_us = us;
  row.flops = flops;
  row.bytes = bytes;
  row.roofline.dtype = dtype;
  report.kernels.push_back(row);
  add_peaks(report, peaks());
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

TEST(Peaks, OtherPrecisionsHaveOtherRoofs) {
  EXPECT_DOUBLE_EQ(roofline_of(20, 1e6, 1000, "float64").share, 1);
  EXPECT_EQ(roofline_of(20, 1e6, 1000, "int8").bound, "cache") << "its arithmetic was not measured";
}

TEST(Peaks, AKernelThatDoesNothingHasNoRoof) {
  EXPECT_EQ(roofline_of(20, 0, 0).bound, "");
  EXPECT_EQ(roofline_of(0, 1e6, 1000).bound, "");
}

TEST(Peaks, EntriesLastADay) {
  const std::string entry = peaks_entry(peaks(), 1000);
  const auto read = peaks_of_entry(entry, 1000 + 24 * 3600);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "a machine");
  EXPECT_DOUBLE_EQ(read->gflops, 100);
  EXPECT_DOUBLE_EQ(read->cache_bytes, 1e6);
  EXPECT_FALSE(peaks_of_entry(entry, 1001 + 24 * 3600));
  EXPECT_FALSE(peaks_of_entry(entry, 999)) << "made in the future: the calendar was set back";
  EXPECT_FALSE(peaks_of_entry("{}", 1000));
  EXPECT_FALSE(peaks_of_entry("nonsense", 1000));
}

TEST(Peaks, LoopsDoWhatTheyCount) {
  const PeakLoops loops = peak_loops();
  EXPECT_GT(loops.flops_per_round, 0);
  // x -> 0.9999 x + 0.0001 leaves 1 where it is: the first chain starts there, and its neighbours come to it.
  EXPECT_NEAR(loops.multiply_add(1'000'000), 12, 0.05);
  alignas(64) static float ones[1024];
  std::fill(std::begin(ones), std::end(ones), 1.0f);
  const float lane = loops.read(ones, 1024);  // the sum of one lane
  EXPECT_EQ(1024 / lane, static_cast<float>(loops.flops_per_round / 24));
}

TEST(Peaks, OfThisMachine) {
  const MachinePeaks found = measure_peaks(1);
  EXPECT_FALSE(found.name.empty());
  EXPECT_GT(found.gflops, 0.1);
  EXPECT_GT(found.gbytes_per_s, 0.01);
  EXPECT_GT(found.cache_gbytes_per_s, 0.01);
  EXPECT_GT(found.cache_bytes, 0);
}

TEST(Peaks, AreTakenFromTheCache) {
  test::Folder folder;
  KernelCache cache(folder.path());
  const MachinePeaks first = machine_peaks(1, cache);
  const MachinePeaks second = machine_peaks(1, cache);
  EXPECT_GT(second.gflops, 0);
  // Kept only if the machine was quiet, which is not up to this test.
  bool kept = false;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path()))
    kept |= file.path().extension() == ".peaks";
  if (kept) {
    EXPECT_EQ(first.gflops, second.gflops);
  }
}

}  // namespace
}  // namespace baton
