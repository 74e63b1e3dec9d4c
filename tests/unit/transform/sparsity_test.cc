#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/inspect.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/log.h"
#include "baton/transform/sparse/sparse_matrix.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

template <class T>
std::vector<T> values_of(const NDArray& array) {
  const auto* data = static_cast<const T*>(array.data());
  return {data, data + array.size()};
}

TEST(SparseMatrixTest, BlocksThatAreNotAllZero) {
  const DenseMatrix matrix{4,
                           4,
                           {0, 0, 1, 2,  //
                            0, 0, 3, 0,  //
                            0, 0, 0, 0,  //
                            0, 0, 0, 0}};
  EXPECT_DOUBLE_EQ(share_of_zeros(matrix), 13.0 / 16);
  const SparseMatrix sparse = block_sparse(matrix, 2, 2);
  EXPECT_EQ(values_of<float>(sparse.data), (std::vector<float>{1, 2, 3, 0}));
  EXPECT_EQ(sparse.data.ndim(), 3);
  EXPECT_EQ(values_of<int32_t>(sparse.indices), (std::vector<int32_t>{1}));
  EXPECT_EQ(values_of<int32_t>(sparse.row_starts), (std::vector<int32_t>{0, 1, 1}));
}

TEST(SparseMatrixTest, WeightsInAnyLayout) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const NDArray hwio = NDArray::from_bytes({1, 1, 2, 3}, DType::float_(32), values.data());
  const DenseMatrix matrix = output_by_input(hwio, 3, 2);
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.values, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

class SparsityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    old_sink_ = set_log_sink([this](const std::string& line) { log_ += line + "\n"; });
  }
  void TearDown() override { set_log_sink(old_sink_); }

  // A convolution of 1 x 1 with the weights (2, 4, 1, 1), after the pass.
  Expr convert(std::vector<float> weights, double threshold) {
    const Var x = var("x", tensor_type(std::vector<int64_t>{1, 4, 3, 3}, DType::float_(32)));
    const Expr weight = constant(NDArray::from_bytes({2, 4, 1, 1}, DType::float_(32), weights.data()));
    const AttrSchema& schema = *find_op("nn.conv2d")->attrs;
    const Attrs attrs = make_attrs(schema, {{"padding", std::vector<int64_t>{0, 0, 0, 0}},
                                            {"channels", 2},
                                            {"kernel_size", std::vector<int64_t>{1, 1}}});
    const IRModule module = make_module();
    module->set("main", function({x}, call("nn.conv2d", {x, weight}, attrs)));
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    const Pass pass = make_pass("Conv2dToSparse2", {{"layout", "NCHW"},
                                                    {"kernel_size", 1},
                                                    {"blocksize", AttrList{1, 2}},
                                                    {"sparsity_threshold", threshold}});
    return (*pass)(infer_types(module), under)->find("main")->body();
  }

  LogSink old_sink_;
  std::string log_;
};

TEST_F(SparsityTest, ConstantsAreConvertedWhenTheyAreSparse) {
  const Expr body = convert({0, 0, 0, 7, 0, 0, 0, 0}, 0.8);
  const CallNode* conv = call_of(body, "nn.sparse_conv2d");
  ASSERT_TRUE(conv);
  EXPECT_EQ(type_text(conv->checked_type()), "Tensor[(1, 2, 3, 3), float32]");
  EXPECT_EQ(values_of<float>(as<ConstantNode>(conv->args()[1])->value()), (std::vector<float>{0, 7}));
  EXPECT_EQ(values_of<int32_t>(as<ConstantNode>(conv->args()[2])->value()), (std::vector<int32_t>{1}));
  EXPECT_EQ(values_of<int32_t>(as<ConstantNode>(conv->args()[3])->value()), (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(log_, "");
}

TEST_F(SparsityTest, OthersStayAndSayWhy) {
  EXPECT_TRUE(call_of(convert({0, 1, 0, 7, 0, 3, 0, 0}, 0.8), "nn.conv2d"));
  EXPECT_EQ(log_, "nn.conv2d stays dense: only 62% of its weights are zero\n");
}

TEST_F(SparsityTest, ArgumentsAreChecked) {
  EXPECT_THROW(make_pass("DenseToSparse", {{"weight_name", AttrList{"w"}}}), UsageError);
  EXPECT_THROW(make_pass("Conv2dToSparse2", {{"kernel_size", 3}}), NotSupported);
  EXPECT_THROW(make_pass("Conv2dToSparse2", {{"blocksize", AttrList{0, 1}}}), UsageError);
  EXPECT_THROW(make_pass("recast", {{"dtype", "int8"}}), UsageError);
  EXPECT_THROW(make_pass("recast", {{"dtype", "int8"}, {"out_dtype", "int32"}, {"ops", AttrList{"nn.conv"}}}),
               UsageError);
}

}  // namespace
}  // namespace baton
