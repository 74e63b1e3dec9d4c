// 1x1 convolutions with height and width, and products with all axes of rows, as one axis.
#include "baton/codegen/kernel/join_rows.h"

#include <functional>

#include <gtest/gtest.h>

#include "baton/codegen/compile.h"
#include "baton/ir/inspect.h"

#include "codegen/fuzz/guarded_memory.h"
#include "codegen/kernels.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

Function joined_kernel_of(const std::string& text) {
  return typed_module("def @main(" + text + "\n}\n")->find("main");
}

std::string conv(const std::string& data, const std::string& attrs = "") {
  return "nn.contrib_conv2d_NCHWc(" + data +
         ", %w, channels=16, kernel_size=[1, 1], data_layout=\"NCHW8c\", "
         "kernel_layout=\"OIHW8i8o\"" +
         attrs + ")";
}

const char kWeight[] = "%w: Tensor[(2, 3, 1, 1, 8, 8), float32]";

std::string params(const std::string& shape, const std::string& more = "") {
  return "%x: Tensor[(" + shape + "), float32], " + kWeight + more + ") {\n  ";
}

/// The types of parameters and result after joining.
std::string joined_types(const std::string& text) {
  const Function joined = join_rows(joined_kernel_of(text));
  std::string all;
  for (const Var& param : joined->params()) all += type_text(type_of(*param)) + " ";
  return all + "-> " + type_text(joined->body()->checked_type());
}

bool is_joined(const std::string& text) {
  const Function function = joined_kernel_of(text);
  return join_rows(function).get() != function.get();
}

TEST(JoinRows, HeightAndWidthAreOneAxis) {
  EXPECT_EQ(joined_types(params("1, 3, 5, 7, 8", ", %b: Tensor[(1, 2, 1, 1, 8), float32]") + "nn.relu(add(" +
                         conv("%x") + ", %b))"),
            "Tensor[(1, 3, 1, 35, 8), float32] Tensor[(2, 3, 1, 1, 8, 8), float32] Tensor[(1, 2, 1, 1, 8), "
            "float32] -> Tensor[(1, 2, 1, 35, 8), float32]");
  // Strides leave pixels out: the data keep their shape.
  EXPECT_EQ(joined_types(params("2, 3, 5, 7, 8", ", %r: Tensor[(2, 2, 3, 4, 8), float32]") + "add(" +
                         conv("nn.relu(%x)", ", strides=[2, 2]") + ", %r)"),
            "Tensor[(2, 3, 5, 7, 8), float32] Tensor[(2, 3, 1, 1, 8, 8), float32] Tensor[(2, 2, 1, 12, 8), "
            "float32] -> Tensor[(2, 2, 1, 12, 8), float32]");
}

TEST(JoinRows, LeavesAloneWhatDependsOnThePosition) {
  EXPECT_TRUE(is_joined(params("1, 3, 5, 7, 8") + conv("%x")));
  EXPECT_FALSE(is_joined(params("1, 3, 1, 7, 8") + conv("%x"))) << "one row";
  EXPECT_FALSE(is_joined(params("1, 3, 5, 7, 8") + conv("%x", ", padding=[0, 1, 0, 0]")));
  EXPECT_FALSE(is_joined(params("1, 3, 5, 7, 8") + conv("%x", ", padding=[1, 0, -1, 0]")));
  EXPECT_FALSE(
      is_joined(params("1, 3, 5, 7, 8", ", %r: Tensor[(5, 1, 1), float32]") + "add(" + conv("%x") + ", %r)"))
      << "one number per row";
  EXPECT_FALSE(
      is_joined(params("1, 3, 5, 7, 8", ", %r: Tensor[(7, 8), float32]") + "add(" + conv("%x") + ", %r)"));
  EXPECT_FALSE(is_joined(params("1, 3, 5, 7, 8", ", %r: Tensor[(7), float32]") + "nn.bias_add(" + conv("%x") +
                         ", %r, axis=3)"));
  EXPECT_FALSE(is_joined(params("1, 3, 5, 7, 8") + "(" + conv("%x") + ", %x)")) << "a tuple";
  EXPECT_FALSE(is_joined(params("1, 3, 5, 7, 8", ", %r: Tensor[(1, 2, 5, 7, 8), float32]") + "add(%r, %r)"))
      << "no convolution";
}

std::string plain(const std::string& attrs, const std::string& more = "") {
  return "%x: Tensor[(1, 5, 4, 7), float32], %w: Tensor[(3, 5, 1, 1), float32]" + more +
         ") {\n  nn.relu(add(nn.conv2d(%x, %w, channels=3, kernel_size=[1, 1]" + attrs + "), %b))";
}

TEST(JoinRows, PlainLayouts) {
  const std::string per_channel = ", %b: Tensor[(3, 1, 1), float32]", none = ", padding=[0, 0, 0, 0]";
  EXPECT_EQ(joined_types(plain(none, per_channel)),
            "Tensor[(1, 5, 1, 28), float32] Tensor[(3, 5, 1, 1), float32] Tensor[(3, 1, 1), float32] -> "
            "Tensor[(1, 3, 1, 28), float32]");
  EXPECT_FALSE(is_joined(plain(none, ", %b: Tensor[(7), float32]"))) << "one number per column";
  EXPECT_FALSE(is_joined(plain(", padding=[0, 1, 0, 0]", per_channel)));
  EXPECT_FALSE(is_joined(plain(", padding=[1, 0, -1, 0]", per_channel)));
  EXPECT_EQ(joined_types(plain(none + ", strides=[2, 2]", per_channel)),
            "Tensor[(1, 5, 4, 7), float32] Tensor[(3, 5, 1, 1), float32] Tensor[(3, 1, 1), float32] -> "
            "Tensor[(1, 3, 1, 8), float32]");
}

const char kProduct[] = "nn.contrib_dense_pack(%x, %w, units=7, weight_layout=\"NC4n\")";

std::string product(const std::string& data, const std::string& more, const std::string& body,
                    const std::string& weight = "2, 5, 4") {
  return "%x: Tensor[(" + data + "), float32], %w: Tensor[(" + weight + "), float32]" + more + ") {\n  " +
         body;
}

/// `body` with the product where it says %d, and an operand %r.
std::string around_product(const std::string& data, const std::string& operand, std::string body) {
  body.replace(body.find("%d"), 2, kProduct);
  return product(data, ", %r: Tensor[(" + operand + "), float32]", body);
}

TEST(JoinRows, RowsOfProducts) {
  EXPECT_EQ(joined_types(around_product("2, 3, 5", "2, 3, 7", "nn.relu(add(%d, %r))")),
            "Tensor[(1, 6, 5), float32] Tensor[(2, 5, 4), float32] Tensor[(1, 6, 7), float32] -> "
            "Tensor[(1, 6, 7), float32]");
  EXPECT_EQ(joined_types(around_product("4, 1, 5", "7", "add(%d, %r)")),
            "Tensor[(1, 4, 5), float32] Tensor[(2, 5, 4), float32] Tensor[(7), float32] -> Tensor[(1, 4, 7), "
            "float32]");
  EXPECT_EQ(joined_types(around_product("1, 2, 3, 5", "2, 3, 7", "multiply(%d, %r)")),
            "Tensor[(1, 1, 6, 5), float32] Tensor[(2, 5, 4), float32] Tensor[(1, 6, 7), float32] -> "
            "Tensor[(1, 1, 6, 7), float32]");
  EXPECT_EQ(joined_types(product("2, 3, 5", "", "nn.dense(%x, %w)", "7, 5")),
            "Tensor[(1, 6, 5), float32] Tensor[(7, 5), float32] -> Tensor[(1, 6, 7), float32]");
  EXPECT_FALSE(is_joined(around_product("1, 3, 5", "3, 7", "add(%d, %r)"))) << "one row of rows";
  EXPECT_FALSE(is_joined(around_product("2, 3, 5", "3, 7", "add(%d, %r)"))) << "repeats along the first axis";
  EXPECT_FALSE(is_joined(around_product("2, 3, 5", "2, 1, 1", "add(%d, %r)")));
  EXPECT_FALSE(is_joined(around_product("0, 3, 5", "7", "add(%d, %r)"))) << "no rows";
  EXPECT_FALSE(is_joined(around_product("6, 5", "7", "add(%d, %r)")));
}

/// What a kernel by a template makes of inputs whose memory ends with them.
void expect_computed(const std::string& text, const char* name,
                     const std::function<NDArray(const std::vector<NDArray>&)>& wanted) {
  KernelRequest request;
  request.function = joined_kernel_of(text);
  request.template_name = name;
  const JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  std::vector<NDArray> all;
  for (const NDArray& input : test::rule_inputs(request.function)) {
    all.push_back(fuzz::guarded_copy(input, fuzz::GuardAt::kEnd));
    fuzz::protect(all.back());
  }
  const NDArray want = wanted(all);
  all.push_back(fuzz::guarded_array(want.shape(), want.dtype(), fuzz::GuardAt::kEnd));
  ASSERT_EQ(test::call_kernel(kernel.function, all), 0);
  EXPECT_TRUE(fuzz::is_intact(all.back()));
  EXPECT_LE(test::largest_difference(all.back(), want), 1e-6);
}

/// x (4, 3, 5) times the packed w, plus r, which is broadcast to (4, 3, 7).
NDArray product_by_definition(const std::vector<NDArray>& inputs) {
  const auto x = inputs[0].as<float>(), w = inputs[1].as<float>(), r = inputs[2].as<float>();
  Shape shape(3 - inputs[2].shape().size(), 1);
  shape.insert(shape.end(), inputs[2].shape().begin(), inputs[2].shape().end());
  NDArray want = NDArray::empty({4, 3, 7}, DType::float_(32));
  for (int64_t a = 0, at = 0; a < 4; ++a)
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t unit = 0; unit < 7; ++unit, ++at) {
        double sum = r[((a % shape[0]) * shape[1] + b % shape[1]) * shape[2] + unit % shape[2]];
        for (int64_t k = 0; k < 5; ++k)
          sum += double(x[(a * 3 + b) * 5 + k]) * double(w[(unit / 4 * 5 + k) * 4 + unit % 4]);
        want.as<float>()[at] = static_cast<float>(sum);
      }
  return want;
}

TEST(JoinRows, TheSameProductsWhereverRowsLie) {
  for (const char* operand : {"7", "4, 3, 7", "3, 7", "4, 1, 7", "1"})
    for (const char* name : {"gemm", "trivial"}) {
      SCOPED_TRACE(std::string(operand) + " " + name);
      expect_computed(around_product("4, 3, 5", operand, "add(%d, %r)"), name,
                      [](const std::vector<NDArray>& inputs) { return product_by_definition(inputs); });
    }
}

/// Sums of products, by definition, in the layouts of conv().
NDArray reference(const NDArray& x, const NDArray& w, int stride) {
  const auto& s = x.shape();
  const int64_t height = (s[2] - 1) / stride + 1, width = (s[3] - 1) / stride + 1;
  NDArray out = NDArray::empty({s[0], 2, height, width, 8}, DType::float_(32));
  const auto data = x.as<float>(), weight = w.as<float>();
  const auto result = out.as<float>();
  for (int64_t n = 0, at = 0; n < s[0]; ++n)
    for (int64_t ob = 0; ob < 2; ++ob)
      for (int64_t pixel = 0; pixel < height * width; ++pixel)
        for (int64_t o = 0; o < 8; ++o, ++at) {
          const int64_t row = pixel / width * stride, column = pixel % width * stride;
          double sum = 0;
          for (int64_t c = 0; c < 24; ++c)
            sum += double(data[(((n * 3 + c / 8) * s[2] + row) * s[3] + column) * 8 + c % 8]) *
                   double(weight[((ob * 3 + c / 8) * 8 + c % 8) * 8 + o]);
          result[at] = static_cast<float>(sum);
        }
  return out;
}

TEST(JoinRows, TheSameValuesOfOddExtents) {
  for (const int stride : {1, 2, 3})
    for (const char* shape : {"1, 3, 5, 7, 8", "2, 3, 14, 13, 8", "1, 3, 2, 1, 8", "3, 3, 9, 2, 8"})
      for (const char* name : {"conv_direct", "trivial"}) {
        SCOPED_TRACE(std::string(shape) + " stride " + std::to_string(stride) + " " + name);
        const std::string s = std::to_string(stride);
        expect_computed(
            params(shape) + conv("%x", ", strides=[" + s + ", " + s + "]"), name,
            [&](const std::vector<NDArray>& inputs) { return reference(inputs[0], inputs[1], stride); });
      }
}

}  // namespace
}  // namespace baton
