// What a runner says that cannot be true.
#include "baton/campaign/result_checks.h"

#include <cmath>

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;

// A dense layer of 2 million operations and 0.5 MB, on a processor of 200 GFLOP/s: 10 us at its peak.
class ResultChecks : public testing::Test {
 protected:
  void SetUp() override {
    DevicePeaks& peaks = sheet_.peaks.emplace();
    peaks.gflops = peaks.cache_gbytes_per_s = 200;
    peaks.gbytes_per_s = 20;
    peaks.cache_bytes = 1 << 20;
    PlanNode node;
    node.kind = PlanNode::Kind::kKernel;
    node.name = "dense";
    plan_.nodes.push_back(node);
    plan_.entries.emplace_back();
    job_.id = result_.id = "job";
    job_.protocol.alone = true;
    result_.rows.emplace_back();
    result_.rows[0].node = "dense";
    result_.rows[0].samples_us = samples_around(12);
  }

  static std::vector<double> samples_around(double us) {
    std::vector<double> samples;
    for (int i = 0; i < 30; ++i) samples.push_back(us * (1 + 0.001 * (i % 7)));
    return samples;
  }

  Measurement row() const {
    Measurement row;
    row.work.brief = "dense 64x128";
    row.work.flops = 2e6;
    row.work.bytes = 5e5;
    row.device = sheet_;
    row.samples_us = result_.rows[0].samples_us;
    row.disturbed = result_.rows[0].disturbed;
    row.median_us = row.samples_us.empty() ? 0 : row.samples_us[3];
    return row;
  }

  ResultDoubt doubt() const {
    const Measurement rows[] = {row()};
    return doubt_of(result_, rows, {&job_, &plan_, elapsed_s_, slowness_});
  }

  DeviceSheet sheet_;
  Plan plan_;
  Job job_;
  JobResult result_;
  double elapsed_s_ = 0.2, slowness_ = 1;
};

TEST_F(ResultChecks, BelieveWhatCanBe) { EXPECT_EQ(doubt().why, ""); }

TEST_F(ResultChecks, ZerosAreNoTimes) {
  result_.rows[0].samples_us.assign(30, 0);
  EXPECT_EQ(doubt().why, "dense 64x128: a sample of 0 us");
  EXPECT_TRUE(doubt().is_certain);
  result_.rows[0].samples_us = samples_around(12);
  result_.rows[0].samples_us[4] = 0;
  EXPECT_TRUE(doubt()) << "not even one of them";
  result_.rows[0].disturbed = {4};
  EXPECT_FALSE(doubt()) << "unless it does not count";
}

TEST_F(ResultChecks, ConstantsAreReadByNoClock) {
  result_.rows[0].samples_us.assign(30, 112.5);
  EXPECT_EQ(doubt().why, "dense 64x128: all 30 samples are 112.5 us, which no clock reads");
  EXPECT_TRUE(doubt().is_certain);
  result_.rows[0].samples_us.assign(30, 12.5);
  EXPECT_FALSE(doubt()) << "a clock of large steps may";
}

TEST_F(ResultChecks, NoKernelIsTenTimesFasterThanItsDevice) {
  result_.rows[0].samples_us = samples_around(0.5);
  EXPECT_THAT(
      doubt().why,
      HasSubstr("for 2 million operations and 0.5 MB, which take 1 us at ten times its device's rates"));
  EXPECT_TRUE(doubt().is_certain);
  result_.rows[0].samples_us = samples_around(2.1);  // by Winograd's algorithm
  EXPECT_FALSE(doubt());
}

TEST_F(ResultChecks, SamplesDoNotTakeLongerThanTheJob) {
  result_.rows[0].samples_us = samples_around(1e300);
  EXPECT_THAT(doubt().why, HasSubstr("e+295 s, and the job took 0.2 s"));
  EXPECT_TRUE(doubt().is_certain);
  result_.rows[0].samples_us = samples_around(120);
  result_.rows[0].calls_per_sample = 300;  // of 12 us they were 0.1 s
  EXPECT_THAT(doubt().why, HasSubstr("its samples sum up to 1.08 s, and the job took 0.2 s"));
}

TEST_F(ResultChecks, WhatIsSlowNeedsASecondLook) {
  result_.rows[0].samples_us = samples_around(800);
  EXPECT_THAT(doubt().why, HasSubstr("23 times what its operations and bytes take"));
  EXPECT_FALSE(doubt().is_certain);
  slowness_ = 3;  // so is the reference kernel
  EXPECT_FALSE(doubt());
  JobResult again = result_;
  EXPECT_TRUE(agree(result_, again));
  again.rows[0].samples_us = samples_around(12);
  EXPECT_FALSE(agree(result_, again));
  again.rows[0].node = "another";
  EXPECT_FALSE(agree(result_, again));
}

TEST_F(ResultChecks, EachNodeHasARow) {
  plan_.nodes.push_back(plan_.nodes[0]);
  plan_.nodes[1].name = "softmax";
  EXPECT_EQ(doubt().why, "rows of 1 of its 2 nodes are missing: `softmax`");
  EXPECT_TRUE(doubt().is_certain);
  plan_.nodes.pop_back();
  result_.rows.push_back(result_.rows[0]);
  EXPECT_EQ(doubt().why, "there are two rows of `dense`, hot");
  result_.rows.pop_back();
  job_.protocol.alone = false;
  EXPECT_EQ(doubt().why, "there is no row of the whole program, hot");
}

TEST_F(ResultChecks, AWholeRunTakesWhatItsNodesDo) {
  const auto doubt_of_whole = [&](double us) {
    Measurement whole = row();
    whole.work.kind = WorkKind::kModel;
    whole.median_us = us;
    const Measurement rows[] = {whole, row()};
    return doubt_of(result_, rows, {&job_, &plan_, elapsed_s_, slowness_});
  };
  EXPECT_FALSE(doubt_of_whole(15));
  EXPECT_EQ(doubt_of_whole(150).why, "the whole program takes 150 us, and its nodes take 12.04 us");
  EXPECT_FALSE(doubt_of_whole(150).is_certain);
  EXPECT_TRUE(doubt_of_whole(5));
}

TEST_F(ResultChecks, SimulatedTimesAreExact) {
  Measurement simulated = row();
  simulated.samples_us.assign(30, 0.5);
  simulated.median_us = 0.5;
  simulated.simulated = "npu";
  const Measurement rows[] = {simulated};
  EXPECT_FALSE(doubt_of(result_, rows, {&job_, &plan_, elapsed_s_, slowness_}));
}

TEST_F(ResultChecks, TheReferenceKernelTellsAnotherDevice) {
  Measurement reference = row();
  reference.work.kind = WorkKind::kReference;
  EXPECT_EQ(slowness_of(reference), 1);
  EXPECT_EQ(why_other_device(reference), "");
  reference.median_us = 105;
  EXPECT_NEAR(slowness_of(reference), 3, 0.01);
  EXPECT_EQ(why_other_device(reference), "") << "slow is not wrong";
  reference.median_us = 420;
  EXPECT_EQ(why_other_device(reference), "420 us are 12 times what the sheet of its device lets expect");
}

TEST_F(ResultChecks, AMachineIsOneOfThoseThatGreeted) {
  KnownMachines machines;
  machines.add({{"m0", sheet_, {}}, {"m1", sheet_, {}}});
  result_.machine = "m0";
  result_.device = sheet_;
  result_.device.peaks.reset();  // are no part of which device it is
  EXPECT_EQ(machines.why_not(job_, result_), "");
  job_.machine = "m1";
  EXPECT_EQ(machines.why_not(job_, result_), "it says that it is of m0, and the job was for m1");
  job_.machine.clear();
  result_.machine = "m2";
  EXPECT_EQ(machines.why_not(job_, result_), "it says that it is of m2, which is no machine of these");
  result_.machine = "m1";
  result_.device.name = "another";
  EXPECT_THAT(machines.why_not(job_, result_),
              HasSubstr("with another device than that machine greeted with"));
  machines.add({{"", sheet_, {}}});
  EXPECT_EQ(machines.why_not(job_, result_), "") << "a worker that has no names";
}

}  // namespace
}  // namespace baton
