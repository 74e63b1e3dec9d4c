// The arithmetic of inside times on rounds that are made up, so that what must come out is known.
#include "baton/profile/inside_split.h"

#include <gmock/gmock.h>

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

// relu(bias_add-like add(dense-like add)): three blocks over one shape, of three operators.
InsideSubject subject_of(int blocks) {
  InsideSubject subject;
  subject.blocks = kernel_blocks(*test::relu_chain({8, 8}, blocks));
  return subject;
}

// Stages of blocks 0 (two of them) and the last one.
InsideSubject staged() {
  InsideSubject subject = subject_of(3);
  subject.marks = {{1, 0, "pad", "b0_nn_relu__pad", {}}, {2, 2, "relu", "b2_nn_relu__relu", {}}, {3, 0, "conv", "b0_nn_relu__conv", {}}};
  subject.ablated = {{1}, {2}};
  return subject;
}

// 100 us: pad 10, conv 70, the rest 20, of which block 1 costs 6 and block 2 nothing. `drift` scales the clock.
InsideRound round_of(double drift, double twin = 100) {
  InsideRound round;
  round.plain_us = 100 * drift;
  round.twin_us = twin * drift;
  round.marked_us = 110 * drift;
  round.empty_us = 0.1;
  round.site_us = {10 * drift + 0.5, 20 * drift + 1.0, 70 * drift + 0.5};
  round.visits = {5, 10, 5};
  round.ablated_us = {94 * drift, 100.1 * drift};
  return round;
}

std::vector<InsideRound> rounds_of(const std::vector<double>& drifts) {
  std::vector<InsideRound> rounds;
  for (double drift : drifts) rounds.push_back(round_of(drift));
  return rounds;
}

TEST(InsideSplit, StagesInTheOrderOfOperatorsWithAblationBeforeTheRest) {
  const InsideTimes times = split_inside(staged(), rounds_of({1, 1, 1}));
  ASSERT_EQ(times.parts.size(), 5u);
  EXPECT_EQ(times.parts[0].stage, "pad");
  EXPECT_EQ(times.parts[1].stage, "conv");
  EXPECT_THAT(times.parts[1].blocks, ElementsAre(0));
  EXPECT_THAT(times.parts[1].share, DoubleNear(0.7, 1e-9));
  EXPECT_THAT(times.parts[2].blocks, ElementsAre(1));
  EXPECT_EQ(times.parts[2].method, InsideMethod::kAblation);
  EXPECT_THAT(times.parts[2].share, DoubleNear(0.06, 1e-9));
  EXPECT_TRUE(times.parts[3].below_noise);
  EXPECT_EQ(times.parts[3].share, 0);
  EXPECT_THAT(times.parts[4].blocks, IsEmpty());
  EXPECT_TRUE(times.parts[4].rest);
  EXPECT_THAT(times.parts[4].share, DoubleNear(0.14, 1e-9));
  EXPECT_THAT(times.stage_sum, DoubleNear(1, 1e-9));
  EXPECT_TRUE(times.trusted());
  EXPECT_THAT(times.marker_ns, DoubleNear(100, 1e-9));
  EXPECT_THAT(times.overhead, DoubleNear(0.1, 1e-9));
}

TEST(InsideSplit, ADriftingClockCancels) {
  const InsideTimes steady = split_inside(staged(), rounds_of({1, 1, 1, 1, 1}));
  const InsideTimes drifting = split_inside(staged(), rounds_of({1, 1.05, 1.3, 0.8, 1.2}));
  for (size_t i = 0; i < steady.parts.size(); ++i) EXPECT_THAT(drifting.parts[i].share, DoubleNear(steady.parts[i].share, 1e-9));
}

TEST(InsideSplit, WhatIsLessThanTwoEqualBuildsDifferIsNoise) {
  std::vector<InsideRound> rounds(12, round_of(1, /*twin=*/107));
  const InsideTimes times = split_inside(staged(), rounds);
  EXPECT_THAT(times.noise, DoubleNear(0.07, 1e-9));
  EXPECT_TRUE(times.parts[2].below_noise);  // 6 % is less than 7 %
  EXPECT_THAT(times.parts[4].share, DoubleNear(0.2, 1e-9));
}

TEST(InsideSplit, NoiseThatComesAndGoesIsNoise) {
  std::vector<InsideRound> rounds(6, round_of(1, 109));
  rounds.insert(rounds.end(), 7, round_of(1, 100));  // the median of all sees none
  EXPECT_THAT(split_inside(staged(), rounds).noise, DoubleNear(0.09, 1e-9));
}

TEST(InsideSplit, AblationNeverExplainsMoreThanItsStage) {
  std::vector<InsideRound> rounds = rounds_of({1, 1, 1});
  for (InsideRound& round : rounds) round.ablated_us = {60, 90};
  const InsideTimes times = split_inside(staged(), rounds);
  EXPECT_THAT(times.parts[2].share, DoubleNear(0.2, 1e-9));
  EXPECT_EQ(times.parts[3].share, 0);
  EXPECT_EQ(times.parts[4].share, 0);
  EXPECT_TRUE(times.parts[4].below_noise);
}

TEST(InsideSplit, StagesThatDoNotSumUpAreNotTrusted) {
  std::vector<InsideRound> rounds = rounds_of({1, 1, 1});
  for (InsideRound& round : rounds) round.site_us[2] += 5;
  const InsideTimes times = split_inside(staged(), rounds);
  EXPECT_THAT(times.stage_sum, DoubleNear(1.05, 1e-9));
  EXPECT_FALSE(times.trusted());
  EXPECT_THAT(times.parts[1].share, DoubleNear(0.75, 1e-9)) << "nothing is scaled";
}

TEST(InsideSplit, ASingleStageIsTheWholeKernelWhateverMarksCost) {
  InsideSubject subject = subject_of(2);
  subject.marks = {{1, 1, "relu", "b1_nn_relu__relu", {}}};
  InsideRound round;
  round.plain_us = round.twin_us = 2, round.marked_us = 4, round.site_us = {3}, round.visits = {30}, round.empty_us = 0.02;
  const InsideTimes times = split_inside(subject, {round, round, round});
  ASSERT_EQ(times.parts.size(), 1u);
  EXPECT_EQ(times.parts[0].share, 1);
  EXPECT_EQ(times.parts[0].method, InsideMethod::kWhole);
  EXPECT_TRUE(times.trusted());
}

TEST(InsideSplit, AMergedStageIsNamedWhereItIsBilled) {
  InsideSubject subject = staged();
  subject.marks = {{1, 0, "conv", "b0_nn_relu__conv", {}}, {2, 2, "relu", "b2_nn_relu__relu", {{0, "pad"}}}};
  InsideRound round = round_of(1);
  round.site_us = {70, 30}, round.visits = {1, 1}, round.empty_us = 0;
  const InsideTimes times = split_inside(subject, {round, round, round});
  EXPECT_EQ(times.parts.back().stage, "pad, relu");
  EXPECT_THAT(times.parts.back().blocks, ElementsAre(0));
  EXPECT_TRUE(times.parts.back().rest);
}

TEST(InsideSplit, AKernelOfOneOperatorIsWhole) {
  InsideRound round;
  round.plain_us = 7;
  const InsideTimes times = split_inside(subject_of(1), {round});
  ASSERT_EQ(times.parts.size(), 1u);
  EXPECT_EQ(times.parts[0].method, InsideMethod::kWhole);
  EXPECT_THAT(times.parts[0].blocks, ElementsAre(0));
  EXPECT_EQ(times.plain_us, 7);
}

TEST(Ablatable, WhatSitsInRegistersAndTheLastBlock) {
  InsideSubject subject = staged();
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(ablatable(subject_of(1)), IsEmpty());
}

TEST(Ablatable, BlocksOfOneOperatorGoTogether) {
  const Type type = test::f32({8});
  const Var x = test::param("x", type);
  const auto norm = Origin::create("nn.batch_norm", {}, {}), relu = Origin::create("nn.relu", {}, {});
  const auto call = [&](const Expr& arg, const Ref<const Origin>& origin) {
    return make_call(op_expr(*find_op("nn.relu")), {arg}, {}, NodeInfo(OriginSet::of(origin), {}, type));
  };
  register_all_ops();
  InsideSubject subject;
  subject.blocks = kernel_blocks(*test::primitive({x}, call(call(call(call(x, relu), norm), norm), relu)));
  subject.marks = {{1, 3, "relu", "b3_nn_relu__relu", {}}};
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2)));
  subject.marks = {{1, 3, "relu", "b3_nn_relu__relu", {}}, {2, 1, "norm", "b1_nn_relu__norm", {}}};
  // Block 0 sits in the stage of block 1, block 2 in that of block 3, which is of block 0's operator: three variants.
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(3)));
}

TEST(Ablatable, OnlyWhatKeepsItsTypes) {
  const Var x = test::param("x", test::f32({4, 8}));
  const Expr flat = test::op_call("nn.batch_flatten", {test::op_call("nn.relu", {x}, test::f32({4, 8}))}, test::f32({4, 8}));
  const Expr sum = test::op_call("nn.global_avg_pool2d", {x}, test::f32({4, 8, 1, 1}));
  InsideSubject subject;
  subject.blocks = kernel_blocks(*test::primitive({x}, flat));
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(1)));
  subject.blocks.push_back({as_ref<CallNode>(sum), {}});
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(1))) << "a pool changes the shape";
}

}  // namespace
}  // namespace baton
