// Every template against the trivial schedule of the same computes, with the default parameters and with
// those that the tuner may try. Inputs and output end, or begin, at a page that may not be touched.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <span>

// clang-format off
#include <Halide.h>  // first: names of its enumerators are macros of <elf.h>
#include <elf.h>
// clang-format on
#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/ops/shared/conv_attrs.h"
#include "baton/schedule/transposed_reads.h"

#include "codegen/fuzz/guarded_memory.h"
#include "schedule/kernel_builder.h"

namespace baton {
namespace {

using test::KernelBuilder;
using test::MakeKernel;
using test::op_attrs;
using test::Value;
using Shape = std::vector<int64_t>;

std::vector<float> run(LoweredKernel& kernel, bool at_end) {
  const Halide::Callable callable = test::compile(kernel);
  const fuzz::GuardAt at = at_end ? fuzz::GuardAt::kEnd : fuzz::GuardAt::kBegin;
  std::vector<NDArray> memory;
  std::vector<Halide::Runtime::Buffer<float>> buffers;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Halide::ImageParam& input : kernel.inputs) {
    memory.push_back(fuzz::guarded_array(test::input_shape(input), DType::float_(32), at));
    for (float& value : memory.back().as<float>()) value = uniform(random);
    fuzz::protect(memory.back());
  }
  memory.push_back(fuzz::guarded_array(kernel.outputs.front().shape(), DType::float_(32), at));  // NaNs
  for (NDArray& each : memory) buffers.push_back(test::view(each.as<float>().data(), each.shape()));
  EXPECT_EQ(test::call(callable, buffers), 0);
  EXPECT_TRUE(fuzz::is_intact(memory.back()));
  const std::span<const float> values = memory.back().as<float>();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want, double tolerance,
                 const std::string& what) {
  double largest = 0, worst = 0;
  for (float x : want) largest = std::max<double>(largest, std::fabs(x));
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(double(got[i]) - want[i]);
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
  }
  EXPECT_LE(worst, tolerance * largest) << what << ": largest value " << largest;
}

std::string text(const ScheduleParams& params) {
  std::string all;
  for (const auto& [name, value] : params) all += name + "=" + std::to_string(value) + " ";
  return all;
}

DeviceSheet sheet() { return DeviceSheet::host(); }

const ScheduleTemplate& named(const std::string& name) {
  for (const ScheduleTemplate* t : schedule_templates())
    if (name == t->name) return *t;
  throw std::runtime_error("no template " + name);
}

/// Compares the template that takes the kernel, which must be `name`, with the trivial schedule of
/// `reference` (or of the same kernel).
void compare(const std::string& name, const MakeKernel& make, double tolerance, size_t tries,
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

void check(const std::string& name, const MakeKernel& make, double tolerance = 3e-6, size_t tries = 1,
           const MakeKernel& reference = {}) {
  test::with_halide_errors([&] { compare(name, make, tolerance, tries, reference); });
}

/// bias, batch norm, residual and relu behind `x`, whose shape is N, C, H, W, c.
Value epilogue(KernelBuilder& b, Value x, const std::string& kind) {
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

struct ConvCase {
  int64_t n, c, h, w, o, kernel, stride;
  std::vector<int64_t> pad;
  int64_t in_block, out_block;
  std::string ops;  ///< of the epilogue
  int64_t dilation = 1;
  bool relu_before = false;
};

std::string block(const char* layout, int64_t in, int64_t out) {
  std::string text = layout;
  for (const auto& [mark, value] : {std::pair{"#", in}, {"@", out}})
    if (const size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, 1, std::to_string(value));
  return text;
}

int64_t out_extent(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  return (in + pads - ((kernel - 1) * dilation + 1)) / stride + 1;
}

Conv2DAttrs attrs_of(const ConvCase& t) {
  Conv2DAttrs a;
  a.strides = {t.stride, t.stride}, a.dilation = {t.dilation, t.dilation};
  a.padding = t.pad, a.channels = t.o, a.kernel_size = std::vector<int64_t>{t.kernel, t.kernel};
  a.data_layout = block("NCHW#c", t.in_block, 0), a.out_layout = block("NCHW#c", t.out_block, 0);
  a.kernel_layout = block("OIHW#i@o", t.in_block, t.out_block);
  return a;
}

Shape out_shape(const ConvCase& t) {
  const Padding2D p = *padding_2d(t.pad);
  return {t.n, t.o / t.out_block, out_extent(t.h, p.height(), t.kernel, t.dilation, t.stride),
          out_extent(t.w, p.width(), t.kernel, t.dilation, t.stride), t.out_block};
}

LoweredKernel conv(const ConvCase& t) {
  KernelBuilder b("conv");
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight =
      b.input({t.o / t.out_block, t.c / t.in_block, t.kernel, t.kernel, t.in_block, t.out_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  return b.finish(epilogue(
      b, b.call("nn.contrib_conv2d_NCHWc", {x, weight}, make_attrs(attrs_of(t)), out_shape(t)), t.ops));
}

LoweredKernel depthwise(const ConvCase& t) {
  KernelBuilder b("dwconv");
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight = b.input({t.c / t.in_block, 1, t.kernel, t.kernel, 1, t.in_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  Conv2DAttrs a = attrs_of(t);
  a.groups = t.c;
  a.kernel_layout = block("OIHW1i@o", 0, t.in_block);
  return b.finish(epilogue(
      b, b.call("nn.contrib_depthwise_conv2d_NCHWc", {x, weight}, make_attrs(a), out_shape(t)), t.ops));
}

TEST(ConvDirect, ShapesPaddingsAndEpilogues) {
  const std::vector<ConvCase> cases = {
      {1, 3, 23, 23, 32, 7, 2, {3, 3}, 3, 16, "bm"},
      {1, 32, 14, 14, 32, 3, 1, {1, 1}, 16, 16, ""},
      {1, 16, 7, 7, 64, 3, 1, {1, 1, 1, 1}, 16, 16, "srm"},
      {2, 16, 9, 5, 48, 3, 2, {0, 1, 2, 0}, 16, 16, "b"},
      {1, 32, 8, 8, 16, 1, 1, {0, 0}, 16, 16, "rm"},
      {1, 24, 1, 3, 8, 1, 2, {0, 0}, 8, 8, "m"},
      {1, 12, 6, 30, 20, 3, 1, {1, 1}, 12, 10, "sbm"},
      {1, 16, 11, 11, 16, 3, 1, {2, 2}, 16, 16, "bg", 2},
      {1, 16, 10, 10, 16, 3, 1, {1, 1}, 16, 16, "m", 1, true},
      {1, 16, 6, 6, 16, 1, 1, {0, 0}, 16, 16, "m", 1, true},
      {1, 5, 4, 4, 7, 3, 1, {1, 1}, 5, 7, "b"},
      {1, 16, 1, 1, 16, 3, 1, {1, 1}, 16, 16, ""},
      {1, 34, 3, 3, 2, 1, 1, {0, 0}, 2, 2, "m"},
      {3, 16, 20, 29, 16, 5, 3, {2, 2}, 16, 16, "r"},
  };
  for (const ConvCase& t : cases) {
    SCOPED_TRACE(std::to_string(t.c) + "->" + std::to_string(t.o) + " " + std::to_string(t.h) + "x" +
                 std::to_string(t.w) + " kernel " + std::to_string(t.kernel) + " " + t.ops);
    check("conv_direct", [&] { return conv(t); });
  }
}

TEST(ConvDepthwise, ShapesPaddingsAndEpilogues) {
  const std::vector<ConvCase> cases = {
      {1, 32, 14, 14, 32, 3, 1, {1, 1}, 16, 16, "sbm"}, {1, 32, 15, 13, 32, 3, 2, {1, 1}, 16, 16, "b"},
      {1, 16, 7, 7, 16, 3, 1, {0, 0}, 16, 16, "m"},     {2, 16, 9, 9, 16, 5, 1, {2, 2}, 16, 16, ""},
      {1, 12, 5, 2, 12, 3, 1, {1, 1}, 12, 12, "r"},     {1, 8, 8, 8, 8, 3, 1, {2, 2}, 8, 8, "m", 2},
      {1, 8, 9, 15, 8, 5, 1, {2, 2}, 8, 8, "g"},        {1, 8, 10, 23, 8, 3, 2, {0, 0, 1, 1}, 8, 8, "bg"},
      {1, 8, 7, 30, 8, 3, 1, {1, 0, 2, 0}, 8, 8, "b"},  {1, 8, 6, 9, 8, 3, 1, {0, 1, 0, 2}, 8, 8, "b"},
      {1, 8, 2, 2, 8, 5, 1, {2, 2}, 8, 8, ""},          {1, 8, 1, 1, 8, 5, 1, {2, 2}, 8, 8, "m"},
      {2, 8, 13, 17, 8, 5, 3, {2, 2}, 8, 8, "sr"},      {1, 8, 16, 33, 8, 7, 1, {3, 3}, 8, 8, "m"},
      {1, 8, 9, 20, 8, 3, 1, {4, 4}, 8, 8, "", 2},      {1, 8, 12, 12, 8, 3, 1, {1, 1}, 8, 8, "m", 1, true},
  };
  for (const ConvCase& t : cases) {
    SCOPED_TRACE(std::to_string(t.c) + " " + std::to_string(t.h) + "x" + std::to_string(t.w) + " " + t.ops);
    check("conv_depthwise", [&] { return depthwise(t); }, 3e-6, 4);
  }
}

// Padding the data takes as long as a third of the sums, or more: only where they are computed in the kernel,
// or where a row has too few sums to hide the latency of additions, they are copied.
TEST(ConvDepthwise, PaddedDataAreReadInPlace) {
  const auto copies = [](const ConvCase& t) {
    return named("conv_depthwise").default_params(depthwise(t), sheet()).at("copy");
  };
  for (const int64_t extent : {14, 28, 56, 112, 15})
    for (const int64_t kernel : {3, 5})
      for (const int64_t stride : {1, 2})
        EXPECT_EQ(copies({1, 8, extent, extent, 8, kernel, stride, {kernel / 2, kernel / 2}, 8, 8, "b"}), 0);
  EXPECT_EQ(copies({1, 8, 7, 7, 8, 5, 1, {2, 2}, 8, 8, "b"}), 0);
  EXPECT_EQ(copies({1, 8, 14, 14, 8, 3, 1, {1, 1}, 8, 8, "b", 1, true}), 1);
  EXPECT_EQ(copies({1, 8, 8, 2, 8, 3, 1, {1, 1}, 8, 8, "b"}), 1);
  EXPECT_EQ(copies({1, 8, 14, 14, 8, 3, 1, {0, 0}, 8, 8, "b"}), 0);
}

/// Winograd with weights that are transformed in the test, and the direct convolution with the same ones.
/// `direct` makes the reference from the same inputs: data, the plain weight OIHW, then those of the
/// epilogue.
LoweredKernel winograd(const ConvCase& t, int tile) {
  KernelBuilder b("wino");
  const int64_t a = tile + 2;
  Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
  const Value weight = b.input({a, a, t.o / t.out_block, t.c / t.in_block, t.in_block, t.out_block});
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, x.tensor.shape());
  const std::string op = "nn.contrib_conv2d_winograd_without_weight_transform";
  const Attrs attrs = op_attrs(op, {{"tile_size", tile},
                                    {"padding", t.pad},
                                    {"channels", t.o},
                                    {"kernel_size", std::vector<int64_t>{3, 3}},
                                    {"data_layout", block("NCHW#c", t.in_block, 0)},
                                    {"kernel_layout", block("HWOI#i@o", t.in_block, t.out_block)},
                                    {"out_layout", block("NCHW#c", t.out_block, 0)}});
  const Value y = b.call(op, {x, weight}, attrs, out_shape(t));
  return b.finish(epilogue(b, y, t.ops));
}

TEST(ConvWinograd, ShapesPaddingsAndEpilogues) {
  const std::vector<ConvCase> cases = {
      {1, 16, 14, 14, 16, 3, 1, {1, 1}, 16, 16, "bm"},
      {1, 32, 7, 7, 48, 3, 1, {1, 1}, 16, 16, ""},
      {2, 16, 9, 6, 32, 3, 1, {0, 0}, 16, 16, "srm"},
      {1, 16, 28, 57, 16, 3, 1, {1, 1}, 16, 16, "b"},
      {1, 8, 5, 3, 12, 3, 1, {2, 1, 0, 1}, 8, 12, "rm"},
      {1, 16, 6, 6, 16, 3, 1, {1, 1}, 16, 16, "m", 1, true},
      {1, 16, 1, 1, 16, 3, 1, {1, 1}, 16, 16, "m"},
      {1, 16, 8, 8, 16, 3, 1, {0, 0}, 16, 16, "m", 1, true},
  };
  for (const ConvCase& t : cases)
    for (int tile : {2, 4}) {
      SCOPED_TRACE(std::to_string(t.c) + "->" + std::to_string(t.o) + " " + std::to_string(t.h) + "x" +
                   std::to_string(t.w) + " F(" + std::to_string(tile) + ",3) " + t.ops);
      check("conv_winograd", [&] { return winograd(t, tile); }, 1e-5, 1);
    }
}

TEST(ConvWinograd, LargeMapsGoByRowsAndLargeWeightsByChannels) {
  DeviceSheet small = sheet();
  small.l2_bytes = 32 << 10, small.l3_bytes = 256 << 10;
  const ConvCase t{1, 32, 24, 24, 64, 3, 1, {1, 1}, 16, 16, "bm"};
  const LoweredKernel kernel = winograd(t, 4);
  EXPECT_EQ(named("conv_winograd").default_params(kernel, small).at("by_channels"), 0);
  DeviceSheet large = sheet();
  large.l2_bytes = 4 << 20, large.l3_bytes = 64 << 20;
  EXPECT_EQ(named("conv_winograd").default_params(kernel, large).at("by_channels"), 1);
  LoweredKernel plain = winograd(t, 4), rows = winograd(t, 4), channels = winograd(t, 4);
  named("trivial").apply(plain, {}, sheet());
  named("conv_winograd").apply(rows, named("conv_winograd").default_params(rows, small), sheet());
  named("conv_winograd").apply(channels, named("conv_winograd").default_params(channels, large), sheet());
  const std::vector<float> want = run(plain, true);
  expect_near(run(rows, true), want, 1e-5, "by rows");
  expect_near(run(channels, true), want, 1e-5, "by channels");
}

/// Kernels of other extents; along an axis of one tap the weight is as given.
TEST(ConvWinograd, OtherKernels) {
  const std::string op = "nn.contrib_conv2d_winograd_without_weight_transform";
  for (const auto& [rows, columns, tile] : {std::tuple<int64_t, int64_t, int64_t>{1, 7, 4},
                                            {7, 1, 4},
                                            {1, 3, 2},
                                            {3, 1, 4},
                                            {5, 5, 2},
                                            {2, 2, 4},
                                            {2, 3, 2},
                                            {4, 1, 2}})
    for (const bool large : {false, true}) {
      const int64_t height = large ? 30 : 9, width = large ? 41 : 10;
      const auto transformed = [&, m = tile](int64_t taps) { return taps == 1 ? 1 : m + taps - 1; };
      const auto make = [&, r = rows, s = columns, m = tile] {
        KernelBuilder b("wino");
        const Value x = b.input({1, 3, height, width, 8}),
                    weight = b.input({transformed(r), transformed(s), 2, 3, 8, 8});
        const Attrs attrs = op_attrs(op, {{"tile_size", m},
                                          {"padding", std::vector<int64_t>{r / 2, s / 2}},
                                          {"channels", 16},
                                          {"kernel_size", std::vector<int64_t>{r, s}},
                                          {"data_layout", "NCHW8c"},
                                          {"kernel_layout", "HWOI8i8o"},
                                          {"out_layout", "NCHW8c"}});
        const Shape out{1, 2, height + 2 * (r / 2) - r + 1, width + 2 * (s / 2) - s + 1, 8};
        return b.finish(b.call("nn.relu", {b.call(op, {x, weight}, attrs, out)}, {}, out));
      };
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns) + " m=" + std::to_string(tile));
      check("conv_winograd", make, 1e-5, 1);
    }
}

/// The whole algorithm in one kernel, weight transform included, next to the convolution that it stands for.
TEST(ConvWinograd, IsAConvolution) {
  struct Case {
    int64_t rows, columns, tile;
    bool skip_unit_axes;
    double error;
  };
  for (const Case& t : std::vector<Case>{{3, 3, 2, false, 1e-6},
                                         {3, 3, 4, false, 1e-5},
                                         {5, 5, 2, false, 1e-5},
                                         {2, 2, 4, false, 1e-5},
                                         {3, 2, 4, true, 1e-5},
                                         {7, 1, 4, true, 2e-5},
                                         {1, 7, 4, true, 2e-5},
                                         {1, 4, 2, true, 1e-6}}) {
    const auto transformed = [&](int64_t taps) {
      return taps == 1 && t.skip_unit_axes ? 1 : t.tile + taps - 1;
    };
    const Shape out{1, 24, 13 + 2 * (t.rows / 2) - t.rows + 1, 11 + 2 * (t.columns / 2) - t.columns + 1};
    const std::vector<int64_t> padding{t.rows / 2, t.columns / 2};
    auto make = [&](bool fast) {
      KernelBuilder b("whole");
      const Value x = b.input({1, 20, 13, 11}), weight = b.input({24, 20, t.rows, t.columns});
      if (!fast) {
        Conv2DAttrs plain;
        plain.padding = padding;
        return b.finish(b.call("nn.conv2d", {x, weight}, make_attrs(plain), out));
      }
      const std::string transform = "nn.contrib_conv2d_winograd_weight_transform",
                        op = "nn.contrib_conv2d_winograd_without_weight_transform";
      const Value u =
          b.call(transform, {weight},
                 op_attrs(transform, {{"tile_size", t.tile}, {"skip_unit_axes", t.skip_unit_axes}}),
                 {transformed(t.rows), transformed(t.columns), 24, 20});
      const Attrs attrs = op_attrs(op, {{"tile_size", t.tile},
                                        {"padding", padding},
                                        {"channels", 24},
                                        {"kernel_size", std::vector<int64_t>{t.rows, t.columns}}});
      return b.finish(b.call(op, {x, u}, attrs, out));
    };
    LoweredKernel fast = make(true), plain = make(false);
    named("trivial").apply(fast, {}, sheet());
    named("trivial").apply(plain, {}, sheet());
    expect_near(
        run(fast, true), run(plain, true), t.error,
        "F(" + std::to_string(t.tile) + "," + std::to_string(t.rows) + "x" + std::to_string(t.columns) + ")");
  }
}

/// The packed computes mean the same as nn.conv2d does on the same layouts.
TEST(ConvDirect, PackedComputeIsTheGenericOne) {
  for (const ConvCase& t : std::vector<ConvCase>{{1, 12, 9, 7, 20, 3, 2, {1, 0, 2, 1}, 4, 10, ""},
                                                 {2, 8, 6, 6, 8, 3, 1, {2, 2}, 8, 4, "", 2}}) {
    auto generic = [&] {
      KernelBuilder b("generic");
      const Value x = b.input({t.n, t.c / t.in_block, t.h, t.w, t.in_block});
      const Value weight =
          b.input({t.o / t.out_block, t.c / t.in_block, t.kernel, t.kernel, t.in_block, t.out_block});
      return b.finish(b.call("nn.conv2d", {x, weight}, make_attrs(attrs_of(t)), out_shape(t)));
    };
    check("conv_direct", [&] { return conv(t); }, 1e-6, 0, generic);
  }
}

struct PlainCase {
  int64_t n, c, h, w, o, kernel, stride;
  std::vector<int64_t> pad;
  int64_t groups;
  bool epilogue;
};

// One channel per group: other convolutions on plain layouts are summed by positions.
TEST(ConvPlain, ShapesAndPaddings) {
  for (const PlainCase& t : std::vector<PlainCase>{{1, 8, 5, 40, 8, 3, 1, {1, 1}, 8, true},
                                                   {2, 5, 9, 9, 5, 3, 2, {0, 1, 2, 0}, 5, false},
                                                   {1, 3, 1, 1, 3, 1, 1, {0, 0}, 3, true}}) {
    SCOPED_TRACE(std::to_string(t.c) + "->" + std::to_string(t.o) + " " + std::to_string(t.h) + "x" +
                 std::to_string(t.w));
    auto make = [&](bool relu) {
      KernelBuilder b("plain");
      Conv2DAttrs attrs;
      attrs.strides = {t.stride, t.stride}, attrs.padding = t.pad, attrs.groups = t.groups;
      const Padding2D p = *padding_2d(t.pad);
      const Shape out = {t.n, t.o, out_extent(t.h, p.height(), t.kernel, 1, t.stride),
                         out_extent(t.w, p.width(), t.kernel, 1, t.stride)};
      Value y = b.call("nn.conv2d",
                       {b.input({t.n, t.c, t.h, t.w}), b.input({t.o, t.c / t.groups, t.kernel, t.kernel})},
                       make_attrs(attrs), out);
      if (relu) y = b.call("nn.relu", {b.call("add", {y, b.input({t.o, 1, 1})}, {}, out)}, {}, out);
      return b.finish(y);
    };
    check("conv_plain", [&] { return make(t.epilogue); });
  }
}

struct PositionsCase {
  int64_t n, c, o;
  Shape in, kernel, stride, pad;  ///< of the spatial axes; padding: all befores, then all afters
  int64_t groups = 1, dilation = 1;
  bool epilogue = false, relu_before = false;
  bool joined = false;  ///< the rows of the result are one
};

/// With its weight in blocks of one channel the convolution is summed as it is defined.
LoweredKernel by_positions(const PositionsCase& t, bool as_defined) {
  const size_t count = t.in.size();
  const std::string op = "nn.conv" + std::to_string(count) + "d",
                    spatial = std::string("DHW").substr(3 - count);
  KernelBuilder b("positions");
  Shape x{t.n, t.c}, y{t.n, t.o}, weight{t.o, t.c / t.groups}, channels{t.o};
  for (size_t k = 0; k < count; ++k) {
    x.push_back(t.in[k]), weight.push_back(t.kernel[k]), channels.push_back(1);
    y.push_back(out_extent(t.in[k], t.pad[k] + t.pad[count + k], t.kernel[k], t.dilation, t.stride[k]));
  }
  if (as_defined) weight.push_back(1);
  if (t.joined && !as_defined) y = {t.n, t.o, 1, y[2] * y[3]};
  Value value = b.input(x);
  const Value weights = b.input(weight);
  if (t.relu_before) value = b.call("nn.relu", {value}, {}, x);
  value = b.call(op, {value, weights},
                 op_attrs(op, {{"strides", t.stride},
                               {"padding", t.pad},
                               {"dilation", Shape(count, t.dilation)},
                               {"groups", t.groups},
                               {"channels", t.o},
                               {"kernel_size", t.kernel},
                               {"kernel_layout", "OI" + spatial + (as_defined ? "1i" : "")}}),
                 y);
  if (t.epilogue) value = b.call("nn.relu", {b.call("add", {value, b.input(channels)}, {}, y)}, {}, y);
  return b.finish(value);
}

TEST(ConvPositions, OddExtentsStridesDilationsAndGroups) {
  const std::vector<PositionsCase> cases = {
      {1, 3, 16, {23, 23}, {7, 7}, {2, 2}, {3, 3, 3, 3}, 1, 1, true},
      {2, 8, 12, {7, 7}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      {1, 8, 12, {9, 9}, {3, 3}, {1, 1}, {0, 1, 2, 0}, 4},
      {1, 5, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, 1, true},
      {1, 13, 41, {11, 5}, {5, 3}, {1, 1}, {2, 1, 2, 1}, 1, 1, true},
      {1, 37, 7, {10, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 1, 2},
      {1, 6, 9, {9, 14}, {3, 5}, {3, 2}, {0, 3, 1, 0}, 3, 1, true},
      {1, 4, 5, {12, 12}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 1, 3},
      {1, 4, 2, {8, 8}, {3, 3}, {3, 3}, {0, 0, 0, 0}, 2},
      {2, 19, 1, {30, 33}, {1, 3}, {1, 1}, {0, 1, 0, 1}},
      {1, 40, 23, {6, 50}, {1, 1}, {2, 2}, {0, 0, 0, 0}, 1, 1, true},
      {1, 9, 6, {4, 9}, {1, 1}, {2, 2}, {1, 0, 1, 0}},
      {1, 21, 11, {40, 3}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, 1, true, true},
      {1, 8, 8, {1, 1}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      {1, 16, 64, {12, 64}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      // one tap, rows joined to one: with and without a copy of the data
      {2, 33, 29, {1, 77}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, 1, true},
      {1, 12, 10, {1, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 2, 1, true, true},
      {1, 66, 92, {1, 1000}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 2, 1, false, true},
      // the same with strides: the data keep their rows
      {1, 40, 23, {6, 50}, {1, 1}, {2, 2}, {0, 0, 0, 0}, 1, 1, true, false, true},
      {2, 9, 5, {7, 9}, {1, 1}, {3, 2}, {0, 0, 0, 0}, 1, 1, false, false, true},
      {1, 12, 20, {9, 70}, {1, 1}, {1, 2}, {0, 0, 0, 0}, 2, 1, true, true, true},
      // one and three axes
      {2, 7, 10, {51}, {5}, {1}, {2, 2}, 1, 1, true},
      {1, 6, 4, {40}, {3}, {2}, {1, 0}, 2, 2},
      {1, 24, 20, {64}, {1}, {1}, {0, 0}},
      {1, 5, 6, {4, 5, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 1, 1, true},
      {2, 4, 6, {5, 6, 9}, {2, 3, 1}, {2, 1, 2}, {0, 1, 0, 1, 1, 0}, 2},
  };
  for (const PositionsCase& t : cases) {
    SCOPED_TRACE(std::to_string(&t - cases.data()) + ": " + std::to_string(t.c) + "->" + std::to_string(t.o) +
                 " width " + std::to_string(t.in.back()) + " kernel " + std::to_string(t.kernel.back()));
    check(
        "conv_positions", [&] { return by_positions(t, false); }, 3e-6, 2,
        [&] { return by_positions(t, true); });
  }
}

struct DenseCase {
  int64_t m, k, n, block;
  bool epilogue;
};

LoweredKernel dense(const DenseCase& t, bool packed) {
  KernelBuilder b("dense");
  const Value x = b.input({t.m, t.k});
  const Value weight = packed ? b.input({(t.n + t.block - 1) / t.block, t.k, t.block}) : b.input({t.n, t.k});
  const std::string op = packed ? "nn.contrib_dense_pack" : "nn.dense";
  Value y = b.call(op, {x, weight}, op_attrs(op, {{"units", t.n}}), {t.m, t.n});
  if (t.epilogue) {
    y = b.call("add", {y, b.input({1, t.n})}, {}, {t.m, t.n});
    y = b.call("nn.relu", {y}, {}, {t.m, t.n});
  }
  return b.finish(y);
}

TEST(Gemm, ShapesAndEpilogues) {
  for (const DenseCase& t : std::vector<DenseCase>{{1, 100, 64, 16, true},
                                                   {1, 33, 1000, 8, false},
                                                   {5, 17, 48, 16, true},
                                                   {29, 64, 96, 16, false},
                                                   {3, 1, 7, 7, true},
                                                   {64, 40, 10, 10, true},
                                                   {1, 7, 3, 1, false},
                                                   // No tile divides the blocks; the last block is part full.
                                                   {1, 9, 101, 8, true},
                                                   {33, 44, 389, 8, true},
                                                   {6, 5, 13, 16, false},
                                                   {40, 3, 8 * 23, 8, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("gemm", [&] { return dense(t, true); });
  }
}

/// Weights from memory: the next panel is fetched while one is used.
TEST(Gemm, FetchesTheNextPanel) {
  DeviceSheet small = sheet();
  small.float_lanes = 8, small.vector_registers = 16, small.l2_bytes = 1 << 12;
  for (const DenseCase& t :
       std::vector<DenseCase>{{128, 64, 96, 8, true}, {130, 18, 203, 8, false}, {66, 33, 80, 16, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    const ScheduleParams params = named("gemm").default_params(dense(t, true), small);
    EXPECT_EQ(params.at("stream"), 1) << text(params);
    test::with_halide_errors([&] {
      LoweredKernel plain = dense(t, true), ahead = dense(t, true);
      named("trivial").apply(plain, {}, small);
      named("gemm").apply(ahead, params, small);
      ASSERT_EQ(ahead.streams.size(), 1u);
      expect_near(run(ahead, true), run(plain, true), 3e-6, "fetched ahead");
    });
  }
  EXPECT_EQ(named("gemm").default_params(dense({16, 64, 96, 8, true}, true), small).at("stream"), 0)
      << "each of the few tiles would have to fetch much";
}

/// Rows that lie a multiple of 4096 bytes apart: at most 8 of them per tile, or a copy whose rows lie further
/// apart.
TEST(Gemm, RowsThatConflictInTheCache) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.vector_registers = 32, wide.l1_bytes = 32 << 10;
  for (const int64_t depth : {1024, 2048, 3072, 4096})
    for (const int64_t rows : {8, 16, 26, 100, 128, 1000}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of depth " + std::to_string(depth));
      const ScheduleParams params =
          named("gemm").default_params(dense({rows, depth, 768, 16, true}, true), wide);
      EXPECT_TRUE(params.at("copy_rows") || params.at("tile_m") <= 8) << text(params);
    }
  EXPECT_GT(named("gemm").default_params(dense({128, 3088, 768, 16, true}, true), wide).at("tile_m"), 8);
  check("gemm", [] { return dense({21, 1024, 32, 8, true}, true); });
  const MakeKernel make = [] { return dense({21, 1024, 32, 8, true}, true); };
  test::with_halide_errors([&] {
    LoweredKernel plain = make(), copied = make();
    named("trivial").apply(plain, {}, sheet());
    named("gemm").apply(
        copied, {{"tile_m", 10}, {"tile_n", 1}, {"unroll", 1}, {"copy_rows", 1}, {"stream", 0}}, sheet());
    expect_near(run(copied, true), run(plain, true), 3e-6, "rows copied");
  });
}

struct MatmulCase {
  int64_t left, right, m, k, n;  ///< the batches of both, then the extents
  std::string ops;
};

LoweredKernel batch_matmul(const MatmulCase& t, bool transpose_a, bool transpose_b) {
  KernelBuilder b("matmul");
  const Shape shape{std::max(t.left, t.right), t.m, t.n};
  const Value x = b.input(transpose_a ? Shape{t.left, t.k, t.m} : Shape{t.left, t.m, t.k});
  const Value w = b.input(transpose_b ? Shape{t.right, t.n, t.k} : Shape{t.right, t.k, t.n});
  Value y = b.call("nn.batch_matmul", {x, w},
                   op_attrs("nn.batch_matmul", {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}),
                   shape);
  if (t.ops == "epilogue") {
    y = b.call("add", {y, b.input({t.n})}, {}, shape);
    y = b.call("nn.relu", {b.call("multiply", {y, b.input({})}, {}, shape)}, {}, shape);
  }
  return b.finish(y);
}

TEST(Matmul, BatchesTransposedAndBroadcast) {
  for (const MatmulCase& t : std::vector<MatmulCase>{{12, 12, 17, 64, 40, "epilogue"},
                                                     {3, 3, 128, 20, 33, ""},
                                                     {1, 5, 9, 17, 24, "epilogue"},
                                                     {5, 1, 9, 17, 64, ""},
                                                     {4, 1, 30, 3, 8, "epilogue"},
                                                     {1, 1, 50, 31, 100, ""},
                                                     {200, 200, 4, 4, 4, "epilogue"},
                                                     {2, 2, 1, 17, 3, ""},
                                                     {7, 7, 3, 1, 1, "epilogue"},
                                                     {2, 2, 20, 1024, 17, ""},
                                                     {1, 1, 1, 1, 1, ""}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(std::to_string(t.left) + ", " + std::to_string(t.right) + " x " + std::to_string(t.m) +
                     "x" + std::to_string(t.k) + "x" + std::to_string(t.n) + (transpose_a ? " T" : " N") +
                     (transpose_b ? "T" : "N"));
        check("matmul", [&] { return batch_matmul(t, transpose_a, transpose_b); });
      }
}

TEST(Matmul, MatricesOfAnyRank) {
  for (const auto& [left, right, ta, tb] :
       std::vector<std::tuple<Shape, Shape, bool, bool>>{{{33, 70}, {70, 50}, false, false},
                                                         {{70, 33}, {50, 70}, true, true},
                                                         {{2, 3, 9, 17}, {17, 20}, false, false},
                                                         {{2, 17, 9}, {17, 3}, true, false},
                                                         {{300, 40}, {40, 8}, false, false},
                                                         {{1, 40}, {40, 100}, false, false}}) {
    Shape shape = left;
    if (ta) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    shape.back() = right[tb ? 0 : 1];
    SCOPED_TRACE(std::to_string(left.size()) + " axes, columns " + std::to_string(shape.back()));
    check("matmul", [&, &left = left, &right = right, ta = ta, tb = tb] {
      KernelBuilder b("matmul");
      const Value y = b.call("nn.matmul", {b.input(left), b.input(right)},
                             op_attrs("nn.matmul", {{"transpose_a", ta}, {"transpose_b", tb}}), shape);
      return b.finish(b.call("nn.relu", {y}, {}, shape));
    });
  }
}

TEST(Matmul, DenseWithAWeightThatIsNoConstant) {
  for (const DenseCase& t : std::vector<DenseCase>{
           {128, 300, 33, 1, true}, {4, 64, 128, 1, false}, {50, 5, 7, 1, true}, {9, 1, 1, 1, false}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("matmul", [&] { return dense(t, false); });
  }
}

TEST(Rows, Dense) {
  for (const DenseCase& t : std::vector<DenseCase>{{1, 512, 100, 1, true},
                                                   {3, 300, 33, 1, false},
                                                   {3, 5, 7, 1, true},
                                                   {1, 1000, 1, 1, false},
                                                   {2, 4097, 9, 1, true},
                                                   {1, 33, 8, 1, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("rows", [&] { return dense(t, false); });
  }
}

TEST(Rows, FewRowsOfDenseReadSeveralRowsOfTheWeightAtATime) {
  EXPECT_EQ(named("rows").default_params(dense({1, 512, 100, 1, true}, false), sheet()).at("tile_n"), 8);
  EXPECT_EQ(named("rows").default_params(dense({3, 512, 100, 1, true}, false), sheet()).at("tile_n"), 2);
  EXPECT_EQ(named("rows").default_params(dense({1, 512, 3, 1, true}, false), sheet()).at("tile_n"), 3);
}

TEST(Rows, Softmax) {
  for (const Shape& shape : std::vector<Shape>{{1, 1000}, {7, 128}, {2, 3, 257}, {4, 5}, {3, 1}, {1, 64}})
    for (const char* op : {"nn.softmax", "nn.log_softmax"}) {
      SCOPED_TRACE(op + std::to_string(shape.back()));
      check("rows", [&] {
        KernelBuilder b("softmax");
        return b.finish(b.call(op, {b.input(shape)}, op_attrs(op), shape));
      });
    }
}

struct ReduceCase {
  Shape shape;
  std::vector<int64_t> axes;
};

TEST(Reduce, AnyAxes) {
  for (const ReduceCase& t : std::vector<ReduceCase>{{{128, 768}, {1}},
                                                     {{1, 7, 1000}, {2}},
                                                     {{2, 6, 7, 7}, {2, 3}},
                                                     {{300, 17}, {0}},
                                                     {{5, 3, 100}, {1}},
                                                     {{5, 40, 3}, {0, 2}},
                                                     {{3, 5, 4, 33}, {1, 3}},
                                                     {{9, 3}, {1}},
                                                     {{50, 70}, {0, 1}},
                                                     {{1, 1}, {0}},
                                                     {{300}, {0}}}) {
    Shape kept, unit = t.shape;
    for (size_t axis = 0; axis < t.shape.size(); ++axis)
      if (std::count(t.axes.begin(), t.axes.end(), int64_t(axis)))
        unit[axis] = 1;
      else
        kept.push_back(t.shape[axis]);
    for (const char* op : {"sum", "mean", "max", "variance"}) {
      SCOPED_TRACE(std::string(op) + " of rank " + std::to_string(t.shape.size()) + ", innermost " +
                   std::to_string(t.shape.back()));
      const bool two = std::string(op) == "variance", keepdims = std::string(op) != "sum";
      check(
          "reduce",
          [&] {
            KernelBuilder b("reduce");
            std::vector<Value> inputs{b.call("nn.relu", {b.input(t.shape)}, {}, t.shape)};
            if (two) inputs.push_back(b.input(unit));
            const Shape& shape = keepdims ? unit : kept;
            const Attrs attrs = op_attrs(op, {{"axis", t.axes}, {"keepdims", keepdims}});
            return b.finish(b.call("nn.relu", {b.call(op, inputs, attrs, shape)}, {}, shape));
          },
          1e-5);
    }
  }
}

struct PoolCase {
  const char* op;
  Shape in, out;
  int64_t size, stride;
  std::vector<int64_t> pad;
  bool ceil = false;
  bool relu_before = false;
};

LoweredKernel pool(const PoolCase& t) {
  KernelBuilder b("pool");
  const std::string layout = t.in.size() == 5 ? "NCHW" + std::to_string(t.in[4]) + "c" : "NCHW";
  Value x = b.input(t.in);
  if (t.relu_before) x = b.call("nn.relu", {x}, {}, t.in);
  std::vector<std::pair<std::string, AttrValue>> attrs{{"layout", layout}};
  if (std::string(t.op).find("global") == std::string::npos)
    attrs.insert(attrs.end(), {{"pool_size", std::vector<int64_t>{t.size, t.size}},
                               {"strides", std::vector<int64_t>{t.stride, t.stride}},
                               {"padding", t.pad},
                               {"ceil_mode", t.ceil}});
  return b.finish(b.call(t.op, {x}, op_attrs(t.op, attrs), t.out));
}

// One reduction after the other is a chain of additions, each of which waits for the one before.
TEST(Pool, GlobalPoolsReduceBlocksSideBySide) {
  const auto side_by_side = [](Shape in, Shape out, int64_t size) {
    return named("pool")
        .default_params(pool({"nn.max_pool2d", in, out, size, size, {0, 0}}), sheet())
        .at("tile_c");
  };
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 1, 1, 8}, 14), 4);
  EXPECT_EQ(side_by_side({1, 33, 14, 14, 8}, {1, 33, 1, 1, 8}, 14), 4);
  EXPECT_EQ(side_by_side({64, 2, 14, 14, 8}, {64, 2, 1, 1, 8}, 14), 2);
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 2, 2, 8}, 7), 2);
  EXPECT_EQ(side_by_side({1, 60, 14, 14, 8}, {1, 60, 7, 7, 8}, 2), 1);
  EXPECT_EQ(side_by_side({1, 4, 14, 14, 8}, {1, 4, 1, 1, 8}, 14), 1);  // for several threads
}

TEST(Pool, WindowsAndPlanes) {
  for (const PoolCase& t : std::vector<PoolCase>{
           {"nn.max_pool2d", {1, 2, 23, 23, 16}, {1, 2, 12, 12, 16}, 3, 2, {1, 1}},
           {"nn.max_pool2d", {1, 2, 14, 14, 16}, {1, 2, 7, 7, 16}, 2, 2, {0, 0}},
           {"nn.max_pool2d", {2, 3, 9, 9}, {2, 3, 5, 5}, 3, 2, {1, 1}},
           {"nn.max_pool2d", {1, 1, 10, 41}, {1, 1, 5, 20}, 2, 2, {0, 0}},
           {"nn.avg_pool2d", {1, 2, 8, 8, 8}, {1, 2, 8, 8, 8}, 3, 1, {1, 1}},
           {"nn.avg_pool2d", {1, 3, 7, 7}, {1, 3, 4, 4}, 2, 2, {0, 0}, true},
           {"nn.avg_pool2d", {1, 3, 17, 17}, {1, 3, 17, 17}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {2, 2, 16, 16}, {2, 2, 16, 16}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {1, 2, 5, 31}, {1, 2, 3, 16}, 3, 2, {1, 1}, false, true},
           {"nn.avg_pool2d", {1, 1, 301, 20}, {1, 1, 301, 20}, 3, 1, {1, 1}},
           {"nn.max_pool2d", {1, 2, 3, 1}, {1, 2, 3, 1}, 3, 1, {1, 1}},
           {"nn.global_avg_pool2d", {1, 4, 7, 7, 16}, {1, 4, 1, 1, 16}, 0, 0, {}},
           {"nn.global_avg_pool2d", {2, 5, 6, 7}, {2, 5, 1, 1}, 0, 0, {}},
           {"nn.global_max_pool2d", {1, 2, 3, 3, 8}, {1, 2, 1, 1, 8}, 0, 0, {}},
           {"nn.global_avg_pool2d", {1, 36, 7, 5, 8}, {1, 36, 1, 1, 8}, 0, 0, {}},
           {"nn.global_avg_pool2d", {1, 33, 6, 6, 8}, {1, 33, 1, 1, 8}, 0, 0, {}},
           {"nn.global_max_pool2d", {3, 15, 4, 4, 8}, {3, 15, 1, 1, 8}, 0, 0, {}},
           {"nn.max_pool2d", {1, 32, 5, 5, 8}, {1, 32, 2, 2, 8}, 3, 2, {0, 0}},
           {"nn.avg_pool2d", {1, 34, 6, 4, 8}, {1, 34, 3, 2, 8}, 2, 2, {0, 0}},
           {"nn.max_pool2d", {1, 2, 6, 6, 16}, {1, 2, 3, 3, 16}, 2, 2, {0, 0}, false, true}}) {
    SCOPED_TRACE(std::string(t.op) + " rank " + std::to_string(t.in.size()) + " width " +
                 std::to_string(t.in[3]));
    check("pool", [&] { return pool(t); });
  }
}

struct TransposeCase {
  int64_t n, c, o;
  Shape in, kernel, stride, pad;        ///< of the spatial axes
  int64_t in_block = 0, out_block = 0;  ///< 0: plain layouts
  std::string ops = {};                 ///< of the epilogue, only in blocks
  int64_t groups = 1, dilation = 1;
  Shape more = {};  ///< output_padding
  bool relu_before = false;
};

/// By phases, or as the definition says (for which the weight is written in another, equal layout).
LoweredKernel transposed(const TransposeCase& t, bool by_phases) {
  KernelBuilder b("transposed");
  const size_t count = t.in.size();
  const bool packed = t.out_block > 0, depthwise = t.groups > 1 && t.groups == t.c && t.groups == t.o;
  const std::string spatial = count == 1   ? "W"
                              : count == 2 ? "HW"
                                           : "DHW",
                    data = "NC" + spatial, in = count == 2 ? "I" : "O", out = count == 2 ? "O" : "I";
  const std::string in_lanes = count == 2 ? "i" : "o", out_lanes = count == 2 ? "o" : "i";
  std::string op = "nn.conv" + std::to_string(count) + "d_transpose", layout = data, out_layout = data,
              kernel = in + out + spatial;
  Shape x{t.n, t.c}, weight{t.c, t.o / t.groups}, y{t.n, t.o};
  if (packed) {
    layout += std::to_string(t.in_block) + "c", out_layout += std::to_string(t.out_block) + "c";
    x[1] /= t.in_block, y[1] /= t.out_block;
    kernel = out + spatial + in + std::to_string(t.out_block) + (depthwise ? in_lanes : out_lanes);
    weight = {depthwise ? 1 : t.o / t.groups / t.out_block};
  }
  weight.insert(weight.end(), t.kernel.begin(), t.kernel.end());
  if (packed) weight.insert(weight.end(), {depthwise ? t.c / t.out_block : t.c, t.out_block});
  if (!by_phases) {
    kernel.insert(packed ? kernel.find_first_of("123456789") : kernel.size(), "1" + in_lanes);
    weight.insert(packed ? weight.end() - 1 : weight.end(), 1);
  }
  for (size_t k = 0; k < count; ++k) {
    const int64_t more = t.more.empty() ? 0 : t.more[k];
    x.push_back(t.in[k]);
    y.push_back((t.in[k] - 1) * t.stride[k] + (t.kernel[k] - 1) * t.dilation + 1 - t.pad[k] -
                t.pad[count + k] + more);
  }
  if (packed) x.push_back(t.in_block), y.push_back(t.out_block);
  Value value = b.input(x);
  const Value weights = b.input(weight);
  if (t.relu_before) value = b.call("nn.relu", {value}, {}, x);
  value = b.call(op, {value, weights},
                 op_attrs(op, {{"strides", t.stride},
                               {"padding", t.pad},
                               {"output_padding", t.more.empty() ? Shape(count, 0) : t.more},
                               {"dilation", Shape(count, t.dilation)},
                               {"groups", t.groups},
                               {"channels", t.o},
                               {"kernel_size", t.kernel},
                               {"data_layout", layout},
                               {"kernel_layout", kernel},
                               {"out_layout", out_layout}}),
                 y);
  if (!packed && !t.ops.empty()) value = b.call("tanh", {value}, {}, y);
  return b.finish(packed && count == 2 ? epilogue(b, value, t.ops) : value);
}

TEST(ConvTranspose, ShapesPaddingsGroupsAndEpilogues) {
  const std::vector<TransposeCase> cases = {
      // in blocks: exact ranges of a row, and padded rows of few channels
      {1, 100, 64, {1, 1}, {4, 4}, {1, 1}, {0, 0, 0, 0}, 10, 16, "sbm"},
      {1, 100, 24, {1, 1}, {4, 4}, {1, 1}, {0, 0, 0, 0}, 5, 8, ""},
      {1, 32, 32, {4, 4}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 8, 8, "sbm"},
      {2, 16, 48, {5, 9}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 16, 16, "srm"},
      {1, 16, 8, {7, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 8, 8, "b", 1, 1, {1, 1}},
      {1, 16, 8, {7, 13}, {3, 3}, {2, 2}, {0, 1, 2, 0}, 8, 8, "r"},
      {1, 16, 16, {3, 40}, {5, 5}, {3, 3}, {2, 1, 0, 3}, 16, 8, "m", 1, 1, {2, 1}},
      {1, 8, 8, {6, 11}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 8, 8, "bm"},
      {1, 4, 12, {5, 6}, {2, 3}, {3, 2}, {0, 1, 0, 1}, 4, 6, "g", 1, 1, {2, 0}},
      {1, 16, 16, {9, 9}, {3, 3}, {1, 1}, {2, 2, 2, 2}, 16, 16, "m", 1, 2},
      {1, 32, 16, {3, 1}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 16, 16, "bm"},
      {1, 17, 13, {4, 3}, {4, 3}, {2, 2}, {1, 1, 1, 0}, 1, 13, "b"},
      {1, 16, 8, {2, 300}, {4, 4}, {8, 8}, {1, 1, 1, 1}, 8, 8, "m"},
      {1, 16, 8, {2, 3}, {40, 40}, {20, 20}, {10, 10, 10, 10}, 8, 8, "m"},
      {1, 32, 16, {6, 6}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 8, 8, "m", 1, 1, {}, true},
      // groups, depthwise
      {1, 64, 32, {5, 6}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 8, 8, "b", 2},
      {1, 16, 32, {5, 6}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 4, 8, "m", 4},
      {1, 32, 32, {5, 6}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 8, 8, "bm", 32},
      {2, 16, 16, {7, 30}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 16, 16, "r", 16, 1, {1, 0}},
      // plain layouts: vectors along rows
      {1, 64, 3, {6, 32}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 0, 0, "t"},
      {2, 5, 7, {5, 19}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0, "", 1, 1, {1, 1}},
      {1, 6, 4, {3, 3}, {3, 5}, {1, 3}, {0, 1, 2, 1}, 0, 0, "t", 2},
      {1, 9, 29, {7, 19}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, 0, "t"},
      {1, 4, 23, {6, 5}, {4, 4}, {3, 3}, {1, 1, 1, 1}, 0, 0, ""},
      {1, 16, 104, {5, 9}, {3, 3}, {2, 2}, {1, 1, 1, 1}, 8, 8, "b"},
      {1, 6, 6, {9, 21}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 0, 0, "", 6},
      {1, 3, 2, {5, 5}, {3, 3}, {1, 1}, {1, 0, 2, 1}, 0, 0, "", 1, 2},
      {1, 6, 10, {7, 6}, {3, 5}, {1, 1}, {0, 2, 1, 2}, 0, 0, "t", 2},
      {2, 4, 5, {9, 9}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 0, 0, ""},
      {1, 3, 1, {1, 1}, {1, 1}, {4, 3}, {0, 0, 0, 0}, 0, 0, "", 1, 1, {3, 1}},
      // one and three axes
      {1, 16, 16, {50}, {16}, {8}, {4, 4}, 8, 8, ""},
      {1, 8, 8, {2000}, {3}, {2}, {1, 0}, 8, 8, ""},
      {2, 5, 3, {1100}, {4}, {2}, {1, 1}, 0, 0, ""},
      {1, 16, 8, {3, 4, 5}, {2, 3, 4}, {2, 2, 2}, {0, 1, 1, 0, 0, 1}, 8, 8, ""},
      {1, 4, 3, {3, 2, 9}, {3, 3, 3}, {2, 1, 2}, {1, 1, 1, 1, 1, 1}, 0, 0, "", 1, 1, {1, 0, 1}},
  };
  for (const TransposeCase& t : cases) {
    SCOPED_TRACE(std::to_string(&t - cases.data()) + ": " + std::to_string(t.c) + "->" + std::to_string(t.o) +
                 " width " + std::to_string(t.in.back()) + " kernel " + std::to_string(t.kernel.back()));
    // Without strides, a convolution with its taps in reverse.
    const bool strided = std::ranges::any_of(t.stride, [](int64_t stride) { return stride != 1; });
    const char* name = t.out_block == 0 && !strided ? "conv_positions" : "conv_transpose";
    check(name, [&] { return transposed(t, true); }, 3e-6, 2, [&] { return transposed(t, false); });
  }
}

TEST(Pointwise, Chains) {
  for (const Shape& shape : std::vector<Shape>{
           {1, 4, 9, 7, 16}, {1, 1000}, {3}, {2, 3, 5, 3}, {1, 64, 7, 7}, {1, 1, 40, 40, 3}, {5, 130}}) {
    SCOPED_TRACE(std::to_string(shape.size()) + " axes, innermost " + std::to_string(shape.back()));
    check("pointwise", [&] {
      KernelBuilder b("pointwise");
      const Value x = b.input(shape), y = b.input({shape.back()});
      const Value sum = b.call("add", {x, y}, {}, shape);
      return b.finish(b.call("nn.relu", {b.call("multiply", {sum, sum}, {}, shape)}, {}, shape));
    });
  }
}

// What is written in another order than it is read goes by tiles of both: between layouts, transposed, and
// with elements of several operands.
TEST(Pointwise, TilesOfTransposedData) {
  struct Case {
    const char *from, *to;
    Shape shape, result;
  };
  for (const Case& t : std::vector<Case>{{"NCHW8c", "NCHW", {1, 3, 5, 19, 8}, {1, 24, 5, 19}},
                                         {"NCHW8c", "NCHW", {2, 1, 1, 6, 8}, {2, 8, 1, 6}},
                                         {"NCHW12c", "NCHW", {1, 2, 3, 8, 12}, {1, 24, 3, 8}},
                                         {"NCHW5c", "NCHW", {1, 2, 3, 33, 5}, {1, 10, 3, 33}},
                                         {"NCHW", "NCHW8c", {1, 16, 7, 7}, {1, 2, 7, 7, 8}},
                                         {"NCHW", "NCHW8c", {1, 16, 40, 43}, {1, 2, 40, 43, 8}},
                                         {"NCHW", "NHWC", {2, 11, 3, 13}, {2, 3, 13, 11}},
                                         {"NHWC", "NCHW", {1, 3, 2, 21}, {1, 21, 3, 2}}}) {
    SCOPED_TRACE(std::string(t.from) + " to " + t.to + ", innermost " + std::to_string(t.result.back()));
    check(
        "pointwise",
        [&] {
          KernelBuilder b("tiles");
          const Attrs attrs = op_attrs(
              "layout_transform", {{"src_layout", std::string(t.from)}, {"dst_layout", std::string(t.to)}});
          const Value moved = b.call("layout_transform", {b.input(t.shape)}, attrs, t.result);
          const Value sum = b.call("add", {moved, b.input(t.result)}, {}, t.result);
          return b.finish(b.call("nn.relu", {sum}, {}, t.result));
        },
        0, 3);
  }
}

TEST(Pointwise, FindsTheLoopThatDataAreContiguousAlong) {
  const auto found = [](const std::string& from, const std::string& to, const Shape& shape,
                        const Shape& result) {
    KernelBuilder b("along");
    const Attrs attrs = op_attrs("layout_transform", {{"src_layout", from}, {"dst_layout", to}});
    const LoweredKernel kernel = b.finish(b.call("layout_transform", {b.input(shape)}, attrs, result));
    const auto along = find_transposed_loop(kernel.outputs.front().func(), kernel.outputs.front());
    return along ? std::pair(along->dim, along->length) : std::pair(0, 0);
  };
  EXPECT_EQ(found("NCHW8c", "NCHW", {1, 3, 5, 19, 8}, {1, 24, 5, 19}), std::pair(2, 8));
  EXPECT_EQ(found("NCHW", "NCHW8c", {1, 24, 5, 19}, {1, 3, 5, 19, 8}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "NHWC", {1, 24, 5, 19}, {1, 5, 19, 24}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "NCWH", {1, 24, 5, 19}, {1, 24, 19, 5}), std::pair(1, 19));
  EXPECT_EQ(found("NCHW", "CNHW", {2, 24, 5, 19}, {24, 2, 5, 19}), std::pair(0, 0));
}

/// What an object file wants from others.
std::set<std::string> undefined_symbols(const std::string& object) {
  std::set<std::string> names;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(object.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(object.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* text = object.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(object.data() + sections[i].sh_offset);
    for (size_t k = 1; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
      if (symbols[k].st_shndx == SHN_UNDEF) names.insert(text + symbols[k].st_name);
  }
  return names;
}

TEST(Templates, KernelsNeedOnlyWhatTheRuntimeHas) {
  const std::set<std::string> allowed = {"halide_malloc", "halide_free", "halide_do_par_for",
                                         "memset",        "memcpy",      "memmove"};
  const ConvCase large{1, 64, 40, 40, 64, 3, 1, {1, 1}, 16, 16, "bgr"};
  std::vector<MakeKernel> all = {
      [&] { return conv(large); },
      [&] { return winograd(large, 4); },
      [&] { return depthwise(large); },
      [&] { return transposed({1, 64, 64, {40, 40}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 16, 16, "bgr"}, true); },
      [&] { return transposed({1, 64, 3, {40, 40}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 0, 0, "t"}, true); },
      [&] { return dense({4, 512, 64, 16, true}, true); },
      [&] { return dense({1, 512, 64, 16, true}, false); },
      [&] { return dense({64, 1024, 64, 16, true}, true); },
      [&] { return batch_matmul({8, 8, 64, 64, 64, "epilogue"}, false, true); },
      [&] { return pool({"nn.max_pool2d", {1, 8, 40, 40, 16}, {1, 8, 20, 20, 16}, 3, 2, {1, 1}}); }};
  for (const char* op : {"tanh", "erf", "exp", "sigmoid"})
    all.push_back([op] {
      KernelBuilder b("pointwise");
      return b.finish(b.call(op, {b.input({64, 512})}, {}, {64, 512}));
    });
  all.push_back([] {
    KernelBuilder b("softmax");
    return b.finish(b.call("nn.softmax", {b.input({64, 1000})}, op_attrs("nn.softmax"), {64, 1000}));
  });
  std::set<std::string> seen;
  const std::string path = testing::TempDir() + "baton_templates_test_" + std::to_string(getpid()) + ".o";
  for (const MakeKernel& make : all)
    test::with_halide_errors([&] {
      LoweredKernel kernel = make();
      const ScheduleTemplate& found = find_template(kernel, sheet());
      SCOPED_TRACE(std::string(found.name) + " " + kernel.blocks[0].op->name);
      found.apply(kernel, found.default_params(kernel, sheet()), sheet());
      const std::vector<Halide::Argument> args(kernel.inputs.begin(), kernel.inputs.end());
      Halide::Pipeline(kernel.outputs.front().func())
          .compile_to_object(path, args, "k",
                             test::jit_target()
                                 .without_feature(Halide::Target::JIT)
                                 .with_feature(Halide::Target::NoRuntime));
      std::ifstream file(path, std::ios::binary);
      const std::string object{std::istreambuf_iterator<char>(file), {}};
      std::remove(path.c_str());
      for (const std::string& name : undefined_symbols(object)) {
        EXPECT_TRUE(name.empty() || allowed.count(name)) << name;
        seen.insert(name);
      }
    });
  EXPECT_TRUE(seen.count("halide_do_par_for"));
}

TEST(Templates, SayWhyNot) {
  const ConvCase t{1, 16, 8, 8, 16, 3, 1, {1, 1}, 16, 16, "bm"};
  const LoweredKernel kernel = conv(t);
  EXPECT_EQ(named("conv_direct").refuses(kernel, sheet()), "");
  for (const char* other : {"conv_winograd", "conv_depthwise", "conv_plain", "conv_positions", "gemm",
                            "matmul", "pool", "reduce", "rows", "pointwise"})
    EXPECT_NE(named(other).refuses(kernel, sheet()), "") << other;
}

}  // namespace
}  // namespace baton
