// The arithmetic of inside times on rounds that are made up, so that what must come out is known.
#include "baton/profile/inside/inside_split.h"

#include <gmock/gmock.h>

#include "baton/codegen/kernel/ablation.h"

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
  subject.marks = {{1, 0, "pad", "b0_nn_relu__pad", {}},
                   {2, 2, "relu", "b2_nn_relu__relu", {}},
                   {3, 0, "conv", "b0_nn_relu__conv", {}}};
  subject.ablated = {{1}, {2}};
  return subject;
}

// 100 us: pad 10, conv 70, the rest 20, of which block 1 costs 6 and block 2 nothing. `drift` scales the
// clock.
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
  for (size_t i = 0; i < steady.parts.size(); ++i)
    EXPECT_THAT(drifting.parts[i].share, DoubleNear(steady.parts[i].share, 1e-9));
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
  round.plain_us = round.twin_us = 2, round.marked_us = 4, round.site_us = {3}, round.visits = {30},
  round.empty_us = 0.02;
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

TEST(InsideSplit, WhatSitsInRegistersAndCannotBeLeftOutIsNamedInTheRestOfItsStage) {
  InsideSubject subject = subject_of(3);
  subject.marks = {{1, 2, "relu", "b2_nn_relu__relu", {}}};
  subject.ablated = {{2}};
  InsideRound round = round_of(1);
  round.site_us = {100}, round.visits = {0}, round.ablated_us = {90};
  const InsideTimes times = split_inside(subject, {round, round, round});
  ASSERT_EQ(times.parts.size(), 2u);
  EXPECT_THAT(times.parts[0].blocks, ElementsAre(2));
  EXPECT_THAT(times.parts[1].blocks, ElementsAre(0, 1));
  EXPECT_TRUE(times.parts[1].rest);
}

TEST(InsideSplit, AStageKeepsItsOwnOperatorWhenOthersAreTakenOutOfIt) {
  InsideSubject subject = staged();
  subject.marks[0].block = subject.marks[2].block = 1;  // block 0 sits in the first stage of block 1
  subject.ablated = {{0}, {2}};
  const InsideTimes times = split_inside(subject, rounds_of({1, 1, 1}));
  ASSERT_EQ(times.parts.size(), 5u);
  EXPECT_THAT(times.parts[0].blocks, ElementsAre(0));
  EXPECT_EQ(times.parts[0].stage, "pad") << "where it is read";
  EXPECT_THAT(times.parts[1].blocks, ElementsAre(1)) << "pad is still of block 1";
  EXPECT_TRUE(times.parts[1].rest);
  EXPECT_THAT(times.parts[2].blocks, ElementsAre(1));
  EXPECT_FALSE(times.parts[2].rest);
}

TEST(InsideSplit, AKernelThatOnlyCopiesIsWhole) {
  InsideSubject subject = subject_of(2);
  InsideRound round;
  round.plain_us = round.twin_us = 3;
  const InsideTimes times = split_inside(subject, {round});
  ASSERT_EQ(times.parts.size(), 1u);
  EXPECT_THAT(times.parts[0].blocks, ElementsAre(0, 1));
  EXPECT_TRUE(times.trusted());
}

TEST(InsideSplit, SampledStagesTakeThePlaceOfMarkedOnes) {
  std::vector<InsideRound> rounds = rounds_of({1, 1, 1});
  for (InsideRound& round : rounds) round.site_us[2] += 30;  // the marks disturb: not trusted
  ASSERT_FALSE(split_inside(staged(), rounds).trusted());
  const InsideTimes times =
      split_sampled(staged(), rounds,
                    {{"pad", 0, 0.1, {}}, {"conv", 0, 0.68, {}}, {"relu", 2, 0.2, {}}, {"", -1, 0.02, {}}});
  EXPECT_TRUE(times.trusted());
  ASSERT_EQ(times.parts.size(), 5u);
  EXPECT_EQ(times.parts[1].stage, "conv");
  EXPECT_THAT(times.parts[1].share, DoubleNear(0.68, 1e-9));
  EXPECT_EQ(times.parts[1].method, InsideMethod::kSampling);
  EXPECT_EQ(times.parts[2].method, InsideMethod::kAblation);
  EXPECT_THAT(times.parts[4].share, DoubleNear(0.22 - 0.06, 1e-9))
      << "entry and exit are billed to where results are stored";
  EXPECT_EQ(split_sampled(staged(), rounds, {}).parts.size(), 1u);
}

TEST(InsideSplit, StagesOfAKernelsOnlyOperatorComeInTheOrderTheyWereMade) {
  InsideSubject subject = subject_of(1);
  subject.stages = {{"max", "exp", "sum", "softmax"}};
  subject.marks = {
      {1, 0, "softmax", "b0__softmax", {}}, {2, 0, "max", "b0__max", {}}, {3, 0, "exp", "b0__exp", {}}};
  EXPECT_TRUE(is_root(subject, subject.marks[0]));
  EXPECT_FALSE(is_root(subject, subject.marks[2]));
  InsideRound round;
  round.plain_us = 100, round.twin_us = 100, round.marked_us = 120, round.site_us = {20, 30, 50},
  round.visits = {1, 1, 1};
  const InsideTimes times = split_inside(subject, {round, round, round});
  ASSERT_EQ(times.parts.size(), 3u);
  EXPECT_EQ(times.parts[0].stage, "max");
  EXPECT_EQ(times.parts[2].stage, "softmax");
  for (const InsidePart& part : times.parts) EXPECT_THAT(part.blocks, ElementsAre(0));
  EXPECT_TRUE(times.trusted());
}

TEST(InsideSplit, NotesSayWhatWasLeftOut) {
  InsideTimes times;
  times.tally = {100, 2, 3, false};
  EXPECT_THAT(notes_of(times), ElementsAre("2 of 100 rounds left out: the clock stepped"));
  times.tally = {100, 0, 30, true};
  times.fallback = "sampled";
  EXPECT_EQ(notes_of(times).size(), 3u);
}

TEST(InsideSplit, ThreadsAreAddedUp) {
  InsideTimes times = split_inside(staged(), rounds_of({1, 1, 1}));
  EXPECT_EQ(times.utilisation(), 1);
  std::vector<InsideRound> two = rounds_of({1, 1.1, 0.9});
  for (InsideRound& round : two)
    for (size_t i = 0; i < 3; ++i)
      round.site_us[i] = round.visits[i] * round.empty_us + (round.site_us[i] - round.visits[i] * 0.1);
  for (InsideRound& round : two) round.plain_us /= 1.6;
  add_loads(times, staged(), two, 2);
  EXPECT_EQ(times.threads, 2);
  EXPECT_THAT(times.threads_us, DoubleNear(62.5, 1e-9));
  ASSERT_EQ(times.loads.size(), 3u);
  EXPECT_EQ(times.loads[0].stage, "pad");
  EXPECT_THAT(times.loads[0].busy_us, DoubleNear(10, 1e-9));
  EXPECT_THAT(times.loads[1].busy_us, DoubleNear(70, 1e-9));
  EXPECT_THAT(times.busy_us(), DoubleNear(100, 1e-9));
  EXPECT_THAT(times.utilisation(), DoubleNear(0.8, 1e-9));
}

TEST(InsideSplit, SharesBecomeThoseOfAllThreads) {
  const InsideTimes one = split_inside(staged(), rounds_of({1, 1, 1}));
  InsideTimes times = one;
  times.threads = 2, times.threads_us = 60;
  times.loads = {{"pad", {0}, 22}, {"conv", {0}, 66}, {"relu", {2}, 22}};
  share_loads(times);
  EXPECT_THAT(times.parts[0].share, DoubleNear(0.2, 1e-9));
  EXPECT_THAT(times.parts[1].share, DoubleNear(0.6, 1e-9));
  EXPECT_THAT(times.parts[2].share, DoubleNear(0.2 * 0.3, 1e-9)) << "ablation keeps its portion of the stage";
  EXPECT_THAT(times.parts[4].share, DoubleNear(0.2 * 0.7, 1e-9));
  EXPECT_TRUE(times.fallback.empty());

  times = one;
  times.threads = 2, times.threads_us = 50;  // 100 us of time, 110 of work
  times.loads = {{"pad", {0}, 22}, {"conv", {0}, 66}, {"relu", {2}, 22}};
  share_loads(times);
  EXPECT_EQ(times.parts[1].share, one.parts[1].share);
  EXPECT_THAT(times.fallback, testing::HasSubstr("shares are of one thread"));

  times = one;
  times.threads = 2, times.threads_us = 60, times.threads_tally.restless = true;
  times.loads = {{"pad", {0}, 22}, {"conv", {0}, 66}, {"relu", {2}, 22}};
  share_loads(times);
  EXPECT_EQ(times.parts[1].share, one.parts[1].share);

  times = one;
  times.threads = 2, times.threads_us = 60;
  times.loads = {{"conv", {0}, 66}, {"relu", {2}, 22}};
  share_loads(times);
  EXPECT_EQ(times.parts[1].share, one.parts[1].share) << "other stages than those that were split";
}

TEST(InsideSplit, MoreRoundsMakeSharesMoreCertain) {
  std::vector<InsideRound> few, many;
  for (int i = 0; i < 400; ++i) {
    InsideRound round = round_of(1);
    round.site_us[0] += 0.01 * (i % 7);
    if (i < 20) few.push_back(round);
    many.push_back(round);
  }
  EXPECT_GT(uncertainty(few), 3 * uncertainty(many));
  EXPECT_GT(uncertainty(many), 0);
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
  // Block 0 sits in the stage of block 1, block 2 in that of block 3, which is of block 0's operator: three
  // variants.
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(3)));
}

TEST(Ablatable, OnlyWhatKeepsItsTypes) {
  const Var x = test::param("x", test::f32({4, 8}));
  const Expr flat = test::op_call("nn.batch_flatten", {test::op_call("nn.relu", {x}, test::f32({4, 8}))},
                                  test::f32({4, 8}));
  const Expr sum = test::op_call("nn.global_avg_pool2d", {x}, test::f32({4, 8, 1, 1}));
  InsideSubject subject;
  subject.blocks = kernel_blocks(*test::primitive({x}, flat));
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(1)));
  subject.blocks.push_back({as_ref<CallNode>(sum), {}});
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0), ElementsAre(1))) << "a pool changes the shape";
}

// relu, and its result counted otherwise, in one loop.
InsideSubject flattened(const Function& function) {
  InsideSubject subject;
  subject.blocks = kernel_blocks(*function);
  subject.stages = {{"relu"}, {"flat"}};
  subject.marks = {{1, 1, "flat", "b1_nn_batch_flatten__flat", {}}};
  return subject;
}

Function relu_flattened() {
  const Var x = test::param("x", test::f32({4, 2, 4}));
  const Expr relu = test::op_call("nn.relu", {x}, test::f32({4, 2, 4}));
  return test::primitive({x}, test::op_call("nn.batch_flatten", {relu}, test::f32({4, 8})));
}

TEST(InsideMoves, TheLoopOfAReshapeBelongsToWhatItComputes) {
  const Function function = relu_flattened();
  InsideSubject subject = flattened(function);
  EXPECT_THAT(blocks_of(subject, subject.marks[0]), ElementsAre(0));
  EXPECT_THAT(ablatable(subject), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(movable(subject), ElementsAre(1));
  EXPECT_TRUE(moves_nothing(subject, 1));
  EXPECT_FALSE(moves_nothing(subject, 0));
  // What it computes was stored before: then it is a copy.
  subject.marks.push_back({2, 0, "relu", "b0_nn_relu__relu", {}});
  EXPECT_THAT(blocks_of(subject, subject.marks[0]), ElementsAre(1));
  subject.marks.pop_back();
  subject.marks[0].holds = {{0, "relu"}};
  EXPECT_THAT(blocks_of(subject, subject.marks[0]), ElementsAre(1, 0));
}

TEST(InsideMoves, AReshapeHasNoPartOfItsOwnAndNobodyLosesTime) {
  const Function function = relu_flattened();
  InsideSubject subject = flattened(function);
  subject.ablated = {{0}};
  InsideRound round;
  round.plain_us = round.twin_us = round.marked_us = 100;
  round.site_us = {100};
  round.visits = {1};
  round.ablated_us = {70};
  const InsideTimes times = split_inside(subject, {round});
  ASSERT_EQ(times.parts.size(), 3u);
  EXPECT_THAT(times.parts[0].blocks, ElementsAre(0));
  EXPECT_THAT(times.parts[0].share, DoubleNear(0.3, 1e-9));
  EXPECT_THAT(times.parts[1].blocks, ElementsAre(1));
  EXPECT_EQ(times.parts[1].share, 0);
  EXPECT_TRUE(times.parts[1].below_noise);
  EXPECT_EQ(times.parts[1].reason, kMovesNothing);
  EXPECT_TRUE(times.parts[2].rest);
  EXPECT_THAT(times.parts[2].blocks, IsEmpty());
  EXPECT_THAT(times.parts[2].share, DoubleNear(0.7, 1e-9));
}

TEST(InsideMoves, WithoutItTheKernelWritesWhatItComputesInItsOwnOrder) {
  const Var x = test::param("x", test::f32({4, 2, 4})), y = test::param("y", test::f32({4, 8}));
  const Expr relu = test::op_call("nn.relu", {x}, test::f32({4, 2, 4}));
  const Expr flat = test::op_call("nn.batch_flatten", {relu}, test::f32({4, 8}));
  const Expr tanh = test::op_call("tanh", {flat}, test::f32({4, 8}));
  const auto without = [](const Function& function, int block) {
    return without_move(*function, kernel_blocks(*function), block);
  };
  const Function function = without(test::primitive({x}, tanh), 1);
  ASSERT_TRUE(function);
  EXPECT_EQ(type_text(function->body()->checked_type()), "Tensor[(4, 2, 4), float32]");
  EXPECT_EQ(kernel_blocks(*function).size(), 2u);
  EXPECT_FALSE(without(test::primitive({x}, tanh), 0)) << "relu computes";
  EXPECT_FALSE(without(test::primitive({x, y}, test::op_call("add", {flat, y}, test::f32({4, 8}))), 1))
      << "the other operand is in the order of the result";
  EXPECT_FALSE(without(test::primitive({x}, test::op_call("nn.batch_flatten", {x}, test::f32({4, 8}))), 0))
      << "nothing would be left";
}

}  // namespace
}  // namespace baton
