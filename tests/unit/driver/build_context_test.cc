// BuildContext is passed explicitly: concurrent builds on several threads do not share contexts.
#include <thread>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/ir/visit.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

IRModule typed(const std::string& main) {
  initialize();
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + main, "net.relay"));
}

IRModule chain() { return typed("def @main(%x: Tensor[(4, 4), float32]) { nn.relu(exp(tanh(%x))) }"); }

IRModule convolution() {
  return typed(
      "def @main(%x: Tensor[(1, 48, 8, 8), float32], %w: Tensor[(48, 48, 1, 1), float32]) {\n"
      "  nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=48, kernel_size=[1, 1]) }");
}

IRModule requantized() {
  return typed(
      "def @main(%x: Tensor[(2, 4), int32]) {\n"
      "  qnn.requantize(%x, 0.5f, 0, 0.3f, 0, out_dtype=\"int8\") }");
}

std::string text_of(const IRModule& module) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(*module, options);
}

int kernels_of(const IRModule& optimized) {
  int kernels = 0;
  post_order(Expr(optimized->find("main")), [&](const Expr& node) {
    const auto* function = as<FunctionNode>(node);
    kernels += function && function->is_primitive();
  });
  return kernels;
}

/// Each of two, on a thread of its own and many times, so that they meet.
template <class One, class Other>
void at_once(One one, Other other) {
  constexpr int kTimes = 20;
  std::thread thread([&] {
    for (int i = 0; i < kTimes; ++i) one();
  });
  for (int i = 0; i < kTimes; ++i) other();
  thread.join();
}

TEST(BuildContext, LevelsAndConfigAreThoseOfTheContext) {
  const IRModule module = chain();
  const BuildContext plain = host_context().at_level(0), fused = host_context().at_level(3);
  BuildContext shallow = host_context().at_level(3);
  shallow.passes->config.set("relay.FuseOps.max_depth", int64_t{2});
  at_once([&] { EXPECT_EQ(kernels_of(optimize(module, plain)), 3); },
          [&] {
            EXPECT_EQ(kernels_of(optimize(module, fused)), 1);
            EXPECT_EQ(kernels_of(optimize(module, shallow)), 2);
          });
}

TEST(BuildContext, DevicesAreThoseOfTheContext) {
  const IRModule module = convolution();
  const auto with_lanes = [](int lanes) {
    BuildContext context = host_context().at_level(3);
    context.sheets.front().float_lanes = lanes;
    return context;
  };
  const BuildContext narrow = with_lanes(4), wide = with_lanes(16);
  at_once([&] { EXPECT_THAT(text_of(optimize(module, narrow)), HasSubstr("NCHW4c")); },
          [&] { EXPECT_THAT(text_of(optimize(module, wide)), HasSubstr("NCHW16c")); });
}

TEST(BuildContext, TargetsAndQuantisationAreThoseOfTheContext) {
  const IRModule module = requantized();
  BuildContext up = host_context(), nearest = host_context(), floating = host_context();
  nearest.requantize.rounding = "TONEAREST";
  floating.targets = {Target::parse("llvm -mcpu=haswell")};
  const std::string by_up = text_of(optimize(module, up)), by_nearest = text_of(optimize(module, nearest)),
                    by_float = text_of(optimize(module, floating));
  EXPECT_NE(by_up, by_nearest);
  EXPECT_THAT(by_up, Not(HasSubstr("float32")));
  EXPECT_THAT(by_float, HasSubstr("float32"));
  at_once([&] { EXPECT_EQ(text_of(optimize(module, nearest)), by_nearest); },
          [&] {
            EXPECT_EQ(text_of(optimize(module, up)), by_up);
            EXPECT_EQ(text_of(optimize(module, floating)), by_float);
          });
}

TEST(BuildContext, HoldsOnAWorkerThread) {
  const IRModule module = chain();
  const test::Folder folder;
  KernelCache cache(folder.path());
  BuildOptions options{.context = host_context().at_level(0)};
  options.context.cache = &cache;
  BuildResult result;
  std::thread([&] { result = build(module, options); }).join();
  EXPECT_EQ(result.kernels.size(), 3u);
  EXPECT_EQ(targets_text(result.targets), "llvm");
}

TEST(BuildContext, InterruptsOnlyItsOwnBuild) {
  const IRModule module = chain();
  const std::atomic<bool> stop{true};
  BuildContext stopped = host_context();
  stopped.interrupt = &stop;
  const BuildContext other = host_context();
  at_once([&] { EXPECT_THROW(optimize(module, stopped), Interrupted); },
          [&] { EXPECT_NO_THROW(optimize(module, other)); });
}

TEST(BuildContext, ATargetThatNoBackendServesIsRefused) {
  BuildOptions options{.context = host_context()};
  options.context.targets = {Target::parse("metal")};
  EXPECT_THAT([&] { build(chain(), options); },
              ThrowsMessage<NotSupported>(HasSubstr("no backend that makes code for it")));
}

/// Blocks of two channels and no template that is fast.
class OnTrial final : public KernelChoice {
 public:
  ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const override {
    ConvChoice choice = KernelChoice::conv2d(shape, sheet);
    choice.in_block = choice.out_block = 2;
    return choice;
  }
  KernelSchedule schedule(const Function&, const DeviceSheet&) const override { return {"trivial", {}}; }
};

TEST(KernelChoice, OfTheContextDecidesLayoutsAndTemplates) {
  const IRModule module = convolution();
  const test::Folder folder;
  KernelCache cache(folder.path());
  BuildOptions options{.context = host_context().at_level(3)};
  options.context.cache = &cache;
  const BuildResult usual = build(module, options);
  options.context.choice = std::make_shared<OnTrial>();
  const BuildResult tried = build(module, options);
  EXPECT_THAT(text_of(tried.optimized), HasSubstr("NCHW2c"));
  EXPECT_THAT(text_of(usual.optimized), Not(HasSubstr("NCHW2c")));
  for (const BuiltKernel& kernel : tried.kernels) EXPECT_EQ(kernel.kernel->template_name, "trivial");
  for (const BuiltKernel& kernel : usual.kernels) EXPECT_NE(kernel.kernel->template_name, "trivial");
}

TEST(Backends, TheProcessorIsARecordLikeAnyOther) {
  const BackendRef processor = backend_of_kind("llvm");
  ASSERT_TRUE(processor);
  EXPECT_EQ(processor, find_backend("llvm"));
  EXPECT_EQ(backends().front(), processor);
  EXPECT_FALSE(processor->doc.empty());
  EXPECT_FALSE(backend_of_kind("rocm"));
  EXPECT_THROW(register_backend({.name = "llvm"}), UsageError);
}

TEST(Backends, ARegisteredOneIsFoundUntilItIsRemoved) {
  register_backend({.name = "theirs", .doc = "regions of theirs"});
  EXPECT_EQ(find_backend("theirs")->doc, "regions of theirs");
  const BackendRef in_use = find_backend("theirs");
  register_backend({.name = "theirs", .doc = "another"});
  EXPECT_EQ(find_backend("theirs")->doc, "another");
  remove_backend("theirs");
  EXPECT_FALSE(find_backend("theirs"));
  EXPECT_EQ(in_use->doc, "regions of theirs");
  EXPECT_FALSE(backend_of_kind("")) << "it is for no kind of target";
}

}  // namespace
}  // namespace baton
