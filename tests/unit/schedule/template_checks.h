#pragma once
// Checks of templates: against the trivial schedule of the same computes, with the default parameters and
// with those that the tuner may try. Inputs and output end, or begin, at a page that may not be touched.
#include <cmath>
#include <cstdio>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "codegen/fuzz/guarded_memory.h"
#include "schedule/kernel_builder.h"

namespace baton::test {

using Shape = std::vector<int64_t>;

inline std::vector<float> run(LoweredKernel& kernel, bool at_end) {
  const Halide::Callable callable = compile(kernel);
  const fuzz::GuardAt at = at_end ? fuzz::GuardAt::kEnd : fuzz::GuardAt::kBegin;
  std::vector<NDArray> memory;
  std::vector<Halide::Runtime::Buffer<float>> buffers;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Halide::ImageParam& input : kernel.inputs) {
    memory.push_back(fuzz::guarded_array(input_shape(input), DType::float_(32), at));
    for (float& value : memory.back().as<float>()) value = uniform(random);
    fuzz::protect(memory.back());
  }
  memory.push_back(fuzz::guarded_array(kernel.outputs.front().shape(), DType::float_(32), at));  // NaNs
  for (NDArray& each : memory) buffers.push_back(view(each.as<float>().data(), each.shape()));
  EXPECT_EQ(call(callable, buffers), 0);
  EXPECT_TRUE(fuzz::is_intact(memory.back()));
  const std::span<const float> values = memory.back().as<float>();
  return {values.begin(), values.end()};
}

inline void expect_near(const std::vector<float>& got, const std::vector<float>& want, double tolerance,
                        const std::string& what) {
  double largest = 0, worst = 0;
  for (float x : want) largest = std::max<double>(largest, std::fabs(x));
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(double(got[i]) - want[i]);
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
  }
  EXPECT_LE(worst, tolerance * largest) << what << ": largest value " << largest;
}

inline std::string text(const ScheduleParams& params) {
  std::string all;
  for (const auto& [name, value] : params) all += name + "=" + std::to_string(value) + " ";
  return all;
}

inline DeviceSheet sheet() { return DeviceSheet::host(); }

inline const ScheduleTemplate& named(const std::string& name) {
  for (const ScheduleTemplate* t : schedule_templates())
    if (name == t->name) return *t;
  throw std::runtime_error("no template " + name);
}

/// Compares the template that takes the kernel, which must be `name`, with the trivial schedule of
/// `reference` (or of the same kernel).
inline void compare(const std::string& name, const MakeKernel& make, double tolerance, size_t tries,
                    const MakeKernel& reference) {
  LoweredKernel plain = reference ? reference() : make();
  named("trivial").apply(plain, {}, sheet());
  const std::vector<float> want = run(plain, true);
  LoweredKernel probe = make();
  const ScheduleTemplate& found = find_template(probe, sheet());
  ASSERT_EQ(found.name, name) << named(name).refuses(probe, sheet());
  std::vector<ScheduleParams> all{found.default_params(probe, sheet())};
  const std::vector<ScheduleParams> others = found.candidates(probe, sheet());
  EXPECT_NE(std::find(others.begin(), others.end(), all.front()), others.end());
  for (size_t i = 1; i <= tries && others.size() > 1; ++i) all.push_back(others[(i * 7919) % others.size()]);
  for (size_t i = 0; i < all.size(); ++i) {
    LoweredKernel kernel = make();
    found.apply(kernel, all[i], sheet());
    expect_near(run(kernel, i % 2 == 0), want, tolerance, name + " " + text(all[i]));
  }
}

inline void check(const std::string& name, const MakeKernel& make, double tolerance = 3e-6, size_t tries = 1,
                  const MakeKernel& reference = {}) {
  with_halide_errors([&] { compare(name, make, tolerance, tries, reference); });
}

/// bias, batch norm, residual and relu behind `x`, whose shape is N, C, H, W, c.
inline Value epilogue(KernelBuilder& b, Value x, const std::string& kind) {
  const Shape shape = x.tensor.shape();
  const Shape channels = {1, shape[1], 1, 1, shape[4]};
  for (char op : kind) {
    if (op == 'b') x = b.call("add", {x, b.input(channels)}, {}, shape);
    if (op == 's') x = b.call("multiply", {x, b.input(channels)}, {}, shape);
    if (op == 'r') x = b.call("add", {x, b.input(shape)}, {}, shape);
    if (op == 'm') x = b.call("nn.relu", {x}, {}, shape);
    if (op == 'g') x = b.call("sigmoid", {x}, {}, shape);
  }
  return x;
}

}  // namespace baton::test
