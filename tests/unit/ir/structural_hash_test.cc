// Fixed numbers: the hash names kernels in caches on disk, and must not change from run to run or machine to
// machine. When it is changed on purpose, caches must be told apart from those of before, too.
#include <gtest/gtest.h>

#include "baton/ir/expr.h"
#include "baton/ir/structural.h"
#include "baton/ops/register.h"
#include "baton/text/parser.h"

namespace baton {
namespace {

uint64_t hash_of(const std::string& text) {
  register_all_ops();
  return structural_hash(*parse_module("#[version = \"0.0.5\"]\n" + text));
}

TEST(StructuralHash, OfAConvolution) {
  EXPECT_EQ(hash_of("def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {\n"
                    "  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]))\n}"),
            9169873308161204173u);
}

TEST(StructuralHash, OfADataTypeAndAMatch) {
  EXPECT_EQ(hash_of("type List[A] { Cons(A, List[A]), Nil, }\n"
                    "def @length[A](%l: List[A]) -> int32 {\n"
                    "  match (%l) { Cons(_, %rest) => add(1, @length(%rest)), Nil => 0 }\n}"),
            5997402443277950143u);
}

TEST(StructuralHash, OfClosuresReferencesAndBranches) {
  EXPECT_EQ(
      hash_of(
          "def @main(%c: bool, %x: Tensor[(?, 2), int64]) {\n"
          "  let %r = ref(%x);\n"
          "  let %f = fn (%y: Tensor[(?, 2), int64], Inline=1) { if (%c) { ref_read(%r) } else { %y } };\n"
          "  (%f(%x), 2.5f64).0\n}"),
      14335527289410414844u);
}

TEST(StructuralHash, OfALargeConstantDependsOnEachByte) {
  register_all_ops();
  NDArray weight = NDArray::zeros({64, 64}, DType::float_(32));
  const uint64_t before = structural_hash(constant(weight));
  EXPECT_EQ(before, structural_hash(constant(weight.copy())));
  for (const size_t byte : {size_t{0}, weight.bytes() / 2 + 3, weight.bytes() - 1}) {
    NDArray other = weight.copy();
    static_cast<uint8_t*>(other.data())[byte] = 1;
    EXPECT_NE(before, structural_hash(constant(other))) << byte;
  }
}

}  // namespace
}  // namespace baton
