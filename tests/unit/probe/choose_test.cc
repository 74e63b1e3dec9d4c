// Which kernels a probe measures.
#include "baton/probe/choose.h"

#include <set>

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

DoubtedKernel kernel(double at, const std::string& kind, double doubt, double weight) {
  return {{at}, kind, kind + " schedule", doubt, weight};
}

std::vector<DoubtedProgram> each_alone(size_t count) {
  std::vector<DoubtedProgram> programs(count);
  for (size_t i = 0; i < count; ++i) programs[i].kernels = {static_cast<int>(i)};
  return programs;
}

TEST(ChooseKernels, WhatIsDoubtedAndCommonComesFirst) {
  const std::vector<DoubtedKernel> kernels{kernel(0, "dense", 0.1, 1), kernel(0, "conv", 0.5, 1),
                                           kernel(0, "pool", 0.5, 0.1)};
  EXPECT_THAT(choose_programs(kernels, each_alone(3), 0, 1).programs, ElementsAre(1));
}

TEST(ChooseKernels, TheNextOneIsAnotherOne) {
  // Two of one place, where doubt is the greatest, and one far away.
  const std::vector<DoubtedKernel> kernels{kernel(0, "conv", 0.5, 1), kernel(0.1, "conv", 0.5, 1),
                                           kernel(20, "conv", 0.4, 1)};
  EXPECT_THAT(choose_programs(kernels, each_alone(3), 0, 2).programs,
              UnorderedElementsAre(testing::AnyOf(0, 1), 2));
}

TEST(ChooseKernels, DoubtShrinksWithEveryKernelAndEachIsChosenOnce) {
  std::vector<DoubtedKernel> kernels;
  for (int i = 0; i < 40; ++i) kernels.push_back(kernel(i, i % 3 ? "conv" : "dense", 0.3 + 0.01 * i, 1));
  double last = 1e9;
  for (const int count : {1, 5, 20, 40}) {
    const ProgramChoice choice = choose_programs(kernels, each_alone(40), 0, count);
    EXPECT_EQ(choice.programs.size(), static_cast<size_t>(count));
    EXPECT_EQ(std::set<int>(choice.programs.begin(), choice.programs.end()).size(), choice.programs.size());
    EXPECT_LT(choice.after, last);
    EXPECT_LT(choice.after, choice.before);
    last = choice.after;
  }
  EXPECT_EQ(choose_programs(kernels, each_alone(40), 0, 60).programs.size(), 40U);  // there are no more
  EXPECT_EQ(choose_programs(kernels, each_alone(40), 0, 9).programs,
            choose_programs(kernels, each_alone(40), 0, 9).programs);
}

TEST(ChooseKernels, NetworksComeFirstAndTellForTheirKernels) {
  std::vector<DoubtedKernel> kernels;
  for (int i = 0; i < 6; ++i) kernels.push_back(kernel(10.0 * i, "conv", 0.3, i < 3 ? 1 : 0.2));
  std::vector<DoubtedProgram> programs = each_alone(6);
  programs.push_back({{3, 4, 5}, true});
  programs.push_back({{0, 1, 2}, true});
  programs.push_back({{}, true});  // it could not be planned
  const ProgramChoice choice = choose_programs(kernels, programs, 1, 1);
  EXPECT_THAT(choice.programs, ElementsAre(7, testing::AnyOf(3, 4, 5)));
  EXPECT_EQ(choose_programs(kernels, programs, 9, 0).programs.size(), 2U);
}

TEST(ChooseKernels, NothingToChooseFrom) {
  const ProgramChoice choice = choose_programs({}, {}, 5, 5);
  EXPECT_TRUE(choice.programs.empty());
  EXPECT_EQ(choice.before, 0);
}

}  // namespace
}  // namespace baton
