// Types of the operators on quantised tensors, of the random generators and of object detection: one typing
// of each that TVM 0.11.1 gives, and what is refused.
#include <gtest/gtest.h>

#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

/// `%x: (2, 3) f4, %s` is short for `%x: Tensor[(2, 3), float32], %s`.
std::string parameters(const std::string& brief) {
  std::string text;
  for (size_t i = 0; i < brief.size(); ++i) {
    if (brief[i] != '(') {
      text += brief[i];
      continue;
    }
    const size_t close = brief.find(')', i), end = std::min(brief.find(',', close), brief.size());
    text += "Tensor[" + brief.substr(i, close - i + 1) + "," + brief.substr(close + 1, end - close - 1) + "]";
    i = end - 1;
  }
  return text;
}

/// The type of `body`, or the codes of the errors: "E0202 E0214".
std::string type_of(const std::string& inputs, const std::string& body) {
  register_all_ops();
  try {
    const IRModule module = infer_types(
        parse_module("#[version = \"0.0.5\"]\ndef @main(" + parameters(inputs) + ") { " + body + " }"));
    return type_text(module->find("main")->ret_type());
  } catch (const DiagnosticError& error) {
    std::string codes;
    for (const Diagnostic& d : error.diagnostics()) codes += (codes.empty() ? "" : " ") + d.code;
    return codes;
  }
}

struct QuantizedCase {
  const char *inputs, *body, *type;
};

void check_quantized(std::initializer_list<QuantizedCase> cases) {
  for (const QuantizedCase& each : cases)
    EXPECT_EQ(type_of(each.inputs, each.body), each.type) << each.inputs << "\n" << each.body;
}

TEST(QuantizedTypes, QuantizeAndBack) {
  check_quantized({
      {"%x: (2, 3) float32", "qnn.quantize(%x, 0.5f, 0, out_dtype=\"uint8\")", "Tensor[(2, 3), uint8]"},
      {"%x: (2, 3) float32, %s: (3) float32, %z: (3) int32",
       "qnn.quantize(%x, %s, %z, out_dtype=\"int8\", axis=1)", "Tensor[(2, 3), int8]"},
      {"%x: (2, 3) float32, %s: (2) float32, %z: (2) int32",
       "qnn.quantize(%x, %s, %z, out_dtype=\"int8\", axis=1)", "E0202"},
      {"%x: (2, ?) float32, %s: (3) float32", "qnn.quantize(%x, %s, 0, out_dtype=\"int8\")",
       "Tensor[(2, ?), int8]"},
      {"%x: (2, 3) float32, %s: (3) float32", "qnn.quantize(%x, %s, 0, out_dtype=\"int8\", axis=2)", "E0203"},
      {"%x: (2, 3) int8", "qnn.quantize(%x, 0.5f, 0, out_dtype=\"int8\")", "E0218"},
      {"%x: (2, 3) float32", "qnn.quantize(%x, 0.5f, 0, out_dtype=\"float32\")", "E0217"},
      {"%x: (2, 3) float32", "qnn.quantize(%x, 0.5f, 0f, out_dtype=\"int8\")", "E0218"},
      {"%x: (2, 3) int8", "qnn.dequantize(%x, 0.5f, 0)", "Tensor[(2, 3), float32]"},
      {"%x: (2, 3) float32", "qnn.dequantize(%x, 0.5f, 0)", "E0218"},
      {"%x: (2, 3) int32", "qnn.requantize(%x, 0.5f, 0, 0.25f, 1, out_dtype=\"int8\")",
       "Tensor[(2, 3), int8]"},
      {"%x: (2, 3) float32", "qnn.requantize(%x, 0.5f, 0, 0.25f, 1, out_dtype=\"int8\")", "E0218"},
      {"%x: (2, 3) int32, %s: (3) float32", "qnn.requantize(%x, 0.5f, 0, %s, 1, out_dtype=\"int8\")",
       "E0218"},
      {"%x: (4, 3) float32, %s: (3) float32", "qnn.simulated_quantize(%x, 1, %s, 0)",
       "Tensor[(4, 3), float32]"},
      {"%x: (4, 3) float32, %s: (2) float32", "qnn.simulated_quantize(%x, 1, %s, 0)", "E0202"},
      {"%x: (4, 3) float32, %z: (1) int32", "qnn.simulated_dequantize(%x, 1, 0.5f, %z, axis=0)",
       "Tensor[(4, 3), float32]"},
      {"%x: (4, 3) float32", "qnn.simulated_dequantize(%x, 1f, 0.5f, 0)", "E0218"},
  });
}

TEST(QuantizedTypes, Products) {
  check_quantized({
      {"%x: (1, 3, 8, 8) uint8, %w: (4, 3, 3, 3) int8",
       "qnn.conv2d(%x, %w, 0, 0, 0.5f, 0.5f, channels=4, kernel_size=[3, 3], out_dtype=\"int32\")",
       "Tensor[(1, 4, 6, 6), int32]"},
      {"%x: (1, 3, 8, 8) uint8, %w: (3, 3, 3, 4) int8, %s: (4) float32",
       "qnn.conv2d(%x, %w, 0, 0, 0.5f, %s, kernel_layout=\"HWIO\", out_dtype=\"int32\")",
       "Tensor[(1, 4, 6, 6), int32]"},
      {"%x: (1, 3, 8, 8) uint8, %w: (4, 3, 3, 3) int8, %s: (5) float32",
       "qnn.conv2d(%x, %w, 0, 0, 0.5f, %s, out_dtype=\"int32\")", "E0202"},
      {"%x: (1, 3, 8, 8) float32, %w: (4, 3, 3, 3) int8",
       "qnn.conv2d(%x, %w, 0, 0, 0.5f, 0.5f, out_dtype=\"int32\")", "E0218"},
      {"%x: (1, 3, 8) uint8, %w: (4, 3, 3, 3) int8",
       "qnn.conv2d(%x, %w, 0, 0, 0.5f, 0.5f, out_dtype=\"int32\")", "E0215"},
      {"%x: (1, 3, 8, 8) uint8, %w: (3, 4, 3, 3) int8",
       "qnn.conv2d_transpose(%x, %w, 0, 0, 0.5f, 0.5f, channels=4, kernel_size=[3, 3], strides=[2, 2], "
       "kernel_layout=\"IOHW\", out_dtype=\"int32\")",
       "Tensor[(1, 4, 17, 17), int32]"},
      {"%x: (1, 3, 8, 8) uint8, %w: (3, 4, 3, 3) int8",
       "qnn.conv2d_transpose(%x, %w, 0, 0, 0.5f, 0.5f, strides=[0, 2], kernel_layout=\"IOHW\", "
       "out_dtype=\"int32\")",
       "E0217"},
      {"%x: (2, 4) uint8, %w: (3, 4) int8", "qnn.dense(%x, %w, 0, 0, 1f, 1f, units=3, out_dtype=\"int32\")",
       "Tensor[(2, 3), int32]"},
      {"%x: (2, 4) uint8, %w: (3, 5) int8", "qnn.dense(%x, %w, 0, 0, 1f, 1f, units=3, out_dtype=\"int32\")",
       "E0202"},
      {"%x: (2, 3, 4) int8, %y: (2, 5, 4) int8",
       "qnn.batch_matmul(%x, %y, 0, 0, 1f, 1f, out_dtype=\"int32\", transpose_b=True)",
       "Tensor[(2, 3, 5), int32]"},
      {"%x: (2, 3, 4) int8, %y: (3, 5, 4) int8",
       "qnn.batch_matmul(%x, %y, 0, 0, 1f, 1f, out_dtype=\"int32\", transpose_b=True)", "E0218"},
  });
}

TEST(QuantizedTypes, BinaryAndJoin) {
  for (const std::string op : {"qnn.add", "qnn.subtract", "qnn.mul"}) {
    const std::string body = op + "(%x, %y, 0.5f, 0, 0.5f, 0, 0.5f, 0)";
    EXPECT_EQ(type_of("%x: (2, 3) uint8, %y: (2, 3) uint8", body), "Tensor[(2, 3), uint8]") << op;
    EXPECT_EQ(type_of("%x: (2, 3) uint8, %y: (4, 3) uint8", body), "E0214") << op;
    EXPECT_EQ(type_of("%x: (2, 3) uint8, %y: (3) uint8, %s: (2) float32",
                      op + "(%x, %y, %s, 0, 0.5f, 0, 0.5f, 0, lhs_axis=0)"),
              "Tensor[(2, 3), uint8]")
        << op;
  }
  const std::string join = "qnn.concatenate((%x, %y), (0.5f, 0.5f), (0, 0), 0.5f, 0, axis=1)";
  EXPECT_EQ(type_of("%x: (2, 3) uint8, %y: (2, 4) uint8", join), "Tensor[(2, 7), uint8]");
  EXPECT_EQ(type_of("%x: (2, 3) uint8, %y: (3, 4) uint8", join), "E0218");
  EXPECT_EQ(type_of("%x: (2, 3) uint8", "qnn.concatenate((%x, %x), (0.5f, 0.5f, 1f), (0, 0), 0.5f, 0)"),
            "E0218");
}

TEST(QuantizedTypes, Unary) {
  for (const std::string op :
       {"abs", "erf", "exp", "hardswish", "leaky_relu", "log", "rsqrt", "sigmoid", "sqrt", "tanh"}) {
    EXPECT_EQ(type_of("%x: (2, ?) int8", "qnn." + op + "(%x, 0.5f, 0, 0.5f, 0)"), "Tensor[(2, ?), int8]")
        << op;
    EXPECT_EQ(type_of("%x: (2, 3) float32", "qnn." + op + "(%x, 0.5f, 0, 0.5f, 0)"), "E0218") << op;
    EXPECT_EQ(type_of("%x: (2, 3) int8", "qnn." + op + "(%x, 0.5f, 0, 0.5f, 0f)"), "E0218") << op;
    EXPECT_EQ(type_of("%x: (2, 3) int8, %s", "qnn." + op + "(%x, %s, 0, 0.5f, 0)"), "E0201") << op;
  }
}

TEST(RandomTypes, TheKeyIsAssigned) {
  check_quantized({
      {"%k", "random.threefry_generate(%k, out_shape=[2, 3])",
       "(Tensor[(10), uint64], Tensor[(2, 3), uint64])"},
      {"%k: (9) uint64", "random.threefry_generate(%k, out_shape=[2, 3])", "E0202"},
      {"%k: (10) uint64", "random.threefry_generate(%k, out_shape=[-2, 3])", "E0217"},
      {"%k", "random.threefry_split(%k)", "(Tensor[(10), uint64], Tensor[(10), uint64])"},
      {"%k: (10) int64", "random.threefry_split(%k)", "E0202"},
      {"%k: (10) uint64", "random.uniform(%k, 0f, 1f, out_shape=[2, 3], out_dtype=\"float32\")",
       "(Tensor[(10), uint64], Tensor[(2, 3), float32])"},
      {"%k: (10) uint64", "random.uniform(%k, 0f, 1f, out_shape=[2, 3], out_dtype=\"int32\")", "E0217"},
      {"%k: (10) uint64", "random.normal(%k, 0f, 1f, out_shape=[2, 3], out_dtype=\"float32\")",
       "(Tensor[(10), uint64], Tensor[(2, 3), float32])"},
      {"%k: (10) uint64", "random.normal(%k, 0f, 1f, out_shape=[2, 3], out_dtype=\"float64\")", "E0202"},
      {"%k: (10) uint64, %p: (2, 5) float32", "random.multinomial(%k, %p, num_samples=3)",
       "(Tensor[(10), uint64], Tensor[(2, 3), int32])"},
      {"%k: (10) uint64", "random.multinomial(%k, 1f)", "E0218"},
  });
}

TEST(VisionTypes, Suppression) {
  const char* boxes = "%x: (1, 100, 6) float32, %c: (1) int32, %i: (1, 100) int32";
  check_quantized({
      {boxes, "vision.get_valid_counts(%x, 0.5f)",
       "(Tensor[(1), int32], Tensor[(1, 100, 6), float32], Tensor[(1, 100), int32])"},
      {boxes, "vision.get_valid_counts(%i, 0.5f)", "E0215"},
      {boxes, "vision.non_max_suppression(%x, %c, %i, -1, 0.5f)",
       "(Tensor[(1, 100), int32], Tensor[(1, 1), int32])"},
      {boxes, "vision.non_max_suppression(%x, %i, %i, -1, 0.5f)", "E0215"},
      {"%b: (1, 100, 4) float32, %s: (1, 5, 100) float32",
       "vision.all_class_non_max_suppression(%b, %s, 10i64, 0.5f, 0.5f)",
       "(Tensor[(500, 3), int64], Tensor[(1), int64])"},
      {"%b: (?, 100, 4) float32, %s: (?, 5, 100) float32",
       "vision.all_class_non_max_suppression(%b, %s, 10i64, 0.5f, 0.5f)",
       "(Tensor[(?, 3), int64], Tensor[(1), int64])"},
      {"%b: (1, 4) float32, %s: (1, 5, 100) float32",
       "vision.all_class_non_max_suppression(%b, %s, 10i64, 0.5f, 0.5f)", "E0215"},
  });
}

TEST(VisionTypes, Boxes) {
  check_quantized({
      {"%x: (1, 3, 8, 8) float32", "vision.multibox_prior(%x, sizes=[1f, 0.5f], ratios=[1f, 2f])",
       "Tensor[(1, 192, 4), float32]"},
      {"%x: (1, 3, 8, 8) float32", "vision.multibox_prior(%x, sizes=[], ratios=[])", "E0217"},
      {"%x: (1, 3, 9223372036854775807, 8) float32", "vision.multibox_prior(%x)", "E0218"},
      {"%p: (1, 5, 20) float32, %l: (1, 80) float32, %a: (1, 20, 4) float32",
       "vision.multibox_transform_loc(%p, %l, %a)", "(Tensor[(1, 20, 6), float32], Tensor[(1), int32])"},
      {"%p: (1, 5, 20) float32, %l: (1, 81) float32, %a: (1, 20, 4) float32",
       "vision.multibox_transform_loc(%p, %l, %a)", "E0218"},
      {"%c: (2, 24, 8, 8) float32, %b: (2, 48, 8, 8) float32, %i: (2, 3) float32",
       "vision.proposal(%c, %b, %i)", "Tensor[(600, 5), float32]"},
      {"%c: (2, 24, 8, 8) float32, %b: (2, 48, 8, 8) float32, %i: (2, 4) float32",
       "vision.proposal(%c, %b, %i)", "E0218"},
      {"%c: (2, 24, 8, 8) float32, %b: (2, 48, 8, 8) float32, %i: (2, 3) float32",
       "vision.proposal(%c, %b, %i, feature_stride=0)", "E0217"},
  });
}

TEST(VisionTypes, Regions) {
  const char* inputs = "%d: (1, 3, 32, 32) float32, %r: (4, 5) float32";
  check_quantized({
      {"%x: (1, 8, 4, 4) float32", "vision.yolo_reorg(%x, stride=2)", "Tensor[(1, 32, 2, 2), float32]"},
      {"%x: (1, 8, 4, 4) float32", "vision.yolo_reorg(%x, stride=0)", "E0217"},
      {inputs, "vision.roi_align(%d, %r, pooled_size=[7, 7], spatial_scale=1f)",
       "Tensor[(4, 3, 7, 7), float32]"},
      {inputs, "vision.roi_align(%d, %r, pooled_size=[7, 7], spatial_scale=1f, layout=\"NHWC\")",
       "Tensor[(4, 7, 7, 32), float32]"},
      {inputs, "vision.roi_align(%d, %r, pooled_size=[7], spatial_scale=1f)", "E0216"},
      {inputs, "vision.roi_pool(%d, %r, pooled_size=[7, 7], spatial_scale=1f)",
       "Tensor[(4, 3, 7, 7), float32]"},
      {inputs, "vision.roi_pool(%d, %r, pooled_size=[7, 7], spatial_scale=1f, layout=\"CHWN\")", "E0217"},
  });
}

}  // namespace
}  // namespace baton
