// Two profiles of one model, operator by operator.
#include "baton/profile/report/diff.h"

#include <cmath>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/support/error.h"
#include "baton/support/json.h"

#include "profile/made_up.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The same model with less fusion: conv alone, bias and relu in one kernel that was not split; softmax twice
/// as slow.
ProfileReport less_fused() {
  ProfileReport report = test::made_up();
  report.opt_level = 1;
  report.kernels = {
      test::kernel_row(3, "fused_conv2d", 9, {0}, {}), test::kernel_row(4, "fused_bias_relu", 4, {1, 2}, {3}),
      test::kernel_row(5, "fused_exp", 1, {4}, {}), test::kernel_row(7, "fused_softmax", 60, {5}, {4, 5}),
      test::kernel_row(8, "fused_add_tanh", 4, {6, 7}, {7})};
  report.operators[0].nodes = {3};
  report.operators[1].nodes = report.operators[2].nodes = {4};
  report.operators[4].nodes = {5};
  report.operators[4].folded_into.clear();
  report.sum_us = 78;
  report.end_to_end_us = 80;
  report.plain_us = {80, 79, 81, 80, 80, 80, 80};
  add_titles(report);
  return report;
}

ProfileDiff made() { return diff(test::made_up(), less_fused(), "a.json", "b.json"); }

TEST(Diff, NothingIsLostAndNothingCountsTwice) {
  const ProfileDiff found = made();
  double a = 0, b = 0, groups_a = 0, groups_b = 0;
  for (const DiffOperator& row : found.operators) a += row.us.a, b += row.us.b;
  a += found.rest_us.a + found.own_us.a;
  b += found.rest_us.b + found.own_us.b;
  for (const DiffGroup& group : found.groups) groups_a += group.us.a, groups_b += group.us.b;
  for (const DiffOwn& own : found.own) groups_a += own.us.a, groups_b += own.us.b;
  EXPECT_NEAR(a, 46, 1e-9);
  EXPECT_NEAR(b, 78, 1e-9);
  EXPECT_NEAR(groups_a, 46, 1e-9);
  EXPECT_NEAR(groups_b, 78, 1e-9);
  EXPECT_DOUBLE_EQ(found.sum_us.a, 46);
  EXPECT_DOUBLE_EQ(found.sum_us.b, 78);
  for (const DiffGroup& group : found.groups) {
    double in_a = group.rest.a, in_b = group.rest.b;
    for (uint32_t id : group.operators) in_a += found.operators[id].us.a, in_b += found.operators[id].us.b;
    EXPECT_NEAR(in_a, group.us.a, 1e-9);
    EXPECT_NEAR(in_b, group.us.b, 1e-9);
  }
}

TEST(Diff, NothingIsJudgedWhereProcessorsWerePlacedDifferently) {
  ProfileReport a = test::made_up(), b = less_fused();
  const auto marked = [](const ProfileDiff& found) {
    return std::ranges::count_if(found.groups, [](const DiffGroup& row) { return row.us.differs(); }) +
           found.sum_us.differs() + found.end_to_end_us.differs();
  };
  ASSERT_GT(marked(diff(a, b, "a", "b")), 0);
  a.exchange_ns = {140, 150, 510}, b.exchange_ns = {500, 510, 140};
  EXPECT_EQ(marked(diff(a, b, "a", "b")), 0);
  EXPECT_THAT(diff(a, b, "a", "b").notes, testing::Contains(HasSubstr("150 ns in A and 500 ns in B")));
  EXPECT_GT(marked(diff(a, b, "a", "b", true)), 0) << "in turn: both sides saw the same";
  b.exchange_ns = {140, 150, 160};
  EXPECT_GT(marked(diff(a, b, "a", "b")), 0);
}

TEST(Diff, GroupsAreTheSameOperatorsInBothBuilds) {
  const ProfileDiff found = made();
  ASSERT_EQ(found.groups.size(), 4u);
  EXPECT_THAT(found.groups[0].operators, ElementsAre(0, 1, 2));
  EXPECT_THAT(found.groups[0].a_nodes, ElementsAre(2));
  EXPECT_THAT(found.groups[0].b_nodes, ElementsAre(3, 4));
  EXPECT_DOUBLE_EQ(found.groups[0].us.a, 10);
  EXPECT_DOUBLE_EQ(found.groups[0].us.b, 13);
  EXPECT_THAT(found.groups[1].operators, ElementsAre(5));
  EXPECT_THAT(found.groups[2].operators, ElementsAre(6, 7));
  EXPECT_THAT(found.groups[3].operators, ElementsAre(4)) << "A has no kernel for it: it comes last";
  EXPECT_TRUE(found.groups[3].a_nodes.empty());
  ASSERT_EQ(found.own.size(), 1u);
  EXPECT_THAT(found.own[0].a_nodes, ElementsAre(1));
  EXPECT_TRUE(found.own[0].b_nodes.empty());
}

TEST(Diff, SaysHowEachOperatorIsComputed) {
  const ProfileDiff found = made();
  EXPECT_EQ(found.operators[0].b.by, PortionBy::kWhole);
  EXPECT_THAT(found.operators[0].only_a, ElementsAre(1, 2));
  EXPECT_THAT(found.operators[0].only_b, ElementsAre());
  EXPECT_EQ(found.operators[1].b.by, PortionBy::kEqual);
  EXPECT_DOUBLE_EQ(found.operators[1].us.b, 2);
  EXPECT_EQ(found.operators[3].a.instead, "retired");
  EXPECT_EQ(found.operators[4].a.instead, "folded");
  EXPECT_TRUE(found.operators[4].b.has_kernel);
}

TEST(Diff, TellsADifferenceFromNoise) {
  const ProfileDiff found = made();
  EXPECT_TRUE(found.groups[1].us.differs());
  EXPECT_FALSE(found.groups[2].us.differs());
  EXPECT_TRUE(found.end_to_end_us.differs());
  // The same difference, less than each side varies by.
  ProfileReport a = test::made_up(), b = less_fused();
  a.cv = b.cv = 0.5;
  EXPECT_FALSE(diff(a, b, "a", "b").groups[1].us.differs());
  EXPECT_TRUE(diff(a, b, "a", "b", true).groups[1].us.differs())
      << "measured in turn, a drifting clock cancels";
  for (KernelRow& row : b.kernels) row.samples_us.resize(3);
  EXPECT_FALSE(diff(a, b, "a", "b").groups[1].us.interval) << "three runs tell nothing";
}

std::string refusal(const ProfileReport& a, const ProfileReport& b) {
  try {
    diff(a, b, "a.json", "b.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Diff, RefusesOtherModels) {
  const ProfileReport a = test::made_up();
  ProfileReport b = less_fused();
  b.operators[2].op = "sigmoid";
  EXPECT_EQ(refusal(a, b),
            "a.json and b.json are of different models: nn.relu line 5 (operator 2) and sigmoid line 5 "
            "differ, they are nn.relu and sigmoid");
  b = less_fused();
  b.operators[2].type = "Tensor[(2, 8), float32]";
  EXPECT_THAT(refusal(a, b), HasSubstr("of type Tensor[(1, 8), float32] and Tensor[(2, 8), float32]"));
  b = less_fused();
  b.operators[0].attrs = {{"strides", AttrValue(std::vector<int64_t>{1, 1})}};
  EXPECT_THAT(refusal(a, b), HasSubstr("\"strides\":[1,1]"));
  b = less_fused();
  b.operators[5].inputs = {2};
  EXPECT_THAT(refusal(a, b), HasSubstr("reading other operators' values"));
  b = less_fused();
  b.operators.push_back(test::operator_row(8, "exp", {7}, {}));
  EXPECT_THAT(refusal(a, b), HasSubstr("they have 8 and 9 operators"));
  b = less_fused();
  for (OperatorRow& row : b.operators) row.line += 10;
  EXPECT_EQ(refusal(a, b), "none") << "a comment moves lines";
  b.operators.clear();
  for (KernelRow& row : b.kernels) row.origins = row.made_for = {};
  EXPECT_THAT(refusal(a, b), HasSubstr("b.json names no operators"));
}

TEST(Diff, TableForPeople) {
  std::ostringstream out;
  const ProfileReport a = test::made_up(), b = less_fused();
  write_table(out, diff(a, b, "a.json", "b.json"), a, b);
  EXPECT_EQ(out.str(), R"(A  net on llvm, 1 thread, opt level 3, baton 0.0.0: a.json
B  net on llvm, 1 thread, opt level 1, baton 0.0.0: b.json

kernels of A | B, and the operators they compute                        A us      B us      B - A     B/A
A 2  conv2d + bias_add + relu, line 3                                   10.0
B 3  conv2d, line 3                                                               9.00
B 4  bias_add + relu, line 4                                                      4.00
2 | 3,4  together                                                       10.0      13.0      +3.00   1.30x  slower
        nn.conv2d line 3                                                7.27      9.00      +1.73   1.24x  slower
          only in A with nn.bias_add line 4, nn.relu line 5
        nn.bias_add line 4, B: equal portion                          455 ns      2.00      +1.55   4.40x  slower
          only in A with nn.conv2d line 3
        nn.relu line 5, B: equal portion                                0.00      2.00      +2.00          slower
          only in A with nn.conv2d line 3
        load, store, loop                                               2.27         -      -2.27
7 | 7  softmax, line 8                                                  30.0      60.0      +30.0   2.00x  slower
        nn.softmax line 8
8 | 8  add + tanh, line 9                                               4.00      4.00      +0.00   1.00x  within noise
        add line 9, A: equal portion, B: equal portion                  2.00      2.00      +0.00   1.00x  within noise
        tanh line 10, A: equal portion, B: equal portion                2.00      2.00      +0.00   1.00x  within noise
B 5  exp, line 7                                                                  1.00
- | 5  together                                                            -      1.00      +1.00          slower
        exp line 7, A: folded

kernels of the compiler's own
A 1  layout_transform, for line 3                                       2.00
1 | -  together                                                         2.00         -      -2.00          faster
        made for nn.conv2d line 3: nn.conv2d computes in NCHW8c

        operators                                                       41.7      78.0      +36.3   1.87x
        load, store, loop of kernels of several operators               2.27      0.00      -2.27
        kernels of the compiler's own                                   2.00      0.00      -2.00
        sum of kernels                                                  46.0      78.0      +32.0   1.70x  slower
        end to end, profiling off                                       50.0      80.0      +30.0   1.60x  slower

  1 of 8 operators have no kernel in either build
  within noise: no larger than what chance makes of so many rows and rounds (95 %); ?: not measured
  only A was split inside its kernels: compare groups, not the operators in them
  A and B were measured apart: the clock may have moved between them by more than their runs say
)");
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(Diff, JsonHoldsItAll) {
  const auto json = to_json(made(), test::made_up(), less_fused());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["a"]["label"], "a.json");
  EXPECT_EQ(json["operators"].size(), 8u);
  EXPECT_EQ(json["operators"][4]["a"]["instead"], "folded");
  EXPECT_TRUE(json["operators"][4]["a"]["by"].is_null());
  EXPECT_EQ(json["groups"][0]["b"], Json({3, 4}));
  EXPECT_EQ(json["groups"][1]["us"]["ratio"], 2);
  EXPECT_EQ(json["groups"][1]["us"]["differs"], true);
  EXPECT_TRUE(json["groups"][3]["us"]["ratio"].is_null());
}

TEST(Significance, IntervalOfAMedianIsThatOfItsOrder) {
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}));
  EXPECT_EQ(median_interval({1, 1, 1, 1, 1, 1}), 0);
  // Of 100 samples 0..99 the 41st and the 60th enclose the median in 95 of 100 cases.
  std::vector<double> samples;
  for (int i = 0; i < 100; ++i) samples.push_back((i * 37) % 100);
  EXPECT_DOUBLE_EQ(*median_interval(samples), 49.5 - 40);
}

TEST(Significance, CoversWhatItPromises) {
  // Two sides that are the same: found to differ in about 5 of 100 trials, whatever the tail.
  uint64_t state = 12345;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  int found = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 40; ++i) {
      const double drift = uniform();  // common to both, as a clock is
      a.push_back(100 + 50 * drift - std::log(1 - uniform()));
      b.push_back(100 + 50 * drift - std::log(1 - uniform()));
    }
    std::vector<double> differences;
    for (int i = 0; i < 40; ++i) differences.push_back(b[i] - a[i]);
    Compared us{0, median(differences), difference_interval(a, b, true, 0, 0)};
    mark_significant({&us});
    found += us.differs();
  }
  EXPECT_LT(found, 0.08 * kTrials);
  EXPECT_GT(found, 0.005 * kTrials) << "so wide that nothing would be found";
}

}  // namespace
}  // namespace baton
