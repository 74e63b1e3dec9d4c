// Kernels with symbolic extents: one kernel gives at every length what the static kernel of that length does.
#include "codegen/symbolic.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compiler.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/inspect.h"
#include "baton/ops/register.h"
#include "baton/support/error.h"

#include "codegen/kernels.h"
#include "ops/test_shapes.h"

namespace baton {
namespace {

using Numbers = std::vector<int64_t>;

JitKernel compiled(const Function& function) {
  KernelRequest request;
  request.function = function;
  return jit_kernel(request, DeviceSheet::host());
}

bool has_result(const Function& function) {
  return std::ranges::all_of(flat_types(type_of(function->body())), [](const TensorTypeNode* type) {
    return std::ranges::find(type->shape(), Dim(0)) == type->shape().end();
  });
}

/// Runs `kernel`, of `symbolic`, and the static kernel at these extents.
void expect_same_at(const JitKernel& kernel, const test::SymbolicCall& symbolic, const Function& at,
                    const Numbers& extents) {
  const std::vector<NDArray> inputs = test::inputs_at(symbolic, at);
  const auto want = test::run_guarded(compiled(at), at, inputs, {});
  EXPECT_EQ(test::difference(test::run_guarded(kernel, at, inputs, extents), want), "");
}

// ---- Every operator, on the calls of its block.

/// Operators without a call that has a kernel for symbolic extents, and why.
const std::map<std::string, std::string>& need_numbers() {
  static const std::map<std::string, std::string> all = {
      {"arange", "no call of its block has symbolic extents"},
      {"argwhere", "no call of its block has symbolic extents"},
      {"broadcast_to", "no call of its block has symbolic extents"},
      {"dyn.broadcast_to", "no call of its block has symbolic extents"},
      {"dyn.expand_dims", "no call of its block has symbolic extents"},
      {"dyn.full", "no call of its block has symbolic extents"},
      {"dyn.image.resize2d", "no call of its block has symbolic extents"},
      {"dyn.nn.pad", "no call of its block has symbolic extents"},
      {"dyn.nn.upsampling", "no call of its block has symbolic extents"},
      {"dyn.nn.upsampling3d", "no call of its block has symbolic extents"},
      {"dyn.one_hot", "no call of its block has symbolic extents"},
      {"dyn.ones", "no call of its block has symbolic extents"},
      {"dyn.reshape", "no call of its block has symbolic extents"},
      {"dyn.sparse_to_dense", "no call of its block has symbolic extents"},
      {"dyn.squeeze", "no call of its block has symbolic extents"},
      {"dyn.strided_slice", "no call of its block has symbolic extents"},
      {"dyn.tile", "no call of its block has symbolic extents"},
      {"dyn.topk", "no call of its block has symbolic extents"},
      {"dyn.zeros", "no call of its block has symbolic extents"},
      {"full", "no call of its block has symbolic extents"},
      {"nn.bitserial_conv2d", "nn.bitserial_conv2d needs a number for axis 1, which is n"},
      {"nn.contrib_conv2d_gemm_weight_transform",
       "nn.contrib_conv2d_gemm_weight_transform needs a number for axis 3, which is n"},
      {"nn.contrib_conv2d_gemm_without_weight_transform",
       "nn.contrib_conv2d_gemm_without_weight_transform needs a number for axis 1, which is n"},
      {"nn.contrib_conv2d_winograd_weight_transform",
       "nn.contrib_conv2d_winograd_weight_transform needs a number for axis 0, which is n + 3"},
      {"nn.contrib_conv3d_winograd_weight_transform",
       "nn.contrib_conv3d_winograd_weight_transform needs a number for axis 3, which is n"},
      {"nn.contrib_conv3d_winograd_without_weight_transform",
       "nn.contrib_conv3d_winograd_without_weight_transform needs a number for axis 3, which is n"},
      {"nn.internal.sparse_dense_padded",
       "nn.internal.sparse_dense_padded needs a number for axis 1, which is n"},
      {"nn.sparse_add", "nn.sparse_add needs a number for axis 1, which is n"},
      {"nn.sparse_conv2d", "nn.sparse_conv2d needs a number for axis 3, which is n"},
      {"nn.sparse_dense", "nn.sparse_dense needs a number for axis 1, which is n"},
      {"nn.sparse_transpose", "nn.sparse_transpose needs a number for axis 0, which is n"},
      {"ones", "no call of its block has symbolic extents"},
      {"sparse_fill_empty_rows", "no call of its block has symbolic extents"},
      {"vision.proposal", "vision.proposal needs a number for axis 1, which is n"},
      {"vision.yolo_reorg", "vision.yolo_reorg needs a number for axis 3, which is n//2"},
      {"zeros", "no call of its block has symbolic extents"},
  };
  return all;
}

class SymbolicOperator : public testing::TestWithParam<const OpDef*> {};

TEST_P(SymbolicOperator, ComputesAtEveryLengthWhatItsStaticKernelDoes) {
  const OpDef& op = *GetParam();
  constexpr int kMostKernels = 4;  // of an operator: they take long to compile
  int kernels = 0;
  std::string why = "no call of its block has symbolic extents";
  for (const char* text : op.test_shapes) {
    const test::TestCase each = test::test_case(op, text);
    std::set<int64_t> extents;
    for (const Var& param : each.function->params())
      for (const Dim& dim : as_type<TensorTypeNode>(type_of(*param))->shape())
        if (dim.value() > 0) extents.insert(dim.value());
    for (const int64_t extent : extents) {
      if (kernels == kMostKernels) break;
      const auto symbolic = test::with_variable(each.function, each.inputs, extent);
      if (!symbolic) continue;
      SCOPED_TRACE(op.name + ": " + text + ", with n for " + std::to_string(extent));
      JitKernel kernel;
      try {
        kernel = compiled(symbolic->function);
      } catch (const NeedsNumbers& error) {
        why = error.what();
        continue;
      }
      ++kernels;
      for (const int64_t n : std::set<int64_t>{1, extent, 17}) {
        const auto at = test::at_number(*symbolic, n);
        if (!at || !has_result(*at)) continue;
        SCOPED_TRACE("n = " + std::to_string(n));
        expect_same_at(kernel, *symbolic, *at, {n});
      }
    }
  }
  const auto known = need_numbers().find(op.name);
  if (known == need_numbers().end())
    EXPECT_GT(kernels, 0) << op.name << ": " << why;
  else
    EXPECT_EQ(kernels ? "" : why, known->second) << op.name;
}

INSTANTIATE_TEST_SUITE_P(Operators, SymbolicOperator, testing::ValuesIn(test::computed_ops()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// ---- Fused groups, by their templates.

struct Group {
  const char* name;
  const char* text;  ///< parameters and body of main; $N and $M are the variables
  std::vector<Numbers> extents;
  const char* of_template;  ///< of long extents
};

void PrintTo(const Group& group, std::ostream* out) { *out << group.name; }

class SymbolicGroup : public testing::TestWithParam<Group> {};

TEST_P(SymbolicGroup, ComputesAtEveryLengthWhatItsStaticKernelDoes) {
  const Group& group = GetParam();
  const test::SymbolicCall symbolic = test::symbolic_program(group.text);
  KernelRequest request;
  request.function = symbolic.function;
  EXPECT_EQ(chosen_schedule(request, DeviceSheet::host()).template_name, group.of_template);
  const JitKernel kernel = compiled(symbolic.function);
  for (const Numbers& extents : group.extents) {
    SCOPED_TRACE(testing::PrintToString(extents));
    expect_same_at(kernel, symbolic, at_extents(*symbolic.function, extents), extents);
  }
}

const std::vector<Numbers> kLengths = {{1},  {2},  {3},  {4},  {7},  {8},  {13},
                                       {14}, {15}, {16}, {17}, {31}, {64}, {100}};

INSTANTIATE_TEST_SUITE_P(
    Groups, SymbolicGroup,
    testing::Values(
        Group{
            "PackedDense",
            "%x: Tensor[($N, 40), float32], %w: Tensor[(3, 40, 16), float32], %b: Tensor[(48), float32]) {\n"
            "  nn.relu(add(nn.contrib_dense_pack(%x, %w, units=48, weight_layout=\"NC16n\"), %b))",
            kLengths, "gemm"},
        Group{"PackedDenseOfABatch",
              "%x: Tensor[($N, $M, 24), float32], %w: Tensor[(2, 24, 16), float32]) {\n"
              "  nn.contrib_dense_pack(%x, %w, units=29, weight_layout=\"NC16n\")",
              {{1, 1}, {1, 7}, {3, 5}, {2, 100}},
              "gemm"},
        Group{"Dense",
              "%x: Tensor[($N, 40), float32], %w: Tensor[(24, 40), float32], %b: Tensor[(24), float32]) {\n"
              "  nn.bias_add(nn.dense(%x, %w, units=24), %b)",
              kLengths, "matmul"},
        Group{"AttentionScores",
              "%q: Tensor[(3, $N, 20), float32], %k: Tensor[(3, $N, 20), float32]) {\n"
              "  multiply(nn.batch_matmul(%q, %k, transpose_b=True), 0.25f)",
              kLengths, "matmul"},
        Group{"AttentionValues",
              "%p: Tensor[(3, $N, $M), float32], %v: Tensor[(3, $M, 20), float32]) {\n"
              "  nn.batch_matmul(%p, %v, transpose_b=False)",
              {{1, 1}, {2, 17}, {17, 2}, {31, 64}, {64, 31}, {100, 1}, {5, 0}},
              "matmul"},
        Group{"SoftmaxOfASum",
              "%x: Tensor[($N, 40), float32], %y: Tensor[(40), float32]) {\n  nn.softmax(add(%x, %y))",
              kLengths, "rows"},
        Group{"SoftmaxAlong", "%x: Tensor[(3, 5, $N), float32]) {\n  nn.softmax(%x)", kLengths, "rows"},
        Group{"LogSoftmaxOfSquares", "%x: Tensor[($N, $N), float32]) {\n  nn.log_softmax(%x)", kLengths,
              "rows"},
        Group{"MeanOfAChain",
              "%x: Tensor[($N, 40), float32], %y: Tensor[($N, 1), float32]) {\n"
              "  mean(multiply(subtract(%x, %y), subtract(%x, %y)), axis=[-1], keepdims=True)",
              kLengths, "reduce"},
        Group{"SumAlong",
              "%x: Tensor[(5, $N), float32]) {\n  sum(%x, axis=[1])",
              {{0}, {1}, {2}, {3}, {15}, {16}, {17}, {63}, {64}, {65}, {300}},
              "reduce"},
        Group{"MaximumAcross", "%x: Tensor[($N, 40), float32]) {\n  max(%x, axis=[0])", kLengths, "reduce"},
        Group{"SumOfAll",
              "%x: Tensor[($N, $M), float32]) {\n  sum(%x)",
              {{0, 3}, {1, 1}, {7, 17}, {64, 33}},
              "reduce"},
        Group{"Convolution",
              "%x: Tensor[($N, 2, $M, $M, 16), float32], %w: Tensor[(3, 2, 3, 3, 16, 16), float32], "
              "%b: Tensor[(1, 3, 1, 1, 16), float32]) {\n"
              "  nn.relu(add(nn.contrib_conv2d_NCHWc(%x, %w, padding=[1, 1, 1, 1], channels=48, "
              "kernel_size=[3, 3], "
              "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\"), %b))",
              {{1, 1}, {1, 2}, {2, 3}, {1, 6}, {1, 7}, {1, 8}, {3, 13}, {1, 14}, {1, 31}, {8, 17}},
              "conv_direct"},
        Group{"ConvolutionWithStrides",
              "%x: Tensor[(1, 1, $N, $M, 3), float32], %w: Tensor[(2, 1, 7, 7, 3, 16), float32]) {\n"
              "  nn.contrib_conv2d_NCHWc(%x, %w, strides=[2, 2], padding=[3, 3, 3, 3], channels=32, "
              "kernel_size=[7, 7], data_layout=\"NCHW3c\", kernel_layout=\"OIHW3i16o\", "
              "out_layout=\"NCHW16c\")",
              {{1, 1}, {7, 9}, {32, 33}, {64, 31}},
              "conv_direct"},
        Group{"ConvolutionOfOnePixel",
              "%x: Tensor[(1, 2, $N, $M, 16), float32], %w: Tensor[(3, 2, 1, 1, 16, 16), float32], "
              "%r: Tensor[(1, 3, $N, $M, 16), float32]) {\n"
              "  nn.relu(add(nn.contrib_conv2d_NCHWc(%x, %w, channels=48, kernel_size=[1, 1], "
              "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\"), %r))",
              {{1, 1}, {1, 5}, {3, 2}, {7, 7}, {14, 15}, {31, 33}},
              "conv_direct"},
        Group{"ConvolutionInPlainLayouts",
              "%x: Tensor[($N, 3, $M, 9), float32], %w: Tensor[(8, 3, 3, 3), float32]) {\n"
              "  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]))",
              {{1, 1}, {2, 3}, {1, 4}, {3, 17}},
              "conv_plain"},
        Group{"DepthwiseConvolution",
              "%x: Tensor[($N, 2, $M, $M, 16), float32], %w: Tensor[(2, 1, 3, 3, 1, 16), float32]) {\n"
              "  nn.relu(nn.contrib_depthwise_conv2d_NCHWc(%x, %w, padding=[1, 1, 1, 1], groups=32, "
              "channels=32, "
              "kernel_size=[3, 3], data_layout=\"NCHW16c\", kernel_layout=\"OIHW1i16o\", "
              "out_layout=\"NCHW16c\"))",
              {{1, 1}, {1, 2}, {2, 3}, {1, 7}, {1, 8}, {1, 14}, {3, 31}},
              "conv_depthwise"},
        Group{
            "MaxPool",
            "%x: Tensor[($N, 2, $M, $M, 16), float32]) {\n"
            "  nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], layout=\"NCHW16c\")",
            {{1, 1}, {1, 2}, {2, 3}, {1, 16}, {1, 31}},
            "pool"},
        Group{"MaxPoolInPlainLayouts",
              "%x: Tensor[($N, 3, $M, $M), float32]) {\n"
              "  nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])",
              {{1, 1}, {1, 2}, {2, 3}, {1, 16}, {1, 31}, {1, 100}},
              "pool"},
        Group{"AveragePool",
              "%x: Tensor[(1, 3, $N, $M), float32]) {\n"
              "  nn.avg_pool2d(%x, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1])",
              {{1, 1}, {2, 5}, {17, 16}},
              "pool"},
        Group{"GlobalAveragePool",
              "%x: Tensor[($N, 2, $M, $M, 16), float32]) {\n  nn.global_avg_pool2d(%x, layout=\"NCHW16c\")",
              {{1, 1}, {2, 3}, {1, 7}, {3, 14}},
              "pool"},
        Group{"PointwiseChain",
              "%x: Tensor[($N, $M), float32], %y: Tensor[($M), float32], %z: Tensor[($N, 1), float32]) {\n"
              "  nn.relu(add(multiply(%x, %y), %z))",
              {{1, 1}, {1, 17}, {17, 1}, {3, 64}, {31, 33}, {100, 16}},
              "pointwise"},
        Group{"JoinedPixels",
              "%x: Tensor[(1, 2, $N, $M, 16), float32], %s: Tensor[(1, 2, 1, 1, 16), float32]) {\n"
              "  nn.relu(multiply(%x, %s))",
              {{1, 1}, {1, 17}, {7, 9}, {31, 33}},
              "pointwise"},
        Group{"HeadsApart",
              "%x: Tensor[($N, $M, 6, 20), float32]) {\n  transpose(%x, axes=[0, 2, 1, 3])",
              {{1, 1}, {2, 3}, {1, 17}, {3, 64}},
              "pointwise"},
        Group{"Transposed",
              "%x: Tensor[($N, $M), float32]) {\n  transpose(%x)",
              {{1, 1}, {1, 17}, {17, 1}, {3, 64}, {31, 33}, {64, 64}},
              "pointwise"},
        Group{"HeadsTogether",
              "%x: Tensor[(1, 6, $N, 20), float32]) {\n"
              "  reshape(transpose(%x, axes=[0, 2, 1, 3]), newshape=[1, -1, 120])",
              {{1}, {2}, {17}, {64}},
              "pointwise"},
        Group{"JoinedWithWhatMayBeEmpty",
              "%x: Tensor[($N, 20), float32], %y: Tensor[($M, 20), float32]) {\n  nn.relu(concatenate((%x, "
              "%y)))",
              {{0, 1}, {1, 0}, {3, 0}, {0, 17}, {1, 1}, {16, 17}, {64, 3}},
              "pointwise"},
        Group{
            "JoinedAlongTheLastAxis",
            "%x: Tensor[(3, $N), float32], %y: Tensor[(3, $M), float32]) {\n  concatenate((%x, %y), axis=1)",
            {{0, 1}, {1, 0}, {0, 17}, {1, 1}, {16, 17}, {64, 3}},
            "pointwise"},
        Group{"Padded",
              "%x: Tensor[($N, $M), float32]) {\n  nn.pad(%x, 1f, pad_width=[[1, 2], [0, 3]])",
              {{1, 1}, {0, 3}, {3, 0}, {17, 31}},
              "pointwise"},
        Group{"Embedding",
              "%w: Tensor[(50, 20), float32], %i: Tensor[($N, $M), int32]) {\n  multiply(take(%w, %i, "
              "axis=0), 2f)",
              {{1, 1}, {3, 5}, {2, 64}},
              "pointwise"},
        Group{"RootMeanSquare",
              "%x: Tensor[(1, $N, 40), float32], %g: Tensor[(40), float32]) {\n"
              "  multiply(%x, %g)",
              {{1}, {17}},
              "pointwise"}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- Interface

Function add_of(std::vector<Dim> a, std::vector<Dim> b, std::vector<Dim> result) {
  const DType f32 = DType::float_(32);
  const Var x = test::param("x", tensor_type(std::move(a), f32)),
            y = test::param("y", tensor_type(std::move(b), f32));
  return test::primitive({x, y}, test::op_call("add", {x, y}, tensor_type(std::move(result), f32)));
}

KernelKey key_of(const Function& function) { return kernel_key({function, {}, {}, {}}, DeviceSheet::host()); }

TEST(SymbolicKernels, HaveOneKeyWhateverTheNamesAre) {
  const Dim n = extent_var({"n"}), m = extent_var({"m"}), k = extent_var({"k"});
  EXPECT_EQ(key_of(add_of({n, 64}, {n, 64}, {n, 64})), key_of(add_of({m, 64}, {m, 64}, {m, 64})));
  EXPECT_EQ(key_of(add_of({n, m}, {1, m}, {n, m})), key_of(add_of({k, n}, {1, n}, {k, n})));
  EXPECT_EQ(key_of(add_of({n + 1, m}, {n + 1, m}, {n + 1, m})),
            key_of(add_of({m + 1, k}, {m + 1, k}, {m + 1, k})));
  EXPECT_NE(key_of(add_of({n, m}, {n, m}, {n, m})), key_of(add_of({n, n}, {n, n}, {n, n})));
  EXPECT_NE(key_of(add_of({n, 64}, {n, 64}, {n, 64})), key_of(add_of({64, n}, {64, n}, {64, n})));
  EXPECT_NE(key_of(add_of({n, 64}, {n, 64}, {n, 64})), key_of(add_of({7, 64}, {7, 64}, {7, 64})));
}

TEST(SymbolicKernels, TakeTheirExtentsInOrderOfFirstUse) {
  const Dim n = extent_var({"n"}), m = extent_var({"m"});
  const Function function = add_of({m * 2 + n, 4}, {1, m}, {m * 2 + n, 4});
  const std::vector<Dim> extents = kernel_extents(*function);
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_TRUE(std::ranges::count(extents, n) == 1 && std::ranges::count(extents, m) == 1);
  const int64_t numbers[] = {3, 4};
  EXPECT_TRUE(kernel_extents(*at_extents(*function, numbers)).empty());
  EXPECT_THROW(at_extents(*function, {}), UsageError);
  EXPECT_TRUE(kernel_extents(*add_of({2, 4}, {2, 4}, {2, 4})).empty());
}

TEST(SymbolicKernels, SayWhereTheyNeedNumbers) {
  EXPECT_THROW(compiled(add_of({Dim::any(), 4}, {1, 4}, {Dim::any(), 4})), NeedsNumbers);
  const test::SymbolicCall winograd = test::symbolic_program(
      "%w: Tensor[(8, $N, 3, 3), float32]) {\n"
      "  nn.contrib_conv2d_winograd_weight_transform(%w, tile_size=4)");
  try {
    compiled(winograd.function);
    ADD_FAILURE() << "a kernel";
  } catch (const NeedsNumbers& error) {
    EXPECT_STREQ(error.what(),
                 "nn.contrib_conv2d_winograd_weight_transform needs a number for axis 3, which is N");
  }
}

TEST(SymbolicKernels, OfLayersArePackedAndFusedAsThoseOfNumbers) {
  std::map<std::string, std::string> templates;  // by operators
  for (const KernelRequest& request : test::symbolic_kernels(
           "%x: Tensor[($N, 16, $M, $M), float32], %w: Tensor[(32, 16, 3, 3), float32], %b: Tensor[(32, 1, "
           "1), "
           "float32], %v: Tensor[(32, 1, 3, 3), float32], %d: Tensor[(48, 32), float32]) {\n"
           "  %0 = nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]), "
           "%b));\n"
           "  %1 = nn.conv2d(%0, %v, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3]);\n"
           "  %2 = nn.batch_flatten(nn.global_avg_pool2d(nn.relu(%1)));\n"
           "  nn.softmax(nn.dense(%2, %d, units=48))")) {
    std::string ops;
    for (const KernelBlock& block : kernel_blocks(*request.function)) ops += block.call->op()->name + " ";
    templates[ops] = compile_kernel(request, DeviceSheet::host()).template_name;
  }
  EXPECT_EQ(templates.count("nn.contrib_conv2d_NCHWc add nn.relu "), 1u);
  EXPECT_EQ(templates["nn.contrib_depthwise_conv2d_NCHWc nn.relu "], "conv_depthwise");
  EXPECT_EQ(templates["nn.contrib_dense_pack "], "gemm");
  EXPECT_EQ(templates["nn.softmax "], "rows");
}

/// A product of two operands of $N rows each, whose columns are tiled in vectors.
constexpr const char* kSquares =
    "%x: Tensor[(2, $N, 24), float32], %y: Tensor[(2, $N, 24), float32]) {\n"
    "  nn.relu(nn.batch_matmul(%x, %y, transpose_b=True))";

TEST(SymbolicKernels, HaveTheSameMarksInAllTheirSchedules) {
  KernelRequest request;
  request.function = test::symbolic_program(kSquares).function;
  request.variant.marked = true;
  const Kernel kernel = compile_kernel(request, DeviceSheet::host());
  EXPECT_GE(kernel.cases.size(), 2u);
  std::set<std::string> names;
  std::set<int> ids;
  for (const MarkSite& site : kernel.marks) {
    EXPECT_TRUE(names.insert(site.name).second) << site.name;
    EXPECT_TRUE(ids.insert(site.id).second) << site.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(SymbolicKernels, OfVectorsHaveSchedulesForShortAndLongExtents) {
  const test::SymbolicCall squares = test::symbolic_program(kSquares);
  const test::Folder folder;
  KernelCache cache(folder.path());
  BuildContext context = host_context();
  context.cache = &cache;
  KernelRequest request;
  request.function = squares.function;
  const KernelRef kernel = compile_kernels({&request, 1}, context)[0];
  ASSERT_GE(kernel->cases.size(), 2u);
  EXPECT_EQ(kernel->cases.back().condition, "");
  EXPECT_TRUE(with_extent_names(kernel->cases.front().condition, *squares.function).starts_with("N >= "));
  const auto library = load_library({{"k", kernel}}, {&request, 1}, context);
  JitKernel linked;
  linked.function = library->find("k");
  for (int64_t n = 1; n <= 33; ++n)
    expect_same_at(linked, squares, at_extents(*squares.function, {{n}}), {n});
  // From the cache on disk, too.
  KernelCache again(folder.path());
  const auto kept = again.load(kernel->key);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->cases, kernel->cases);
  EXPECT_EQ(kept->object, kernel->object);
}

TEST(SymbolicKernels, OfProductsHaveOneScheduleForAnyNumberOfRows) {
  for (const char* text : {"%x: Tensor[($N, 64), float32], %w: Tensor[(4, 64, 16), float32]) {\n"
                           "  nn.relu(nn.contrib_dense_pack(%x, %w, units=61, weight_layout=\"NC16n\"))",
                           // Two extents, whose product is the number of rows.
                           "%x: Tensor[($N, $M, 1000), float32], %w: Tensor[(3, 1000, 16), float32]) {\n"
                           "  nn.contrib_dense_pack(%x, %w, units=48, weight_layout=\"NC16n\")",
                           "%x: Tensor[(3, $N, 40), float32], %y: Tensor[(3, 40, 24), float32]) {\n"
                           "  nn.batch_matmul(%x, %y, transpose_b=False)",
                           "%x: Tensor[($N, 40), uint8], %w: Tensor[(3, 10, 16, 2, 2), int8]) {\n"
                           "  nn.contrib_dense_pack(%x, %w, units=45, weight_layout=\"NC16n2c2c\", "
                           "out_dtype=\"int32\")",
                           "%x: Tensor[($N, 40), int16], %w: Tensor[(3, 20, 16, 2), int16]) {\n"
                           "  nn.contrib_dense_pack(%x, %w, units=48, weight_layout=\"NC16n2c\", "
                           "out_dtype=\"int32\")"}) {
    SCOPED_TRACE(text);
    const test::SymbolicCall product = test::symbolic_program(text);
    KernelRequest request;
    request.function = product.function;
    EXPECT_TRUE(compile_kernel(request, DeviceSheet::host()).cases.empty());
    const JitKernel kernel = compiled(product.function);
    for (int64_t n = 1; n <= 19; ++n) {
      std::vector<int64_t> extents{n};
      if (product.extents.size() == 2) extents.push_back(20 - n);
      SCOPED_TRACE(testing::PrintToString(extents));
      expect_same_at(kernel, product, at_extents(*product.function, extents), extents);
    }
  }
}

}  // namespace
}  // namespace baton
