// Templates of convolutions, transposed ones too.

#include "in_parts.h"
#include "schedule/layers.h"

namespace baton {
namespace {

using test::attrs_of;
using test::check;
using test::conv;
using test::ConvCase;
using test::depthwise;
using test::epilogue;
using test::expect_near;
using test::KernelBuilder;
using test::named;
using test::op_attrs;
using test::out_extent;
using test::out_shape;
using test::run;
using test::Shape;
using test::sheet;
using test::text;
using test::TransposeCase;
using test::transposed;
using test::Value;
using test::winograd;

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

using ConvDepthwiseShapes = InParts<3>;
BATON_TEST_IN_PARTS(ConvDepthwiseShapes, 3);
TEST_P(ConvDepthwiseShapes, ShapesPaddingsAndEpilogues) {
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
    if (!is_mine(static_cast<size_t>(&t - cases.data()))) continue;
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

/// To how many elements the storage of an axis is aligned.
int64_t alignment_of(const Halide::Internal::StorageDim& axis) {
  return *Halide::Internal::as_const_int(axis.alignment);
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

/// 16 tiles of 64 channels are 4096 bytes: without more room each plane of V would be in the same sets.
TEST(ConvWinograd, PlanesThatWouldConflictLieFurtherApart) {
  for (const ConvCase& t : {ConvCase{1, 64, 14, 14, 32, 3, 1, {1, 1}, 16, 16, "bm"},
                            ConvCase{2, 64, 16, 13, 64, 3, 1, {1, 1}, 16, 16, "r"},
                            ConvCase{1, 128, 8, 8, 32, 3, 1, {1, 1}, 16, 16, ""}})
    for (const bool by_channels : {false, true}) {
      SCOPED_TRACE(std::to_string(t.c) + "->" + std::to_string(t.o) + " " + std::to_string(t.h) + "x" +
                   std::to_string(t.w) + (by_channels ? " by channels" : " by rows"));
      LoweredKernel plain = winograd(t, 4), tiled = winograd(t, 4);
      named("trivial").apply(plain, {}, sheet());
      ScheduleParams params = named("conv_winograd").default_params(tiled, sheet());
      params["by_channels"] = by_channels;
      named("conv_winograd").apply(tiled, params, sheet());
      // The storage of V: tiles and blocks of channels, of which at least one has room for one more.
      const auto& bounds = tiled.blocks.at(tiled.anchor).stage("in_xf")->function().schedule().storage_dims();
      const int64_t plane = t.in_block * 4 * alignment_of(bounds.at(1)) * alignment_of(bounds.at(2));
      EXPECT_NE(plane % 4096, 0) << plane;
      expect_near(run(tiled, true), run(plain, true), 1e-5, "winograd");
    }
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

using ConvPositionsShapes = InParts<2>;
BATON_TEST_IN_PARTS(ConvPositionsShapes, 2);
TEST_P(ConvPositionsShapes, OddExtentsStridesDilationsAndGroups) {
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
      // more phases of the strides than are written out
      {1, 2, 9, {5, 140}, {3, 30}, {1, 20}, {1, 3, 0, 9}, 1, 1, true},
      {1, 4, 6, {23, 31}, {9, 7}, {5, 4}, {2, 1, 3, 5}, 2},
      {2, 3, 4, {301}, {64}, {25}, {12, 40}},
      {1, 2, 3, {3, 30, 40}, {2, 6, 6}, {1, 5, 5}, {1, 0, 2, 0, 3, 1}, 1, 1, true},
      {1, 2, 4, {1, 200}, {1, 9}, {1, 33}, {0, 7, 0, 30}, 1, 3},
      {1, 1, 36, {1, 900}, {1, 256}, {1, 64}, {0, 0, 0, 0}, 1, 1, true},
  };
  for (const PositionsCase& t : cases) {
    if (!is_mine(static_cast<size_t>(&t - cases.data()))) continue;
    SCOPED_TRACE(std::to_string(&t - cases.data()) + ": " + std::to_string(t.c) + "->" + std::to_string(t.o) +
                 " width " + std::to_string(t.in.back()) + " kernel " + std::to_string(t.kernel.back()));
    check(
        "conv_positions", [&] { return by_positions(t, false); }, 3e-6, 2,
        [&] { return by_positions(t, true); });
  }
}

using ConvTransposeShapes = InParts<4>;
BATON_TEST_IN_PARTS(ConvTransposeShapes, 4);
TEST_P(ConvTransposeShapes, ShapesPaddingsGroupsAndEpilogues) {
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
    if (!is_mine(static_cast<size_t>(&t - cases.data()))) continue;
    SCOPED_TRACE(std::to_string(&t - cases.data()) + ": " + std::to_string(t.c) + "->" + std::to_string(t.o) +
                 " width " + std::to_string(t.in.back()) + " kernel " + std::to_string(t.kernel.back()));
    // Without strides, a convolution with its taps in reverse.
    const bool strided = std::ranges::any_of(t.stride, [](int64_t stride) { return stride != 1; });
    const char* name = t.out_block == 0 && !strided ? "conv_positions" : "conv_transpose";
    check(name, [&] { return transposed(t, true); }, 3e-6, 2, [&] { return transposed(t, false); });
  }
}

/// A tile of one position loads a vector of weights for each multiply-add: from behind the first-level cache
/// that takes twice as long as the sums, or more.
TEST(ConvTranspose, WeightsFromFarCachesAreUsedForSeveralPositions) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.vector_registers = 32, wide.halves_at_full_rate = false;
  wide.l1_bytes = 48 << 10, wide.l2_bytes = 1 << 20;
  // Only 1 and 13 divide these blocks of channels.
  const TransposeCase t{1, 416, 208, {4, 4}, {4, 4}, {2, 2}, {1, 1, 1, 1}, 16, 16, "b"};
  const ScheduleParams params = named("conv_transpose").default_params(transposed(t, true), wide);
  EXPECT_GE(params.at("tile_x"), 3) << text(params);
  EXPECT_GE(params.at("tile_x") * params.at("tile_c"), 12) << text(params);
}

}  // namespace
}  // namespace baton
