// Computes for which tests/reference has no numbers: held against numbers worked out by hand, or against
// other operators.
#include <algorithm>
#include <cmath>

#include <Halide.h>
#include <gmock/gmock.h>

#include "baton/ops/register.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "ops/evaluate.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

Function parsed(const std::string& text) {
  register_all_ops();
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + text))->find("main");
}

NDArray floats(Shape shape, const std::vector<float>& values) {
  return NDArray::of<float>(std::move(shape), values, DType::float_(32));
}
NDArray ints(Shape shape, const std::vector<int32_t>& values) {
  return NDArray::of<int32_t>(std::move(shape), values, DType::int_(32));
}
NDArray longs(Shape shape, const std::vector<int64_t>& values) {
  return NDArray::of<int64_t>(std::move(shape), values, DType::int_(64));
}

/// The outputs of `main`, by its computes and by a kernel, which must agree.
std::vector<NDArray> values_of(const std::string& text, const std::vector<NDArray>& inputs) {
  const Function main = parsed(text);
  std::vector<NDArray> plain, compiled;
  try {
    plain = evaluate(main, inputs);
    compiled = evaluate(main, inputs, run_kernel_of(""));
  } catch (const Halide::Error& error) {  // no std::exception
    throw Error(error.what());
  }
  for (size_t k = 0; k < plain.size(); ++k) {
    EXPECT_EQ(plain[k].shape(), compiled[k].shape());
    if (plain[k].dtype() == DType::float_(32)) {
      for (int64_t i = 0; i < plain[k].size(); ++i)
        EXPECT_NEAR(plain[k].as<float>()[i], compiled[k].as<float>()[i], 1e-5);
    } else {
      EXPECT_TRUE(plain[k].equal_bytes(compiled[k])) << text;
    }
  }
  return plain;
}

NDArray rule(const std::string& name, const Shape& shape) {
  return tensor_value(name, shape, DType::float_(32), {-1, 1});
}

void expect_near(const NDArray& a, const NDArray& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.as<float>()[i], b.as<float>()[i], tolerance) << "element " << i;
}

TEST(Computes, SortsOfAnyLengthAreStable) {
  for (const int count : {1, 2, 5, 33}) {
    std::vector<float> keys;
    for (int k = 0; k < count; ++k) keys.push_back(static_cast<float>(k * 7 % 4));
    const std::string type = "Tensor[(" + std::to_string(count) + "), float32]";
    for (const bool ascending : {true, false}) {
      const auto out =
          values_of("def @main(%x: " + type + ") { argsort(%x, is_ascend=" + (ascending ? "True" : "False") +
                        ", dtype=\"int32\") }",
                    {floats({count}, keys)});
      std::vector<int32_t> wanted;
      for (int k = 0; k < count; ++k) wanted.push_back(k);
      std::stable_sort(wanted.begin(), wanted.end(),
                       [&](int a, int b) { return ascending ? keys[a] < keys[b] : keys[a] > keys[b]; });
      EXPECT_THAT(out[0].as<int32_t>(), ElementsAreArray(wanted));
    }
  }
}

TEST(Computes, UniqueValuesAreNumberedBySizeOrByPlace) {
  const NDArray data = ints({6}, {5, 2, 5, 9, 2, 5});
  const auto sorted =
      values_of("def @main(%x: Tensor[(6), int32]) { unique(%x, sorted=True, return_counts=True) }", {data});
  EXPECT_THAT(sorted[0].as<int32_t>(), ElementsAre(2, 5, 9, 0, 0, 0));
  EXPECT_THAT(sorted[1].as<int32_t>(), ElementsAre(1, 0, 3, 0, 0, 0));
  EXPECT_THAT(sorted[2].as<int32_t>(), ElementsAre(1, 0, 1, 2, 0, 1));
  EXPECT_THAT(sorted[3].as<int32_t>(), ElementsAre(3));
  EXPECT_THAT(sorted[4].as<int32_t>(), ElementsAre(2, 3, 1, 0, 0, 0));
  const auto by_place =
      values_of("def @main(%x: Tensor[(6), int32]) { unique(%x, sorted=False, return_counts=True) }", {data});
  EXPECT_THAT(by_place[0].as<int32_t>(), ElementsAre(5, 2, 9, 0, 0, 0));
  EXPECT_THAT(by_place[1].as<int32_t>(), ElementsAre(0, 1, 3, 0, 0, 0));
  EXPECT_THAT(by_place[2].as<int32_t>(), ElementsAre(0, 1, 0, 2, 1, 0));
  EXPECT_THAT(by_place[4].as<int32_t>(), ElementsAre(3, 2, 1, 0, 0, 0));
}

TEST(Computes, EmptyRowsOfSparseTensorsAreFilled) {
  const auto out = values_of(
      "def @main(%i: Tensor[(3, 2), int64], %v: Tensor[(3), int64], %s: Tensor[(2), int64], %d: Tensor[(1), "
      "int64]) {"
      " sparse_fill_empty_rows(%i, %v, %s, %d) }",
      {longs({3, 2}, {1, 3, 1, 0, 3, 2}), longs({3}, {10, 20, 30}), longs({2}, {5, 4}), longs({1}, {-7})});
  EXPECT_THAT(out[0].as<int64_t>(), ElementsAre(0, 0, 1, 3, 1, 0, 2, 0, 3, 2, 4, 0));
  EXPECT_THAT(out[1].as<int64_t>(), ElementsAre(-7, 10, 20, -7, 30, -7));
  EXPECT_THAT(out[2].as<int64_t>(), ElementsAre(1, 0, 1, 0, 1));
}

TEST(Computes, SparseIndicesFollowTheirShape) {
  const auto out = values_of(
      "def @main(%i: Tensor[(2, 3), int64], %a: Tensor[(3), int64], %b: Tensor[(2), int64]) { "
      "sparse_reshape(%i, %a, %b) }",
      {longs({2, 3}, {0, 1, 0, 1, 2, 3}), longs({3}, {2, 3, 6}), longs({2}, {9, -1})});
  EXPECT_THAT(out[0].as<int64_t>(), ElementsAre(1, 2, 8, 1));  // 6 and 33 of 36, in rows of 4
  EXPECT_THAT(out[1].as<int64_t>(), ElementsAre(9, 4));
}

TEST(Computes, SparseMatricesAreTransposedAndMultiplied) {
  // [[0, 1, 2], [0, 0, 0], [3, 0, 4]]
  const auto out = values_of(
      "def @main(%d: Tensor[(4), float32], %i: Tensor[(4), int32], %p: Tensor[(4), int32]) { "
      "nn.sparse_transpose(%d, %i, %p) }",
      {floats({4}, {1, 2, 3, 4}), ints({4}, {1, 2, 0, 2}), ints({4}, {0, 2, 2, 4})});
  EXPECT_THAT(out[0].as<float>(), ElementsAre(3, 1, 2, 4));
  EXPECT_THAT(out[1].as<int32_t>(), ElementsAre(2, 0, 0, 2));
  EXPECT_THAT(out[2].as<int32_t>(), ElementsAre(0, 1, 2, 4));
  // Blocks of 1 x 2: [[1, 2, 0, 0], [0, 0, 3, 4]]
  const auto blocks = values_of(
      "def @main(%x: Tensor[(1, 4), float32], %d: Tensor[(2, 1, 2), float32], %i: Tensor[(2), int32], %p: "
      "Tensor[(3), int32]) {"
      " nn.sparse_dense(%x, %d, %i, %p, sparse_lhs=True) }",
      {floats({1, 4}, {1, 10, 100, 1000}), floats({2, 1, 2}, {1, 2, 3, 4}), ints({2}, {0, 1}),
       ints({3}, {0, 1, 2})});
  EXPECT_EQ(blocks[0].shape(), (Shape{2, 1}));
  EXPECT_THAT(blocks[0].as<float>(), ElementsAre(21, 4300));
}

TEST(Computes, SlowWinogradOverThreeAxesIsTheConvolution) {
  const std::string attrs = "padding=[1, 1, 1, 1, 1, 1], channels=4, kernel_size=";
  for (const auto& [kernel, size] :
       {std::pair<Shape, std::string>{{4, 2, 3, 3, 3}, "[3, 3, 3]"}, {{4, 2, 2, 3, 3}, "[2, 3, 3]"}}) {
    const std::string params = "def @main(%x: Tensor[(1, 2, 4, 5, 6), float32], %w: Tensor[(4, 2, " +
                               std::to_string(kernel[2]) + ", 3, 3), float32]) {";
    const std::vector<NDArray> inputs = {rule("x", {1, 2, 4, 5, 6}), rule("w", kernel)};
    const auto plain = values_of(params + " nn.conv3d(%x, %w, " + attrs + size + ") }", inputs);
    const auto winograd =
        values_of(params +
                      " %0 = nn.contrib_conv3d_winograd_weight_transform(%w, tile_size=2);"
                      " nn.contrib_conv3d_winograd_without_weight_transform(%x, %0, tile_size=2, " +
                      attrs + size + ") }",
                  inputs);
    expect_near(plain[0], winograd[0], 1e-4);
  }
}

TEST(Computes, ConvolutionsAsProductsOfMatricesAreTheConvolution) {
  const std::string params =
      "def @main(%x: Tensor[(1, 5, 5, 3), float32], %w: Tensor[(3, 3, 3, 5), float32]) {";
  const std::string attrs =
      "padding=[1, 1, 1, 1], channels=5, kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWIO\") }";
  const std::vector<NDArray> inputs = {rule("x", {1, 5, 5, 3}), rule("w", {3, 3, 3, 5})};
  const auto plain = values_of(params + " nn.conv2d(%x, %w, " + attrs, inputs);
  const auto gemm =
      values_of(params +
                    " %0 = nn.contrib_conv2d_gemm_weight_transform(%w, tile_rows=4, tile_cols=16);"
                    " nn.contrib_conv2d_gemm_without_weight_transform(%x, %0, " +
                    attrs,
                inputs);
  expect_near(plain[0], gemm[0], 1e-5);
}

// d(sum of grad * conv(data, weight)) / d weight, by differences of weights: the convolution is linear.
TEST(Computes, TheGradientByTheWeightIsThatOfTheConvolution) {
  const NDArray data = rule("data", {2, 4, 5, 5}), grad = rule("grad", {2, 2, 3, 3});
  const auto gradient = values_of(
      "def @main(%g: Tensor[(2, 2, 3, 3), float32], %x: Tensor[(2, 4, 5, 5), float32]) {"
      " nn.conv2d_backward_weight(%g, %x, strides=[2, 2], padding=[1, 1, 1, 1], groups=2, channels=2, "
      "kernel_size=[3, 3],"
      " kernel_layout=\"NCHW\") }",
      {grad, data});
  ASSERT_EQ(gradient[0].shape(), (Shape{2, 2, 3, 3}));
  const Function conv = parsed(
      "def @main(%x: Tensor[(2, 4, 5, 5), float32], %w: Tensor[(2, 2, 3, 3), float32]) {"
      " nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], groups=2, channels=2, kernel_size=[3, 3]) }");
  for (const int k : {0, 4, 11, 17, 35}) {
    NDArray unit = NDArray::zeros({2, 2, 3, 3}, DType::float_(32));
    unit.as<float>()[k] = 1;
    const NDArray result = evaluate(conv, {data, unit})[0];
    double sum = 0;
    for (int64_t i = 0; i < result.size(); ++i) sum += result.as<float>()[i] * grad.as<float>()[i];
    EXPECT_NEAR(gradient[0].as<float>()[k], sum, 1e-4) << k;
  }
}

// <transposed(x), y> = <x, conv(y)> for all x and y.
TEST(Computes, TransposedConvolutionsAreTransposes) {
  for (const auto& [dilation, height] : {std::pair<std::string, int64_t>{"[1, 1]", 5}, {"[2, 1]", 7}}) {
    const std::string attrs =
        "strides=[2, 3], padding=[1, 1, 1, 1], dilation=" + dilation + ", groups=2, kernel_size=[3, 4], ";
    const NDArray x = rule("x", {1, 4, 3, 4}), w = rule("w", {4, 3, 3, 4}), y = rule("y", {1, 6, height, 11});
    const NDArray up = values_of(
        "def @main(%x: Tensor[(1, 4, 3, 4), float32], %w: Tensor[(4, 3, 3, 4), float32]) {"
        " nn.conv2d_transpose(%x, %w, " +
            attrs + "channels=6, kernel_layout=\"IOHW\") }",
        {x, w})[0];
    const NDArray down = values_of("def @main(%y: Tensor[(1, 6, " + std::to_string(height) +
                                       ", 11), float32], %w: Tensor[(4, 3, 3, 4), float32]) {"
                                       " nn.conv2d(%y, %w, " +
                                       attrs + "channels=4) }",
                                   {y, w})[0];
    ASSERT_EQ(up.shape(), y.shape());
    ASSERT_EQ(down.shape(), x.shape());
    double left = 0, right = 0;
    for (int64_t i = 0; i < y.size(); ++i) left += up.as<float>()[i] * y.as<float>()[i];
    for (int64_t i = 0; i < x.size(); ++i) right += down.as<float>()[i] * x.as<float>()[i];
    EXPECT_NEAR(left, right, 1e-4);
  }
}

TEST(Computes, CorrelationComparesMovedPatches) {
  // One channel, one pixel patches: result[(dy, dx)][y][x] = a[y][x] * b[y + dy][x + dx], 0 outside.
  const NDArray a = floats({1, 1, 2, 2}, {1, 2, 3, 4}), b = floats({1, 1, 2, 2}, {5, 6, 7, 8});
  const auto out = values_of(
      "def @main(%a: Tensor[(1, 1, 2, 2), float32], %b: Tensor[(1, 1, 2, 2), float32]) {"
      " nn.correlation(%a, %b, kernel_size=1, max_displacement=1, stride1=1, stride2=1, padding=[1, 1]) }",
      {a, b});
  ASSERT_EQ(out[0].shape(), (Shape{1, 9, 2, 2}));
  const auto at = [&](int q) {
    return std::vector<float>(out[0].as<float>().begin() + q * 4, out[0].as<float>().begin() + q * 4 + 4);
  };
  EXPECT_THAT(at(4), ElementsAre(5, 12, 21, 32));
  EXPECT_THAT(at(5), ElementsAre(6, 0, 24, 0));  // one to the right
  EXPECT_THAT(at(7), ElementsAre(7, 16, 0, 0));  // one down
}

TEST(Computes, FewBitsCountAsTheirNumbers) {
  const auto dense = [](const char* unipolar) {
    return values_of(std::string("def @main(%x: Tensor[(1, 4), uint32], %w: Tensor[(1, 4), uint32]) {"
                                 " nn.bitserial_dense(%x, %w, units=1, data_bits=2, pack_dtype=\"uint32\", "
                                 "out_dtype=\"int16\", unipolar=") +
                         unipolar + ") }",
                     {NDArray::of<uint32_t>({1, 4}, std::vector<uint32_t>{3, 2, 1, 5}, DType::uint_(32)),
                      NDArray::of<uint32_t>({1, 4}, std::vector<uint32_t>{1, 0, 1, 0}, DType::uint_(32))})[0];
  };
  EXPECT_THAT(dense("True").as<int16_t>(), ElementsAre(3 - 2 + 1 - 1));
  EXPECT_THAT(dense("False").as<int16_t>(), ElementsAre(3 + 1));
}

TEST(Computes, FixedPointFactorsMayDifferByAxis) {
  const auto out = values_of(
      "def @main(%x: Tensor[(2, 2), int32], %m: Tensor[(2), int32], %l: Tensor[(2), int32], %r: Tensor[(2), "
      "int32]) {"
      " fixed_point_multiply_per_axis(%x, %m, %l, %r, is_lshift_required=True, is_rshift_required=True, "
      "axes=[1]) }",
      {ints({2, 2}, {5, 5, -5, 7}), ints({2}, {1 << 30, 1 << 30}), ints({2}, {2, 0}), ints({2}, {0, 1})});
  EXPECT_THAT(out[0].as<int32_t>(), ElementsAre(10, 1, -10, 2));  // times 2, and a quarter rounded
}

TEST(Computes, SuppressedBoxesAreLeftOut) {
  const NDArray data = floats({1, 5, 6}, {0,  .8f, 1,  20, 25,  45, 1,  .7f, 30, 60, 50,  80,  0,  .4f, 4,
                                          21, 19,  40, 2,  .9f, 35, 61, 52,  79, 1,  .5f, 100, 60, 70,  110});
  const std::vector<NDArray> inputs = {data, ints({1}, {4}), ints({1, 5}, {10, 11, 12, 13, 14})};
  const std::string call =
      "def @main(%d: Tensor[(1, 5, 6), float32], %n: Tensor[(1), int32], %i: Tensor[(1, 5), int32]) {"
      " vision.non_max_suppression(%d, %n, %i, ";
  const auto indices = values_of(call + "-1, 0.45f, force_suppress=True, return_indices=True) }", inputs);
  EXPECT_THAT(indices[0].as<int32_t>(), ElementsAre(13, 10, -1, -1, -1));
  EXPECT_THAT(indices[1].as<int32_t>(), ElementsAre(2));
  const auto most = values_of(call + "1, 0.5f, force_suppress=True, return_indices=True) }", inputs);
  EXPECT_THAT(most[0].as<int32_t>(), ElementsAre(13, -1, -1, -1, -1));
  const auto bottom = values_of(
      call + "-1, 0.5f, force_suppress=True, return_indices=False, invalid_to_bottom=True) }", inputs);
  EXPECT_EQ(bottom[0].as<float>()[2 * 6 + 1], .4f);  // the third one that is kept
  const auto classes = values_of(call + "-1, 0.45f, return_indices=True) }", inputs);
  EXPECT_THAT(classes[0].as<int32_t>(), ElementsAre(13, 10, 11, -1, -1));
}

TEST(Computes, EveryClassHasItsOwnSuppression) {
  const NDArray boxes = floats({1, 3, 4}, {0, 0, 10, 10, 0, 1, 10, 11, 20, 20, 30, 30}),
                scores = floats({1, 2, 3}, {.5f, .6f, .05f, .9f, .2f, .3f});
  const std::string call =
      "def @main(%b: Tensor[(1, 3, 4), float32], %s: Tensor[(1, 2, 3), float32]) {"
      " vision.all_class_non_max_suppression(%b, %s, 2i64, 0.5f, 0.1f, output_format=";
  const auto onnx = values_of(call + "\"onnx\") }", {boxes, scores});
  EXPECT_THAT(onnx[1].as<int64_t>(), ElementsAre(3));
  EXPECT_THAT(std::vector<int64_t>(onnx[0].as<int64_t>().begin(), onnx[0].as<int64_t>().begin() + 9),
              ElementsAre(0, 0, 1, 0, 1, 0, 0, 1, 2));
  const auto tensorflow = values_of(call + "\"tensorflow\") }", {boxes, scores});
  EXPECT_THAT(
      std::vector<int64_t>(tensorflow[0].as<int64_t>().begin(), tensorflow[0].as<int64_t>().begin() + 6),
      ElementsAre(0, 1, 1, 0, 1, 2));
  EXPECT_THAT(tensorflow[1].as<float>(), ElementsAre(.6f, .9f, .3f, 0, 0, 0));
  EXPECT_THAT(tensorflow[2].as<int64_t>(), ElementsAre(3));
}

TEST(Computes, RegionsAreSampledAsOftenAsTheyCoverPixels) {
  // A plane that rises by 1 along x and by 10 along y: the mean of a region's samples is its middle's value.
  std::vector<float> plane;
  for (int k = 0; k < 64; ++k) plane.push_back(static_cast<float>(k % 8 + k / 8 * 10));
  const auto out = values_of(
      "def @main(%x: Tensor[(1, 1, 8, 8), float32], %r: Tensor[(2, 5), float32]) {"
      " vision.roi_align(%x, %r, pooled_size=[1, 2], spatial_scale=1f64, sample_ratio=-1, layout=\"NCHW\", "
      "mode=\"avg\") }",
      {floats({1, 1, 8, 8}, plane), floats({2, 5}, {0, 1, 1, 5, 4, 0, 2, 3, 4, 5})});
  EXPECT_NEAR(out[0].as<float>()[0], 2 + 25, 1e-4);
  EXPECT_NEAR(out[0].as<float>()[1], 4 + 25, 1e-4);
  EXPECT_NEAR(out[0].as<float>()[2], 2.5 + 40, 1e-4);
}

TEST(Computes, RegionsOfFloat64AreNotRoundedToFloat32) {
  std::vector<double> plane;
  for (int k = 0; k < 64; ++k) plane.push_back((k % 8 + k / 8 * 10) / 3.0);
  const NDArray data = NDArray::of<double>({1, 1, 8, 8}, plane, DType::float_(64)),
                region = NDArray::of<double>({1, 5}, std::vector<double>{0, 1, 1, 5, 4}, DType::float_(64));
  const auto out = [&](const std::string& call) {
    return values_of("def @main(%x: Tensor[(1, 1, 8, 8), float64], %r: Tensor[(1, 5), float64]) { vision." +
                         call + ", layout=\"NCHW\") }",
                     {data, region})[0];
  };
  const NDArray aligned =
      out("roi_align(%x, %r, pooled_size=[1, 2], spatial_scale=1f64, sample_ratio=-1, mode=\"avg\"");
  EXPECT_NEAR(aligned.as<double>()[0], 27 / 3.0, 1e-12);
  EXPECT_NEAR(aligned.as<double>()[1], 29 / 3.0, 1e-12);
  EXPECT_EQ(out("roi_pool(%x, %r, pooled_size=[1, 1], spatial_scale=1f64").as<double>()[0], 45 / 3.0);
}

TEST(Computes, ProposalsAreTheBestRegionsWithoutOverlaps) {
  // One anchor of 16 x 16 per pixel, no corrections: boxes at (x * 16, y * 16), clipped to the image.
  const NDArray scores = floats({1, 2, 2, 2}, {0, 0, 0, 0, .1f, .9f, .5f, .3f}),
                none = NDArray::zeros({1, 4, 2, 2}, DType::float_(32));
  const auto out = values_of(
      "def @main(%s: Tensor[(1, 2, 2, 2), float32], %b: Tensor[(1, 4, 2, 2), float32], %i: Tensor[(1, 3), "
      "float32]) {"
      " vision.proposal(%s, %b, %i, scales=[1f64], ratios=[1f64], feature_stride=16, threshold=0.7f64, "
      "rpn_pre_nms_top_n=3,"
      " rpn_post_nms_top_n=4, rpn_min_size=1, iou_loss=False) }",
      {scores, none, floats({1, 3}, {32, 32, 1})});
  EXPECT_THAT(out[0].as<float>(),
              ElementsAre(0, 16, 0, 31, 15, 0, 0, 16, 15, 31, 0, 16, 16, 31, 31, 0, 16, 0, 31, 15));
}

TEST(Computes, RandomIndicesFollowTheProbabilities) {
  const NDArray key = NDArray::of<uint64_t>(
      {10}, std::vector<uint64_t>{1, 2, 3, 4, 0, 0, 0, 0, uint64_t{1} << 63, 0}, DType::uint_(64));
  const auto out = values_of(
      "def @main(%k: Tensor[(10), uint64], %p: Tensor[(2, 3), float32]) { random.multinomial(%k, %p, "
      "num_samples=200) }",
      {key, floats({2, 3}, {0, 2, 0, 1, -5, 3})});
  EXPECT_EQ(out[0].as<uint64_t>()[7], 400u);
  int often = 0;
  for (int k = 0; k < 200; ++k) {
    EXPECT_EQ(out[1].as<int32_t>()[k], 1);
    EXPECT_NE(out[1].as<int32_t>()[200 + k], 1);
    often += out[1].as<int32_t>()[200 + k] == 2;
  }
  EXPECT_NEAR(often, 150, 25);
}

TEST(Computes, GeneratorsGoOnWhereTheyStopped) {
  const std::vector<uint64_t> at{1, 2, 3, 4, 0, 0, 0, 0, 1, 0};
  const auto words = [&](const std::vector<uint64_t>& key, int count) {
    return values_of("def @main(%k: Tensor[(10), uint64]) { random.threefry_generate(%k, out_shape=[" +
                         std::to_string(count) + "]) }",
                     {NDArray::of<uint64_t>({10}, key, DType::uint_(64))});
  };
  const auto eight = words(at, 8), six = words(at, 6);
  EXPECT_EQ(six[0].as<uint64_t>()[7], 8u);  // keys advance by whole blocks of four
  for (int k = 0; k < 4; ++k) EXPECT_EQ(six[1].as<uint64_t>()[k], eight[1].as<uint64_t>()[k]);
  // Without room in the counter the path grows; its bit goes to the second word.
  std::vector<uint64_t> end = at;
  end[7] = ~uint64_t{0} - 2;
  EXPECT_THAT(words(end, 4)[0].as<uint64_t>(), ElementsAre(1, 2, 3, 4, 1, 0, 0, 4, 0, uint64_t{1} << 63));
  // Without room in the path there is a new key.
  end[8] = 0;
  const auto renewed = words(end, 4);
  EXPECT_NE(renewed[0].as<uint64_t>()[0], 1u);
  EXPECT_THAT(std::vector<uint64_t>(renewed[0].as<uint64_t>().begin() + 4, renewed[0].as<uint64_t>().end()),
              ElementsAre(0, 0, 0, 4, uint64_t{1} << 63, 0));
}

TEST(Computes, ExtentsThatAreValuesComeFromThem) {
  register_all_ops();
  const auto folded = [&](const std::string& text, const std::vector<NDArray>& inputs) {
    return evaluate(parsed(text), inputs, run_kernel_of(""));
  };
  const auto up = folded(
      "def @main(%x: Tensor[(1, 1, 1, 2, 2), float32], %d: float32, %h: float32, %w: float32) {"
      " dyn.nn.upsampling3d(%x, %d, %h, %w, scale_d=0f64, scale_h=0f64, scale_w=0f64, "
      "method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\") }",
      {floats({1, 1, 1, 2, 2}, {1, 2, 3, 4}), floats({}, {2}), floats({}, {1}), floats({}, {2})});
  EXPECT_EQ(up[0].shape(), (Shape{1, 1, 2, 2, 4}));
  EXPECT_THAT(up[0].as<float>(), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4));
  const auto none = folded("def @main(%x: Tensor[(3), int32]) { argwhere(%x) }", {ints({3}, {0, 0, 0})});
  EXPECT_EQ(none[0].shape(), (Shape{0, 1}));
  const std::string reshape =
      "def @main(%x: Tensor[(2, 3), float32], %s: Tensor[(2), int64]) { dyn.reshape(%x, %s, newshape=[]) }";
  EXPECT_THROW(folded(reshape, {rule("x", {2, 3}), longs({2}, {4, 2})}), NotSupported);
}

}  // namespace
}  // namespace baton
