// Loops cut into regions: where, and that values are those of the uncut loops.
#include "baton/schedule/regions.h"

#include <gtest/gtest.h>

#include "baton/codegen/compile.h"
#include "baton/codegen/kernel/lower.h"

#include "codegen/fuzz/guarded_memory.h"
#include "codegen/kernels.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

Function main_of(const std::string& text) {
  return typed_module("def @main(" + text + "\n}\n")->find("main");
}

/// "dim 2: 0 64 96", or "none".
std::string regions_of(const std::string& text) {
  static int count = 0;
  LoweredKernel kernel = lower(*main_of(text), {"regions" + std::to_string(count++), {}});
  const auto regions = find_regions(kernel.outputs.front().func(), loops_over(kernel.outputs.front()));
  if (!regions) return "none";
  std::string found = "dim " + std::to_string(regions->dim) + ":";
  for (const int begin : regions->begins) found += " " + std::to_string(begin);
  return found;
}

/// What a template computes, in memory next to pages that may not be touched.
NDArray result_of(const Function& function, const std::string& name, fuzz::GuardAt at) {
  KernelRequest request;
  request.function = function;
  request.template_name = name;
  const JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  std::vector<NDArray> all;
  for (const NDArray& input : test::rule_inputs(function)) {
    all.push_back(fuzz::guarded_copy(input, at));
    fuzz::protect(all.back());
  }
  const auto* type = as_type<TensorTypeNode>(function->body()->checked_type());
  all.push_back(fuzz::guarded_array(type->extents(), type->dtype(), at));
  EXPECT_EQ(test::call_kernel(kernel.function, all), 0);
  EXPECT_TRUE(fuzz::is_intact(all.back()));
  return all.back();
}

void expect_as_uncut(const std::string& text) {
  SCOPED_TRACE(text);
  const Function function = main_of(text);
  const NDArray want = result_of(function, "trivial", fuzz::GuardAt::kEnd);
  for (const fuzz::GuardAt at : {fuzz::GuardAt::kBegin, fuzz::GuardAt::kEnd})
    EXPECT_LE(test::largest_difference(result_of(function, "pointwise", at), want), 1e-6);
}

const char kParts[] =
    "%a: Tensor[(2, 3, 5, 17), float32], %b: Tensor[(2, 17, 5, 17), float32], %c: Tensor[(2, 1, 5, 17), "
    "float32]) {\n";
const char kBlocks[] =
    "%a: Tensor[(1, 2, 3, 7, 8), float32], %b: Tensor[(1, 1, 3, 7, 8), float32], %v: Tensor[(1, 3, 1, 1, 8), "
    "float32]) {\n";

TEST(Regions, EachPartOfAConcatenateIsOne) {
  EXPECT_EQ(regions_of(kParts + std::string("concatenate((%a, %b, %c), axis=1)")), "dim 2: 0 3 20");
  EXPECT_EQ(regions_of(kBlocks + std::string("%0 = concatenate((%a, %b), axis=1);\n%1 = add(%0, %v);\n"
                                             "nn.relu(%1)")),
            "dim 3: 0 2");
  EXPECT_EQ(regions_of(kBlocks + std::string("add(%a, %a)")), "none");
}

TEST(Regions, BlocksOfTwoPartsAreRegionsOfTheirOwn) {
  // 3 channels, then 17, then 1: blocks 0 and 2 hold channels of two parts.
  EXPECT_EQ(regions_of(kParts + std::string("%0 = concatenate((%a, %b, %c), axis=1);\nlayout_transform(%0, "
                                            "src_layout=\"NCHW\", dst_layout=\"NCHW7c\")")),
            "dim 3: 0 1 2");
  // Whole blocks: every part is one region of the outer axis.
  EXPECT_EQ(regions_of("%a: Tensor[(1, 16, 4, 4), float32], %b: Tensor[(1, 8, 4, 4), float32]) {\n%0 = "
                       "concatenate((%a, %b), axis=1);\nlayout_transform(%0, src_layout=\"NCHW\", "
                       "dst_layout=\"NCHW8c\")"),
            "dim 3: 0 2");
}

TEST(Regions, StackAndPad) {
  EXPECT_EQ(
      regions_of("%a: Tensor[(4, 5), float32], %b: Tensor[(4, 5), float32]) {\nstack((%a, %b), axis=1)"),
      "dim 1: 0 1");
  EXPECT_EQ(regions_of("%a: Tensor[(4, 5), float32]) {\nnn.pad(%a, 0f, pad_width=[[0, 0], [1, 2]])"),
            "dim 0: 0 1 6");
}

TEST(Regions, ManyPartsStayOneLoop) {
  std::string params, parts;
  for (int i = 0; i < 80; ++i) {
    params += (i ? ", %p" : "%p") + std::to_string(i) + ": Tensor[(2, 1), float32]";
    parts += (i ? ", %p" : "%p") + std::to_string(i);
  }
  EXPECT_EQ(regions_of(params + ") {\nconcatenate((" + parts + "), axis=1)"), "none");
}

TEST(Regions, ValuesAreThoseOfOneLoop) {
  for (const char* body :
       {"concatenate((%a, %b, %c), axis=1)", "concatenate((%a, %b, %c, %a), axis=1)",
        "%0 = concatenate((%a, %b), axis=1);\n%1 = concatenate((%c, %0, %c), axis=1);\nsigmoid(%1)",
        "%0 = concatenate((%a, %b, %c), axis=1);\nlayout_transform(%0, src_layout=\"NCHW\", "
        "dst_layout=\"NCHW7c\")",
        "%0 = concatenate((%a, %b, %c), axis=1);\nlayout_transform(%0, src_layout=\"NCHW\", "
        "dst_layout=\"NCHW4c\")",
        "%0 = concatenate((%a, %b, %c), axis=1);\ntranspose(%0, axes=[0, 2, 3, 1])",
        "%0 = concatenate((%a, %b, %c), axis=1);\nreshape(%0, newshape=[2, -1])",
        "%0 = nn.relu(%a);\n%1 = concatenate((%0, %b, %c), axis=1);\nadd(%1, %1)",
        "%0 = concatenate((%a, %b, %c), axis=1);\nstrided_slice(%0, begin=[0, 2], end=[2, 19], strides=[1], "
        "axes=None)",
        "%0 = nn.pad(%a, 2f, pad_width=[[0, 0], [0, 1], [1, 0], [2, 3]]);\nnn.relu(%0)",
        "nn.pad(%b, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]], pad_mode=\"reflect\")",
        "nn.pad(%b, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [17, 1]], pad_mode=\"edge\")",
        "nn.pad(%b, 0f, pad_width=[[0, 0], [-2, 0], [1, -1], [-3, 20]])", "stack((%a, %a, %a), axis=-1)",
        "stack((%a, %a), axis=0)", "tile(%c, reps=[1, 2, 1, 3])"})
    expect_as_uncut(kParts + std::string(body));
  for (const char* body :
       {"concatenate((%a, %b), axis=1)",
        "%0 = concatenate((%a, %b), axis=1);\n%1 = add(%0, %v);\nnn.relu(%1)",
        "concatenate((%b, %b), axis=4)", "concatenate((%b, %b), axis=3)",
        "%0 = layout_transform(%a, src_layout=\"NCHW8c\", dst_layout=\"NCHW\");\n%1 = layout_transform(%b, "
        "src_layout=\"NCHW8c\", dst_layout=\"NCHW\");\nconcatenate((%0, %1), axis=1)",
        "nn.pad(%a, 1f, pad_width=[[0, 0], [1, 0], [1, 1], [1, 1], [0, 0]])"})
    expect_as_uncut(kBlocks + std::string(body));
  for (const int64_t extent : {1, 3, 17}) {
    const std::string shape = "Tensor[(" + std::to_string(extent) + ",), float32]";
    expect_as_uncut("%a: " + shape + ", %b: " + shape + ") {\nconcatenate((%a, %b, %a), axis=0)");
    expect_as_uncut("%a: " + shape + ") {\nnn.pad(%a, 0f, pad_width=[[3, 1]])");
  }
}

TEST(Regions, PartsWithoutElements) {
  // Kernels with empty tensors are the trivial template's.
  const Function function = main_of(
      "%a: Tensor[(2, 3), float32], %b: Tensor[(2, 0), float32]) {\nconcatenate((%a, %b, %a), axis=1)");
  KernelRequest request;
  request.function = function;
  const JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  const std::vector<NDArray> inputs = test::rule_inputs(function);
  const NDArray got = test::call_kernel(kernel.function, function, inputs).at(0);
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(got.as<float>()[i], inputs[0].as<float>()[i / 6 * 3 + i % 3]) << i;
}

}  // namespace
}  // namespace baton
