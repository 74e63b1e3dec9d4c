// nn.matmul with either operand transposed computes one product; the reference outputs of TVM hold it as
// nn.dense only.
#include <gtest/gtest.h>

#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "ops/evaluate.h"

namespace baton {
namespace {

std::vector<float> product(const std::string& params, const std::string& flags, const Shape& a_shape,
                           const std::vector<float>& a, const Shape& b_shape, const std::vector<float>& b) {
  register_all_ops();
  const DType f32 = DType::float_(32);
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + params +
                                                   ") {\n  nn.matmul(%a, %b, units=None" + flags + ")\n}\n"));
  const auto out = evaluate(module->find("main"), {NDArray::from_bytes(a_shape, f32, a.data()),
                                                   NDArray::from_bytes(b_shape, f32, b.data())});
  const auto values = out.at(0).as<float>();
  return {values.begin(), values.end()};
}

TEST(NnMatmul, IsTheSameProductHoweverItsOperandsLie) {
  const std::vector<float> a{1, 2, 3, 4, 5, 6}, a_transposed{1, 4, 2, 5, 3, 6};    // (2, 3), (3, 2)
  const std::vector<float> b{1, 0, 2, -1, 3, 1}, b_transposed{1, 2, 3, 0, -1, 1};  // (3, 2), (2, 3)
  const std::vector<float> wanted{14, 1, 32, 1};
  const std::string wide = "Tensor[(2, 3), float32]", tall = "Tensor[(3, 2), float32]";
  EXPECT_EQ(product("%a: " + wide + ", %b: " + tall, "", {2, 3}, a, {3, 2}, b), wanted);
  EXPECT_EQ(product("%a: " + tall + ", %b: " + tall, ", transpose_a=True", {3, 2}, a_transposed, {3, 2}, b),
            wanted);
  EXPECT_EQ(product("%a: " + wide + ", %b: " + wide, ", transpose_b=True", {2, 3}, a, {2, 3}, b_transposed),
            wanted);
}

}  // namespace
}  // namespace baton
