// Random operators with random attributes, layouts, element types and extents, alone and in chains, compiled
// as built at levels 0 and 3, in guarded memory, against the unscheduled computes. A finding is a wrong
// value, an access out of bounds, a crash, a hang or an InternalError; errors meant for users are none.
//
//   BATON_FUZZ_CASE="nn.relu: (2, 3)f32"   KernelFuzz.SlowGivenCase runs this case, and prints it as Relay
//   BATON_FUZZ_SEED=S                      the case of that seed
//   BATON_FUZZ_SECONDS=N, BATON_FUZZ_FIRST=S   KernelFuzz.SlowRandomSeeds for N seconds, from seed S on;
//                          KernelFuzz.SlowChangedOperands likewise, from case S on
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baton/driver/initialize.h"

#include "codegen/fuzz/fuzz_workers.h"
#include "codegen/fuzz/guarded_memory.h"
#include "codegen/fuzz/random_case.h"
#include "in_parts.h"

namespace baton::fuzz {
namespace {

constexpr double kSlowSeconds = 120;

double number_from(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtod(text, nullptr) : otherwise;
}

void expect_none(const std::string& text, const Verdict& verdict) {
  EXPECT_NE(verdict.kind, Verdict::Kind::kFound)
      << "[" << verdict.finding << "] " << verdict.text << "\ncase: " << text << "\n"
      << relay_text(parse_case(text));
}

class KernelFuzz : public testing::Test {
 protected:
  void SetUp() override { initialize(); }
};

/// The case or seed that the environment names.
TEST_F(KernelFuzz, SlowGivenCase) {
  const char *text = std::getenv("BATON_FUZZ_CASE"), *seed = std::getenv("BATON_FUZZ_SEED");
  if (!text && !seed) GTEST_SKIP() << "BATON_FUZZ_CASE or BATON_FUZZ_SEED names one";
  const std::string chosen = text ? text : case_text(random_case(std::strtoull(seed, nullptr, 10)));
  std::cout << "case: " << chosen << "\n" << relay_text(parse_case(chosen));
  const Verdict verdict = run_case(parse_case(chosen));
  if (verdict.kind == Verdict::Kind::kRefused) std::cout << "refused: " << verdict.text << "\n";
  expect_none(chosen, verdict);
}

class KernelFuzzCases : public InParts<3> {
 protected:
  void SetUp() override { initialize(); }
};
/// Cases that were random once. As texts: what a seed means changes with every new operator.
BATON_TEST_IN_PARTS(KernelFuzzCases, 3);
TEST_P(KernelFuzzCases, Agree) {
  size_t index = 0;
  for (const char* each : {
           "mean: (3, 4)f32",
           "argmin: ()f32, keepdims=True",
           "vision.multibox_prior: (1, 3, 5, 100)i8, steps=[-1., -1f]",
           "fixed_point_multiply_per_axis: (1, 8)i32, (8)i32{1073741824, 1288490189, 2147483647, 0}, "
           "(8)i32{0}, (8)i32{0, 1, 2, 30}, is_rshift_required=True, axes=[1]",
           "argmax: ()i8 | add: _, _",
           "sequence_mask: (8, 8)f32, (8)bool, mask_value=-1., axis=1",
           "sequence_mask: (200, 2)f32, (2)i8[1, 100], mask_value=-1.",
           "annotation.bitpack_start: (64, 5)f32 | where: _, (64, 5)f32, (64, 5)f32",
           "abs: (1)f32[-2, 2]",
           "random.threefry_generate: (10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, out_shape=[2, 6]",
           "sparse_reshape: (3, 2)i64{0, 1, 2, 0, 2, 3}, (2)i64{4, 6}, (3)i64{2, 2, -1}",
           "divide: (4, 7)i32[1, 7], (2, 1, 7)i32[1, 5]",
           "nn.max_pool1d: (1, 257, 8)bool, pool_size=[3], strides=[257], padding=[0, 0], ceil_mode=True | "
           "squeeze: _ | copy: _",
           "nn.pad: (2, 3)f32, ()i32={0}, pad_width=[[1, 1], [2, 2]]",
           "gather_nd: (31, 1023)f32, (2, 1023)i32[0, 4], index_rank=3 | logical_or: _, (1023)f32 | "
           "nn.leaky_relu: _, alpha=0.1",
           "reinterpret: (8)u32, dtype=int32",
           "tile: ()f32, reps=[3]",
           "bitwise_xor: (2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]",
           "trunc_mod: (3, 5)f32[0.5, 3], (5)f32[0.5, 3] | tan: _ | acos: _",
           "asin: (2, 3)f32 | collapse_sum_like: _, (1, 3)f32 | ceil: _ | tile: _, reps=[2]",
           "exp: (7, 5)i16[-2, 2]",
           "bitwise_and: (2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]",
           "cosh: (1023)f32[-2, 2] | isnan: _ | sinh: _",
           "cos: (2, 0)f32",
           "maximum: (3, 5)bool, (5)bool | log2: _",
           "log2: (3, 5)i16[-2, 2]",
           "exp: (4)i64[50, 60]",
           "exp: (4)u64[50, 60]",
           "nn.global_avg_pool2d: (7, 0, 2, 3)f32, layout=HWNC",
           "vision.roi_pool: (7, 1, 8, 8)f32, (2, 5)f32[0, 7], pooled_size=[3, 3], spatial_scale=1.",
           "vision.roi_pool: (7, 3, 8, 8)f32, (65, 5)f32[0, 7], pooled_size=[3, 3], spatial_scale=1.",
           "acosh: (4)u32[0, 3]",
           "random.multinomial: (10)u64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, (2, 3)i8[0, 1], num_samples=4",
           "nn.batch_norm: (2, 3, 4, 4)i32, (3)i32[0.5, 1.5], (3)i32, (3)i32, (3)i32[0.5, 1.5], "
           "epsilon=0.001",
           "max: (2, 3, 4)f32, axis=[1], exclude=True",
           "acosh: (5)bool",
           "isnan: (3, 5)f32[-2, 2] | acosh: _ | log: _",
           "image.crop_and_resize: (2, 6, 6, 2)u8, (2, 4)u8, (2)i32{0, 1}, crop_size=[2, 4], layout=NHWC, "
           "extrapolation_value=-1",
           "nn.adaptive_avg_pool3d: (1, 2, 0, 6, 6)f32, output_size=[2, 3, 3]",
           "nn.adaptive_avg_pool3d: (1, 2, 3, 0, 6)i32, output_size=[2, 3, 3]",
           "vision.multibox_prior: (1, 3, 4, 5)u16, sizes=[3.]",
           "nn.softmax: (2, 3, 20000)f32",
           "power: (65, 65)u8, (65)u8",
           "left_shift: (3, 5)u8, (5)u8",
           "ndarray_size: (2, 17)i32[-5, 5], dtype=bool",
           "nn.max_pool2d: (1, 1, 2, 2)f32, pool_size=[1, 1], padding=[1, 1]",
           "left_shift: (3, 5)i32[0, 50], (5)i32[0, 90]",
           "right_shift: (3, 5)i64[0, 50], (5)i64[0, 90]",
           "right_shift: (3, 5)u16[0, 50], (5)u16[0, 90]",
           "full_like: (2)bool, ()bool={2.5} | tan: _",
           "fast_tanh: (2, 0)f32 | variance: _, (2, 1)f32, axis=[1]",
           "variance: (2, 1)f32, (2, 1)f32, axis=[1], unbiased=True",
           "nn.conv2d_transpose: (1, 2, 4, 10)f32, (2, 17, 3, 4)f32, channels=17, kernel_size=[3, 4], "
           "strides=[1, 3], padding=[1, 0, 1, 0], kernel_layout=IOHW",
           "nn.upsampling3d: (1, 2, 2, 1, 2)f64, scale_d=2., scale_h=2., scale_w=2., method=trilinear",
           "nn.bitserial_conv2d: (1, 4, 6, 5, 8)u8[0, 2], (3, 3, 32, 16)u8[0, 2], channels=16, "
           "pack_dtype=uint32, out_dtype=int16, data_layout=NCHW8c, kernel_layout=HWIO",
           "image.resize2d: (1, 1, 31, 5, 16)u32, size=[6, 7], roi=[0., 0., 0., 0.], layout=NCHW16c",
       }) {
    if (!is_mine(index++)) continue;
    const Verdict verdict = run_case(parse_case(each));
    expect_none(each, verdict);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kAgrees) << each << ": " << verdict.text;
  }
}

// They would compile for minutes.
TEST_F(KernelFuzz, TensorsOfManyAxesAreRefused) {
  const Verdict verdict = run_case(parse_case("expand_dims: (4)f32, axis=0, num_newaxis=256"));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kRefused);
  EXPECT_NE(verdict.text.find("tensors of 257 axes: at most 32"), std::string::npos) << verdict.text;
}

// Its blocks had channels that the weight has not.
TEST_F(KernelFuzz, BlocksThatChannelsDoNotFillAreRefused) {
  const Verdict verdict =
      run_case(parse_case("nn.bitserial_conv2d: (1, 4, 6, 5, 8)u8[0, 2], (3, 3, 32, 4)u8[0, 2], channels=4, "
                          "pack_dtype=uint32, out_dtype=int16, data_layout=NCHW8c, kernel_layout=HWIO"));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kRefused);
  EXPECT_NE(verdict.text.find("4 channels in NCHW8c"), std::string::npos) << verdict.text;
}

TEST_F(KernelFuzz, SlowRandomSeeds) {
  const double seconds = number_from("BATON_FUZZ_SECONDS", kSlowSeconds);
  const auto first = static_cast<uint64_t>(number_from("BATON_FUZZ_FIRST", 1000));
  const FuzzCounts counts = fuzz_seeds(first, 1'000'000'000, seconds);
  std::cout << counts.cases << " cases from seed " << first << " on in " << seconds << " s, "
            << counts.refused << " refused, " << counts.findings << " findings\n";
  EXPECT_EQ(counts.findings, 0u);
  EXPECT_GT(counts.cases, 0u);
}

/// Whatever operands a type relation lets pass, a compute can index, or refuses.
TEST_F(KernelFuzz, SlowChangedOperands) {
  const double seconds = number_from("BATON_FUZZ_SECONDS", 3600);
  const auto first = static_cast<uint64_t>(number_from("BATON_FUZZ_FIRST", 0));
  const FuzzCounts counts = check_changed_operands(first, seconds);
  std::cout << counts.cases << " cases, " << counts.refused << " refused, " << counts.findings
            << " findings\n";
  EXPECT_EQ(counts.findings, 0u);
  EXPECT_GT(counts.cases, counts.refused);
}

TEST_F(KernelFuzz, DISABLED_Worker) { work_as_child(); }

/// What the findings were, each with its cause.
TEST_F(KernelFuzz, PastFindings) {
  for (const char* text : {
           // Tiles and vectors are as long as an axis at most: steps of 0.
           "add: (0)f32, (0)f32",
           "zeros: shape=[0], dtype=float32",
           "nn.dense: (0, 5)f32, (16, 5)f32, units=16",
           "nn.dense: (3, 0)f32, (16, 0)f32, units=16",
           "take: (0, 3)f32, (0)i32, axis=0",
           "take: (5, 3)f32, (0)i32, axis=0",
           "nn.max_pool2d: (0, 3, 5, 5)f32, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]",
           "nn.softmax: (3, 0)f32",
           "nn.conv2d: (0, 3, 5, 5)f32, (4, 3, 3, 3)f32, channels=4, kernel_size=[3, 3] | nn.relu: _",
           "concatenate: [(0, 3)f32, (2, 3)f32], axis=0",
           "sum: (3, 0)f32, axis=[1]",
           // Sums over groups have other loops than the packed form.
           "nn.contrib_conv2d_NCHWc: (1, 2, 5, 3, 4)f32, (3, 1, 3, 3, 4, 4)f32, groups=2, channels=12, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o",
           "nn.contrib_conv2d_NCHWc: (1, 2, 9, 9, 4)f32, (2, 1, 3, 3, 4, 4)f32, groups=8, channels=8, "
           "dilation=[2, 2], kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o | nn.relu: _",
           "nn.contrib_conv2d_NCHWc: (0, 2, 5, 3, 4)f32, (3, 1, 3, 3, 4, 4)f32, groups=2, channels=12, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o",
           // A packed weight under the default kernel_layout.
           "nn.contrib_conv2d_NCHWc: (1, 1, 3, 1, 8)f32, (2, 1, 1, 1, 8, 4)f32, channels=8, kernel_size=[1, "
           "1], "
           "data_layout=NCHW8c, out_layout=NCHW4c",
           // No regions' bins, whose size was divided by their number.
           "vision.roi_align: (1, 2, 8, 8)f32, (1, 5)f32{0, 1, 1, 5, 6}, pooled_size=[0, 2], "
           "spatial_scale=1.",
           // Divisors of floats that are known to be zero.
           "divide: (5, 16)f32, ()f32={0}",
           // Just below an integer, or the integer: as multiplications and additions were fused.
           "vision.roi_align: (1000, 2, 8, 8)f64, (1, 5)f64{0, 1, 1, 5, 6}, pooled_size=[2, 2], "
           "spatial_scale=1., mode=max",
           "vision.roi_align: (3, 3, 6, 6)i8, (3, 5)i8[0, 3], pooled_size=[2, 5], spatial_scale=0.5",
           // Code generators concluded that 1 / sqrt(x) of a bool is never that of false.
           "rsqrt: (15)bool",
           // Sampled in float32, which is less than what its types promise.
           "image.grid_sample: (3, 2, 4, 4)f64, (3, 2, 3, 3)f64[-1.2, 1.2], method=bicubic, "
           "padding_mode=reflection",
           "image.grid_sample: (3, 2, 4, 4)f64, (3, 2, 3, 3)f32[-1.2, 1.2]",
           // Halide leaves out a maximum with the least finite number: such padding was -inf.
           "nn.max_pool2d: (1, 1, 2, 2)f64, pool_size=[1, 1], padding=[1, 1, 1, 1]",
           "nn.max_pool1d: (1, 1, 2)f32, pool_size=[1], padding=[1, 1]",
       }) {
    SCOPED_TRACE(text);
    const Verdict verdict = run_case(parse_case(text));
    expect_none(text, verdict);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kAgrees) << verdict.text;
  }
}

/// Relay's types accept more operands than computes do: they are refused, instead of read out of bounds.
TEST_F(KernelFuzz, OperandsWithoutMeaningAreRefused) {
  for (const char* text : {
           // element types
           "bitwise_not: (3, 8)f32",
           "unravel_index: (6)f32, (2)i32{7, 6}",
           "unravel_index: (6)i32[0, 5], (2)f32{7, 6}",
           "nn.relu: (2, 3)f32 | bitwise_xor: _, (3)f32",
           "right_shift: (2, 3)f32, (3)f32[0, 5]",
           // the weight of a convolution: its channels, its layout, blocks of no channels, tiles
           "nn.conv2d: (1, 5, 4, 4)f32, (8, 2, 3, 3)f32, groups=2, channels=8, kernel_size=[3, 3]",
           "nn.contrib_conv2d_NCHWc: (1, 2, 5, 3, 4)f32, (3, 1, 3, 3, 4, 4)f32, channels=12, "
           "kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o",
           "nn.contrib_conv2d_NCHWc: (1, 1, 3, 1, 8)f32, (2, 1, 1, 1, 8, 0)f32, channels=8, "
           "kernel_size=[1, 1], data_layout=NCHW8c, out_layout=NCHW4c",
           "nn.contrib_conv2d_gemm_without_weight_transform: (1, 8, 8, 4)f32, (1, 9, 4, 4)f32, channels=8, "
           "kernel_size=[3, 3], data_layout=NHWC, kernel_layout=HWIO",
           "nn.contrib_conv3d_winograd_without_weight_transform: (1, 3, 6, 6, 6)f32, (4, 4, 4, 8, 3)f32, "
           "tile_size=2, channels=9, kernel_size=[3, 3, 3]",
           "nn.bitserial_conv2d: (1, 32, 6, 5)u8[0, 2], (3, 32, 3, 3)u8[0, 2], channels=4, "
           "pack_dtype=uint32, out_dtype=int16",
           "nn.bitserial_dense: (2, 32)u8[0, 4], (2, 32)u8[0, 2], units=3, data_bits=2, pack_dtype=uint32, "
           "out_dtype=int16",
           // blocks of another size than the layout names
           "nn.contrib_conv2d_NCHWc: (1, 2, 6, 6, 3)f32, (2, 2, 3, 3, 4, 4)f32, padding=[1, 1, 1, 1], "
           "channels=8, kernel_size=[3, 3], data_layout=NCHW4c, kernel_layout=OIHW4i4o, out_layout=NCHW4c",
           "nn.conv2d: (8, 8, 1, 3)u32, (3, 3, 4, 3)u32, dilation=[2, 2], channels=4, kernel_size=[3, 3], "
           "data_layout=HWNC, kernel_layout=HWOI, out_layout=NCHW16c",
           // a gradient that is not of the forward operator's result
           "matrix_set_diag: (3, 4)u64, (3)u64, k1=1, k2=1 | nn.avg_pool2d_grad: _, (3, 4)u64, "
           "pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], count_include_pad=True",
           "nn.avg_pool2d_grad: (1, 1, 1, 1)f32, (1, 2, 4, 4)f32, pool_size=[2, 2], strides=[2, 2]",
           "nn.conv2d_backward_weight: (2, 4, 6, 6)f32, (1, 3, 8, 8)f32, channels=4, kernel_size=[3, 3], "
           "kernel_layout=NCHW, out_layout=OIHW",
           // other operands that must fit the first
           "fixed_point_multiply_per_axis: (4, 4)f32, (4, 1)f32, (4, 5)f32, (3)f32, "
           "is_lshift_required=True, is_rshift_required=True, axes=[0]",
           "fixed_point_multiply_per_axis: (3, 2)i32, (3)i32, (3)i32, (3)i32, axes=[9]",
           "matrix_set_diag: (2, 3, 4)f32, (2, 1, 3)f32, k1=0, k2=1",
           "nn.internal.sparse_dense_padded: (2, 4)f32, (3)f32, (2)i32[0, 4], (4)i32{0, 1, 3, 3}",
           "scatter: (5)f32, (2)i64{1, -1}, (3)f32, axis=-1",
           "scatter_add: (5)f32, (2)i64{1, -1}, (2)f32, axis=3",
           "scatter_nd: (2, 4, 3)f32, (1, 2)i64{2, 0}, (2, 3)f32, mode=update",
           "gather_nd: (3, 4, 3)f32, (1, 2, 5)i32[0, 4], batch_dims=1",
           "take: (3, 5, 4)f32, (2, 3)i32[0, 5], axis=1, batch_dims=1",
           "variance: (3, 16)u64, (3, 5)u64, keepdims=True, unbiased=True",
           "vm.reshape_tensor: (3)f32, (1)i64={6}, newshape=[6]",
           "strided_set: (5, 6)f32, (2, 5)f32, (1)i64={1}, (1)i64={5}, (1)i64={2}",
           "vision.multibox_transform_loc: (7, 20000, 4)f32[0, 1], (1, 16)f32, (16, 4, 4)f32[0, 1], "
           "variances=[0.7, 0.7, 0.2, 0.2]",
           "vision.roi_pool: (1, 2, 8, 8)f32, (1, 4)f32{0, 1, 1, 6}, pooled_size=[3, 3], spatial_scale=1.",
           // nothing to read
           "adv_index: [(0, 4)f32, (3)i64{0, 2, 2}]",
           "dyn.reshape: (0)f32, (0)i64{}, newshape=[]",
           "image.resize1d: (1, 2, 0)f32, size=[7], roi=[0., 0.]",
           "nn.internal.sparse_dense_padded: (2, 0)f32, (3)f32, (3)i32{0, 2, 3}, (4)i32{0, 1, 3, 3}",
           // a result of fewer axes than the data
           "dyn.broadcast_to: (1, 3)f32, (0)i64[0, 5], shape=None",
       }) {
    SCOPED_TRACE(text);
    const Verdict verdict = run_case(parse_case(text));
    expect_none(text, verdict);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kRefused);
  }
}

TEST(KernelCases, AreReadAsTheyAreWritten) {
  initialize();
  for (const char* text : {"nn.relu: (2, 3)f32", "concatenate: [(2)i32={7, 8}, (1)i32[0, 5]], axis=-1",
                           "einsum: [(2, 3)f32, (3)f32], equation=\"ij,j->i\"",
                           "nn.relu: (3)f32 | add: _, (1)f32 | split: _, indices_or_sections=3"})
    EXPECT_EQ(case_text(parse_case(text)), text);
  EXPECT_EQ(case_text(random_case(7)), case_text(random_case(7)));
  EXPECT_NE(case_text(random_case(7)), case_text(random_case(8)));
  EXPECT_THROW(parse_case("(2, 3)f32"), std::runtime_error);
}

TEST(GuardedMemory, EndsAtAForbiddenPageAndNoticesWritesBeside) {
  for (const GuardAt at : {GuardAt::kBegin, GuardAt::kEnd}) {
    NDArray array = guarded_array({3}, DType::float_(32), at);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
    array.as<float>()[2] = 1;
    EXPECT_TRUE(is_intact(array));
    static_cast<char*>(array.data())[12] = 0;
    EXPECT_FALSE(is_intact(array));
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t data = reinterpret_cast<uintptr_t>(array.data());
    const uintptr_t beside = at == GuardAt::kBegin ? data - page : (data + 64) / page * page;
    unsigned char resident = 0;
    EXPECT_EQ(mincore(reinterpret_cast<void*>(beside), 1, &resident), 0);  // mapped,
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    EXPECT_EQ(write(pipe_ends[1], reinterpret_cast<void*>(beside), 1), -1);  // and unreadable
    EXPECT_EQ(errno, EFAULT);
    close(pipe_ends[0]), close(pipe_ends[1]);
  }
}

}  // namespace
}  // namespace baton::fuzz
