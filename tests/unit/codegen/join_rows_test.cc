// Height and width as one axis, in packed and plain layouts.
#include "baton/codegen/kernel/join_rows.h"

#include <gtest/gtest.h>

#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

/// The type of main's result after its rows were joined, or "" where they were not.
std::string joined(const std::string& text) {
  register_all_ops();
  const Function function = infer_types(parse_module("#[version = \"0.0.5\"]\n" + text))->find("main");
  const Function rows = join_rows(function);
  return rows.get() == function.get() ? "" : type_text(rows->body()->checked_type());
}

TEST(JoinRows, PlainConvolutionsOfOneTap) {
  EXPECT_EQ(joined("def @main(%x: Tensor[(1, 5, 4, 7), float32], %w: Tensor[(3, 5, 1, 1), float32], %b: "
                   "Tensor[(3, 1, 1), float32]) { nn.relu(add(nn.conv2d(%x, %w, channels=3, kernel_size=[1, "
                   "1], padding=[0, 0, 0, 0]), %b)) }"),
            "Tensor[(1, 3, 1, 28), float32]");
  // Neighbours, strides and operands by columns.
  EXPECT_EQ(joined("def @main(%x: Tensor[(1, 5, 4, 7), float32], %w: Tensor[(3, 5, 3, 1), float32]) { "
                   "nn.conv2d(%x, %w, channels=3, kernel_size=[3, 1], padding=[1, 0, 1, 0]) }"),
            "");
  EXPECT_EQ(joined("def @main(%x: Tensor[(1, 5, 4, 7), float32], %w: Tensor[(3, 5, 1, 1), float32]) { "
                   "nn.conv2d(%x, %w, channels=3, kernel_size=[1, 1], strides=[2, 2], padding=[0, 0, 0, 0]) "
                   "}"),
            "");
  EXPECT_EQ(joined("def @main(%x: Tensor[(1, 5, 4, 7), float32], %w: Tensor[(3, 5, 1, 1), float32], %b: "
                   "Tensor[(7), float32]) { add(nn.conv2d(%x, %w, channels=3, kernel_size=[1, 1], "
                   "padding=[0, 0, 0, 0]), %b) }"),
            "");
}

}  // namespace
}  // namespace baton
