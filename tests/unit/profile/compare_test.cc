// The comparison of backends: what counts as a difference, verdicts, and the sums of a whole program.
// Programs are measured in tests/python/baton_api/running/test_compare.py.
#include "baton/profile/compare/compare.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/profile/report/comparison.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NDArray reals(std::vector<float> values) {
  return NDArray::of<float>({static_cast<int64_t>(values.size())}, values, DType::float_(32));
}

TEST(Compare, RealsMayDifferByRoundingOfTheLargest) {
  double largest = 0;
  EXPECT_EQ(difference_of(reals({100, 1e-6F}), reals({100.005F, 0}), largest), "");
  EXPECT_NEAR(largest, 5e-5, 1e-6);
  EXPECT_THAT(difference_of(reals({100, 0}), reals({100, 0.25F}), largest),
              HasSubstr("element 1 of float32[2] is 0.25 instead of 0"));
  EXPECT_NEAR(largest, 2.5e-3, 1e-6);
}

TEST(Compare, WhatIsNoNumberMustBeSoInBoth) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  double largest = 0;
  EXPECT_EQ(difference_of(reals({nan, infinity}), reals({nan, infinity}), largest), "");
  EXPECT_NE(difference_of(reals({nan, 1}), reals({1, 1}), largest), "");
  EXPECT_NE(difference_of(reals({1, 1}), reals({1, infinity}), largest), "");
}

TEST(Compare, IntegersAndShapesMustBeEqual) {
  const std::vector<int32_t> a = {1, 2}, b = {1, 3};
  const DType type = DType::int_(32);
  double largest = 0;
  EXPECT_EQ(difference_of(NDArray::of<int32_t>({2}, a, type), NDArray::of<int32_t>({2}, a, type), largest),
            "");
  EXPECT_EQ(difference_of(NDArray::of<int32_t>({2}, a, type), NDArray::of<int32_t>({2}, b, type), largest),
            "integers differ");
  EXPECT_EQ(difference_of(reals({1, 2}), reals({1}), largest), "float32[1] instead of float32[2]");
  EXPECT_EQ(difference_of(reals({}), reals({}), largest), "");
}

TEST(Compare, VerdictsHaveNames) {
  for (const char* name :
       {"not taken", "wrong", "not measured", "unreliable", "faster", "slower", "within noise"})
    EXPECT_STREQ(verdict_name(verdict_named(name)), name);
  EXPECT_THROW(verdict_named("quick"), Error);
}

OffloadRow row(const std::string& backend, OffloadVerdict verdict, double us) {
  OffloadRow made{.backend = backend, .verdict = verdict};
  made.total_us = us;
  return made;
}

TEST(Compare, TheWholeProgramTakesWhatIsSurelyFaster) {
  Comparison all;
  all.base = "llvm";
  all.others = {"dnnl", "opencl"};
  ComparedFunction first;
  first.nodes = {1, 4};
  first.own_us = 10;
  first.others = {row("dnnl", OffloadVerdict::kFaster, 6), row("opencl", OffloadVerdict::kFaster, 5)};
  ComparedFunction second;
  second.nodes = {2};
  second.own_us = 3;
  second.others = {row("dnnl", OffloadVerdict::kWithinNoise, 2.9), row("opencl", OffloadVerdict::kWrong, 0)};
  second.others[1].why = "element 0 differs";
  second.node = 2;
  second.func_name = "f";
  all.functions = {first, second};
  EXPECT_DOUBLE_EQ(all.base_us(), 23);
  EXPECT_DOUBLE_EQ(all.best_us(), 13);
  EXPECT_EQ(all.best_calls("opencl"), 2);
  EXPECT_EQ(all.best_calls("dnnl"), 0);
  EXPECT_EQ(all.best_calls("llvm"), 1);
  EXPECT_THAT(all.wrong(), ElementsAre("opencl computes node 2 `f` differently: element 0 differs"));
}

TEST(Compare, BackendsAreNamedOnceAndKnown) {
  initialize();
  const BuildContext context = host_context();
  EXPECT_THROW(compared_backends({"llvm"}, context), UsageError);
  EXPECT_THROW(compared_backends({"llvm", "llvm"}, context), UsageError);
  EXPECT_THROW(compared_backends({"llvm", "no such backend"}, context), UsageError);
  EXPECT_EQ(compared_backends({"llvm", "mirror"}, context)[1].device_type, 12);
}

}  // namespace
}  // namespace baton
