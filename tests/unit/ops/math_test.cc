// The polynomials of ops/math.h against the C library in double precision.
#include "baton/ops/math.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "baton/codegen/kernel/contraction.h"
#include "baton/schedule/lowered/rare_values.h"

namespace baton {
namespace {

using MathFunction = Halide::Expr (*)(const Halide::Expr&);

/// As kernels are compiled; `contract`: with fused multiply-adds, as at the default precision.
std::vector<float> evaluate(MathFunction f, const std::vector<float>& at, bool contract = true) {
  const ContractionScope contraction(contract);
  const Halide::Target target =
      Halide::get_jit_target_from_environment().with_feature(Halide::Target::StrictFloat);
  const FusedMultiplyAdd fused(contract && target.has_feature(Halide::Target::FMA));
  Halide::Buffer<float> in(const_cast<float*>(at.data()), static_cast<int>(at.size()));
  Halide::Func g("g");
  const Halide::Var i("i");
  g(i) = f(in(i));
  g.vectorize(i, 16, Halide::TailStrategy::GuardWithIf);
  RareValuesPass rare(true);
  g.add_custom_lowering_pass(&rare, [] {});
  const Halide::Buffer<float> out = g.realize({static_cast<int>(at.size())}, target);
  return {out.begin(), out.end()};
}

std::vector<float> samples() {
  std::vector<float> at;
  for (int i = -60000; i <= 60000; ++i) at.push_back(i * 2e-4f);
  for (int i = -9000; i <= 9000; ++i) at.push_back(i * 1e-2f);
  for (float x = 1e-30f; x < 1e30f; x *= 1.7f) at.push_back(x), at.push_back(-x);
  return at;
}

void expect_close(MathFunction f, double (*exact)(double), double tolerance, bool positive = false,
                  bool contract = true) {
  const std::vector<float> at = samples(), got = evaluate(f, at, contract);
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const double want = exact(at[i]);
    // Beyond the normal numbers: infinite, or next to 0.
    if (want > std::numeric_limits<float>::max() || (positive && want < 1.2e-38)) {
      EXPECT_TRUE(want > 1 ? got[i] == INFINITY : got[i] <= 1.2e-38f) << at[i];
      continue;
    }
    const double error = want == 0 ? std::fabs(got[i]) : std::fabs(got[i] / want - 1);
    if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error, where = at[i];
  }
  EXPECT_LE(worst, tolerance) << "at " << where;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Math, TanhIsWithinAFewUnitsInTheLastPlace) { expect_close(vector_tanh, std::tanh, 5e-7); }
TEST(Math, ExpIsWithinAFewUnitsInTheLastPlace) { expect_close(vector_exp, std::exp, 4e-7, true); }
TEST(Math, SigmoidIsWithinAFewUnitsInTheLastPlace) {
  expect_close(vector_sigmoid, exact_sigmoid, 5e-7, true);
}
TEST(Math, ErfIsWithinAFewUnitsInTheLastPlace) { expect_close(vector_erf, std::erf, 5e-7); }

// Without contraction the steps of the argument's reduction are rounded one by one.
TEST(Math, AccuracyWithoutContraction) {
  expect_close(vector_exp, std::exp, 4e-7, true, false);
  expect_close(vector_sigmoid, exact_sigmoid, 5e-7, true, false);
  expect_close(vector_tanh, std::tanh, 5e-7, false, false);
  expect_close(vector_erf, std::erf, 5e-7, false, false);
}

TEST(Math, LogarithmsAreWithinAFewUnitsInTheLastPlace) {
  std::vector<float> at{1e-45f, 1e-40f, 1.1754942e-38f, 1.1754944e-38f, 1.0f, 3.4e38f};
  for (int exponent = -149; exponent < 128; ++exponent)
    for (int i = 0; i < 16; ++i) at.push_back(std::ldexp(1.0f + static_cast<float>(i) / 16, exponent));
  for (int i = -4000; i <= 4000; ++i) at.push_back(1 + i * 1e-4f);
  struct Case {
    MathFunction function;
    double (*exact)(double);
  };
  for (const auto& [function, exact] :
       {Case{vector_log, std::log}, {vector_log2, std::log2}, {vector_log10, std::log10}})
    for (const bool contract : {true, false}) {
      const std::vector<float> got = evaluate(function, at, contract);
      for (size_t i = 0; i < at.size(); ++i) {
        const double want = exact(at[i]);
        EXPECT_LE(std::fabs(got[i] - want), 2.5e-7 * std::fabs(want)) << at[i];
      }
    }
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (MathFunction f : {MathFunction(vector_log), MathFunction(vector_log2), MathFunction(vector_log10)}) {
    const std::vector<float> got = evaluate(f, {inf, 0.0f, -0.0f, nan, -1.0f, -inf, -1e-40f});
    EXPECT_EQ(got[0], inf);
    for (int i : {1, 2}) EXPECT_EQ(got[i], -inf);
    for (int i : {3, 4, 5, 6}) EXPECT_TRUE(std::isnan(got[i])) << i;
  }
  std::vector<float> powers;
  for (int n = -149; n < 128; ++n) powers.push_back(std::ldexp(1.0f, n));
  const std::vector<float> exponents = evaluate(vector_log2, powers);
  for (int n = -149; n < 128; ++n) EXPECT_EQ(exponents[n + 149], n);
}

/// Errors in units of the last place, of functions of any float: near 0, near 1, large, and special.
void expect_like_library(MathFunction f, double (*exact)(double), double units,
                         const std::vector<float>& at) {
  for (const bool contract : {true, false}) {
    const std::vector<float> got = evaluate(f, at, contract);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const double want = exact(static_cast<double>(at[i]));
      const auto rounded = static_cast<float>(want);
      if (std::isnan(rounded) || std::isinf(rounded)) {
        EXPECT_TRUE(std::isnan(rounded) ? std::isnan(got[i]) : got[i] == rounded) << at[i] << ": " << got[i];
        continue;
      }
      if (at[i] == 0) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(rounded)) << at[i];
      }
      int exponent = 0;
      std::frexp(want, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
      const double error = std::fabs(got[i] - want) / unit;
      if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error, where = at[i];
    }
    EXPECT_LE(worst, units) << "at " << where << (contract ? "" : ", without contraction");
  }
}

std::vector<float> any_floats() {
  std::vector<float> at = samples();
  for (int exponent = -149; exponent < 128; ++exponent)
    for (int i = 0; i < 16; ++i)
      for (const float sign : {1.0f, -1.0f})
        at.push_back(sign * std::ldexp(1.0f + static_cast<float>(i) / 16, exponent));
  for (int i = -4000; i <= 4000; ++i) at.push_back(1 + i * 1e-4f), at.push_back(-1 + i * 1e-4f);
  for (int i = -3000; i <= 3000; ++i) at.push_back(i * 1.57079633f), at.push_back(i * 0.785398163f);
  const float inf = std::numeric_limits<float>::infinity();
  for (const float special : {0.0f, -0.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 71475.9f,
                              71476.1f, 8191.9f, 8192.1f, 3.4e38f, -3.4e38f, 1e20f, 89.41f, 89.42f, -89.41f})
    at.push_back(special);
  return at;
}

TEST(Math, TrigonometryIsLikeTheLibrarys) {
  const std::vector<float> at = any_floats();
  expect_like_library(vector_sin, std::sin, 3, at);
  expect_like_library(vector_cos, std::cos, 3, at);
  expect_like_library(vector_tan, std::tan, 5, at);
  expect_like_library(vector_atan, std::atan, 3, at);
  expect_like_library(vector_asin, std::asin, 3, at);
  expect_like_library(vector_acos, std::acos, 3, at);
}

TEST(Math, HyperbolicFunctionsAreLikeTheLibrarys) {
  const std::vector<float> at = any_floats();
  expect_like_library(vector_sinh, std::sinh, 6, at);
  expect_like_library(vector_cosh, std::cosh, 6, at);
  expect_like_library(vector_asinh, std::asinh, 5, at);
  expect_like_library(vector_acosh, std::acosh, 5, at);
  expect_like_library(vector_atanh, std::atanh, 5, at);
}

TEST(Math, PowersAreTheLibrarys) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> bases{0.0f, -0.0f,  1.0f,    -1.0f,  inf,     -inf,
                           nan,  1e-45f, -1e-45f, 1e-40f, 3.4e38f, -3.4e38f};
  std::vector<float> exponents = bases;
  for (const float each : {0.5f, -0.5f, 2.0f, 3.0f, -3.0f, 7.0f, 16777215.0f, 16777216.0f, 1e-12f, 0.3333333f,
                           100.25f, -100.25f, 0.99999994f, 1.0000001f})
    exponents.push_back(each);
  for (int i = -400; i <= 400; ++i) bases.push_back(i * 0.0173f);
  for (const float each : {1.0000001f, 0.99999994f, 1e10f, 1e-10f, -2.0f, 2.0f, 0.5f, 123456.0f})
    bases.push_back(each);
  for (float y = -40; y < 40; y += 0.37f) exponents.push_back(y);
  for (const bool contract : {true, false})
    for (const float y : exponents) {
      const ContractionScope contraction(contract);
      const Halide::Target target =
          Halide::get_jit_target_from_environment().with_feature(Halide::Target::StrictFloat);
      static std::map<bool, Halide::Callable> compiled;
      if (!compiled.count(contract)) {
        const FusedMultiplyAdd fused(contract && target.has_feature(Halide::Target::FMA));
        const Halide::ImageParam x(Halide::Float(32), 1);
        const Halide::Param<float> by("by");
        Halide::Func power("power");
        const Halide::Var i("i");
        power(i) = vector_pow(x(i), by);
        power.vectorize(i, 16, Halide::TailStrategy::GuardWithIf);
        compiled.emplace(contract, power.compile_to_callable({x, by}, target));
      }
      Halide::Buffer<float> in(bases.data(), static_cast<int>(bases.size())),
          out(static_cast<int>(bases.size()));
      ASSERT_EQ(compiled.at(contract)(in, y, out), 0);
      for (int i = 0; i < static_cast<int>(bases.size()); ++i) {
        const double want =
            std::pow(static_cast<double>(bases[static_cast<size_t>(i)]), static_cast<double>(y));
        const auto rounded = static_cast<float>(want);
        const float got = out(i);
        if (std::isnan(rounded)) {
          EXPECT_TRUE(std::isnan(got)) << bases[static_cast<size_t>(i)] << " ^ " << y << ": " << got;
          continue;
        }
        EXPECT_TRUE(got == rounded || std::nextafter(got, rounded) == rounded)
            << bases[static_cast<size_t>(i)] << " ^ " << y << ": " << got << ", and not " << rounded;
        if (rounded == 0) {
          EXPECT_EQ(std::signbit(got), std::signbit(rounded)) << bases[static_cast<size_t>(i)] << " ^ " << y;
        }
      }
    }
}

TEST(Math, ExpReachesTheLeastDenormalNumber) {
  std::vector<float> at;
  for (float x = -104.5f; x < -86; x += 0.01f) at.push_back(x);
  const std::vector<float> got = evaluate(vector_exp, at);
  for (size_t i = 0; i < at.size(); ++i) {
    const double want = std::exp(static_cast<double>(at[i]));
    EXPECT_NEAR(got[i], want, 4e-7 * want + 0.75 * 0x1p-149) << at[i];
  }
}

// All NaNs are propagated, whatever their sign and payload.
TEST(Math, NanWithPayload) {
  std::vector<float> nans;
  for (const uint32_t bits : {0x7fc00001u, 0xffc12345u, 0x7fffffffu, 0xff800001u}) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    nans.push_back(value);
  }
  for (MathFunction f : {vector_exp, vector_sigmoid, vector_tanh, vector_erf, vector_log, vector_log2})
    for (const float got : evaluate(f, nans)) EXPECT_TRUE(std::isnan(got));
}

// exp reaches the largest number; 1 + exp(-x) overflows to a sigmoid of 0, without a step before it.
TEST(Math, EndsOfTheRange) {
  const std::vector<float> large = evaluate(vector_exp, {88.7f, 88.72f, 88.73f, 89.5f, -86.9f, -88.0f});
  const auto exact = [](float x) { return std::exp(static_cast<double>(x)); };
  EXPECT_NEAR(large[0] / exact(88.7f), 1, 4e-7);
  EXPECT_NEAR(large[1] / exact(88.72f), 1, 4e-7);
  EXPECT_EQ(large[2], INFINITY);
  EXPECT_EQ(large[3], INFINITY);
  EXPECT_NEAR(large[4] / exact(-86.9f), 1, 4e-7);
  EXPECT_NEAR(large[5] / exact(-88.0f), 1, 4e-7);
  const std::vector<float> small = evaluate(vector_sigmoid, {-86.5f, -88.5f, -90.0f, 40.0f, 87.0f, 88.0f});
  EXPECT_NEAR(small[0] / exact(-86.5f), 1, 5e-7);
  for (int i : {1, 2}) EXPECT_LE(small[i], 4e-39f);
  for (int i : {3, 4, 5}) EXPECT_EQ(small[i], 1.0f);
}

TEST(Math, InfinitiesAndNan) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (MathFunction f : {MathFunction(vector_tanh), MathFunction(vector_erf)}) {
    const std::vector<float> got = evaluate(f, {inf, -inf, nan, 0.0f});
    EXPECT_EQ(got[0], 1.0f);
    EXPECT_EQ(got[1], -1.0f);
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_EQ(got[3], 0.0f);
  }
  for (MathFunction f : {MathFunction(vector_exp), MathFunction(vector_sigmoid)}) {
    const std::vector<float> got = evaluate(f, {inf, -inf, nan, 0.0f, -200.0f});
    EXPECT_EQ(got[0], f == MathFunction(vector_exp) ? inf : 1.0f);
    EXPECT_EQ(got[1], 0.0f);
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_EQ(got[3], f == MathFunction(vector_exp) ? 1.0f : 0.5f);
    EXPECT_EQ(got[4], 0.0f);
  }
}

}  // namespace
}  // namespace baton
