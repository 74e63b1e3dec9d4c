// Variants of kernels that are measured against the one that ships: it never changes, and they compute all
// that it does.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/kernel/ablation.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/marks.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using test::Folder;
using testing::HasSubstr;
using testing::Not;

/// `text`, all of it as one kernel.
Function kernel_of(const std::string& text) {
  initialize();
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + text))->find("main");
}

Function layer_norm() {
  return kernel_of(
      "def @main(%x: Tensor[(64, 256), float32], %gamma: Tensor[(256), float32], %beta: Tensor[(256), "
      "float32]) {\n"
      "  %0 = mean(%x, axis=[-1], keepdims=True);\n  %1 = variance(%x, %0, axis=[-1], keepdims=True);\n"
      "  %2 = add(%1, 1e-05f);\n  %3 = subtract(%x, %0);\n  %4 = sqrt(%2);\n  %5 = divide(%3, %4);\n"
      "  %6 = multiply(%5, %gamma);\n  add(%6, %beta)\n}\n");
}

/// The Winograd kernel that `build` makes of a convolution with bias and relu.
KernelRequest winograd() {
  initialize();
  const IRModule module =
      infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(%data: Tensor[(1, 64, 28, 28), float32], "
                               "%weight: Tensor[(64, 64, 3, 3), float32], "
                               "%bias: Tensor[(64, 1, 1), float32]) {\n  %0 = nn.conv2d(%data, %weight, "
                               "padding=[1, 1, 1, 1], channels=64, "
                               "kernel_size=[3, 3]);\n  %1 = add(%0, %bias);\n  nn.relu(%1)\n}\n"));
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = 3;
  options.params = {{"weight", parameter_value("weight", {64, 64, 3, 3}, DType::float_(32))},
                    {"bias", parameter_value("bias", {64, 1, 1}, DType::float_(32))}};
  const BuildResult built = build(module, options);
  for (const BuiltKernel& kernel : built.kernels)
    if (kernel.func_name.find("winograd") != std::string::npos) {
      KernelRequest request = kernel.request;
      request.template_name = kernel.kernel->template_name;
      request.params = kernel.kernel->params;
      return request;
    }
  throw Error("no Winograd kernel was built");
}

/// What a variant computes from the tensor rule's inputs, and how often it visited each stage.
struct Outcome {
  NDArray output;
  std::map<std::string, uint64_t> visits;
};
Outcome run(const KernelRequest& request) {
  const Folder folder;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  const KernelRef kernel = compile_kernels({&request, 1}, options)[0];
  const auto library = load_library({{"k", kernel}}, {&request, 1}, options);
  Outcome outcome;
  reset_marks();
  outcome.output =
      test::call_kernel(library->find("k"), request.function, test::rule_inputs(request.function))[0];
  const MarkTable marks = collect_marks();
  for (const MarkSite& site : kernel->marks) outcome.visits[site.name] = marks[site.id].visits;
  return outcome;
}

KernelRequest variant_of(KernelRequest request, std::set<int> ablated, bool marked = true) {
  request.variant.marked = marked;
  request.variant.ablated = std::move(ablated);
  return request;
}

int block_named(const KernelRequest& request, const std::string& op, int nth = 0) {
  const auto blocks = kernel_blocks(*request.function);
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].call->op()->name == op && nth-- == 0) return static_cast<int>(i);
  throw Error("no " + op);
}

/// Compiles `requests` in another process, one after the other, into `folder`.
void compile_elsewhere(const std::vector<KernelRequest>& requests, const Folder& folder) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    try {
      KernelCache cache(folder.path());
      BuildContext options = host_context();
      options.cache = &cache;
      options.threads = 1;
      compile_kernels(requests, options);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      code = 1;
    }
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(Variants, TheKernelThatShipsIsTheSameByteByByteWhateverElseIsMade) {
  const KernelRequest plain{
      kernel_of(
          "def @main(%x: Tensor[(1, 4, 12, 12, 16), float32], %w: Tensor[(4, 4, 3, 3, 16, 16), float32], "
          "%b: Tensor[(1, 4, 1, 1, 16), float32]) {\n  %0 = nn.contrib_conv2d_NCHWc(%x, %w, "
          "padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3], data_layout=\"NCHW16c\", "
          "kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\");\n  %1 = add(%0, %b);\n"
          "  nn.relu(%1)\n}\n"),
      {},
      {},
      {}};
  std::vector<KernelRequest> requests(6, plain);
  requests[1].variant.marked = true;
  requests[2].variant.marked = requests[2].variant.doubled = true;
  requests[3].variant.marked = requests[3].variant.within = true;
  requests[4].variant.ablated = {2};
  requests[5].variant.twin = 1;
  const Folder alone, first, last;
  compile_elsewhere({plain}, alone);
  compile_elsewhere(requests, first);
  std::vector<KernelRequest> reversed(requests.rbegin(), requests.rend());
  compile_elsewhere(reversed, last);
  const auto object = [](const Folder& folder, const KernelRequest& request) {
    KernelCache cache(folder.path());
    const auto kernel = cache.load(kernel_key(request, DeviceSheet::host()));
    EXPECT_TRUE(kernel) << "not in the cache";
    return kernel ? kernel->object : "";
  };
  const std::string bytes = object(alone, plain);
  EXPECT_TRUE(object(first, plain) == bytes);
  EXPECT_TRUE(object(last, plain) == bytes);
  EXPECT_THAT(bytes, Not(HasSubstr("baton_mark")));
  EXPECT_THAT(object(first, requests[1]), HasSubstr("baton_mark"));
  for (const KernelRequest& request : requests) EXPECT_TRUE(object(first, request) == object(last, request));
}

TEST(Variants, WithoutItsEpilogueAWinogradKernelStillMakesAllItsTransforms) {
  const KernelRequest plain = winograd();
  const Outcome whole = run(variant_of(plain, {}));
  ASSERT_GT(whole.visits.size(), 3u);  // pad or in_xf, gemm, out_xf, relu
  const auto blocks = kernel_blocks(*plain.function);
  for (size_t block = 1; block < blocks.size(); ++block) {
    ASSERT_EQ(refuses_ablation(blocks[block]), "");
    const Outcome without = run(variant_of(plain, {static_cast<int>(block)}));
    // The last block's stage has another name when it is left out: what it encloses is what counts.
    for (const auto& [name, visits] : whole.visits) {
      if (!name.starts_with("b0_")) continue;
      EXPECT_EQ(without.visits.count(name) ? without.visits.at(name) : 0, visits)
          << name << " without " << block;
    }
  }
  const Outcome no_relu = run(variant_of(plain, {block_named(plain, "nn.relu")}, false));
  NDArray relu = no_relu.output.copy();
  float largest = 0;
  for (float& value : relu.as<float>()) largest = std::max(largest, value = std::max(value, 0.f));
  EXPECT_GT(largest, 1);
  EXPECT_LT(test::largest_difference(relu, whole.output), 1e-5 * largest) << "what is left computes the same";
}

TEST(Variants, TheConvolutionItselfIsNeverLeftOutThoughItKeepsItsType) {
  const KernelRequest plain = winograd();
  EXPECT_THAT(refuses_ablation(kernel_blocks(*plain.function)[0]), HasSubstr("schedule"));
}

TEST(Variants, WithoutAPartALayerNormStillMakesMeanAndVariance) {
  const KernelRequest plain{layer_norm(), {}, {}, {}};
  const Outcome whole = run(variant_of(plain, {}));
  const int mean = block_named(plain, "mean"), variance = block_named(plain, "variance");
  for (const char* op : {"subtract", "divide", "multiply", "sqrt"}) {
    const int block = block_named(plain, op);
    ASSERT_EQ(refuses_ablation(kernel_blocks(*plain.function)[block]), "") << op;
    const Outcome without = run(variant_of(plain, {block}));
    int reductions = 0;
    for (const auto& [name, visits] : whole.visits) {
      if (!name.starts_with("b" + std::to_string(mean) + "_") &&
          !name.starts_with("b" + std::to_string(variance) + "_"))
        continue;
      ++reductions;
      EXPECT_EQ(without.visits.count(name) ? without.visits.at(name) : 0, visits)
          << name << " without " << op;
    }
    EXPECT_GE(reductions, 2) << "the kernel has no stage for its reductions";
    EXPECT_GT(test::largest_difference(without.output, whole.output), 1e-3) << op << " was not left out";
  }
  EXPECT_NE(refuses_ablation(kernel_blocks(*plain.function)[mean]), "");
}

TEST(Variants, WhatCanBeLeftOutKeepsItsTypeAndReadsAllOfItsOtherInputs) {
  const auto answer = [](const std::string& text) {
    const auto blocks = kernel_blocks(*kernel_of(text));
    return refuses_ablation(blocks.back());
  };
  const std::string x = "def @main(%x: Tensor[(8, 16), float32], %row: Tensor[(16), float32]) {\n";
  EXPECT_EQ(answer(x + "  nn.relu(%x)\n}\n"), "");
  EXPECT_EQ(answer(x + "  add(%row, %x)\n}\n"), "") << "the second input is of the result's type";
  EXPECT_EQ(answer(x + "  %0 = exp(%row);\n  multiply(%0, %x)\n}\n"), "")
      << "a row is read wholly, again and again";
  EXPECT_THAT(answer(x + "  cast(%x, dtype=\"float16\")\n}\n"), HasSubstr("type"));
  EXPECT_THAT(answer(x + "  greater(%x, %row)\n}\n"), HasSubstr("type"));
  EXPECT_THAT(answer(x + "  broadcast_to(%row, shape=[8, 16])\n}\n"), HasSubstr("type"));
  EXPECT_THAT(answer(x + "  split(%x, indices_or_sections=2)\n}\n"), HasSubstr("several results"));
  EXPECT_THAT(answer(x + "  sum(%x, axis=[1], keepdims=True)\n}\n"), HasSubstr("schedule"));
  EXPECT_THAT(
      answer(x + "  %0 = exp(%x);\n  %1 = cast(%row, dtype=\"int32\");\n  take(%row, %1, axis=0)\n}\n"), "")
      << "indices of the result's shape";
}

TEST(Variants, AMarkWithinTellsTheStagesOfTheOnlyOperator) {
  KernelRequest request{
      kernel_of("def @main(%x: Tensor[(64, 256), float32]) {\n  nn.softmax(%x)\n}\n"), {}, {}, {}};
  request.variant.marked = true;
  EXPECT_EQ(run(request).visits.size(), 1u);
  request.variant.within = true;
  const Outcome within = run(request);
  EXPECT_GE(within.visits.size(), 3u);
  EXPECT_TRUE(within.visits.count("b0_nn_softmax__max")) << within.visits.begin()->first;
  KernelRequest plain = request;
  plain.variant = {};
  EXPECT_TRUE(run(plain).output.equal_bytes(within.output));
}

}  // namespace
}  // namespace baton
