#include "baton/transform/devices/plan_devices.h"

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/inspect.h"
#include "baton/ir/placement.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

const std::string kCuda = "virtual_device=VirtualDevice(device_type=2, virtual_device_id=0)";

class PlanDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override { initialize(); }

  static IRModule plan(const IRModule& module, int fallback = 0) {
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    PassArgs args = {{"targets", AttrList{"llvm", "cuda"}}};
    if (fallback) args.emplace_back("fallback_device_type", fallback);
    return (*make_pass("PlanDevices", args))(module, under);
  }
  static IRModule plan(const std::string& text, int fallback = 0) {
    const IRModule once = plan(parse_module("#[version = \"0.0.5\"]\n" + text), fallback);
    EXPECT_TRUE(types_are_right(*once));
    // What is planned is planned: nothing changes, also after it was written and read.
    const std::string shown = shown_text(once);
    EXPECT_EQ(shown_text(plan(once, fallback)), shown);
    EXPECT_EQ(shown_text(plan(parse_module(shown), fallback)), shown);
    return once;
  }
  static std::string shown_text(const IRModule& module) {
    PrintOptions options;
    options.types = options.spans = false;
    return print(*module, options);
  }
  /// Device types of main: parameters, then the result.
  static std::vector<int> devices(const IRModule& module, const std::string& name = "main") {
    const Function function = module->find(name);
    std::vector<int> types;
    for (size_t i = 0; i < function->params().size(); ++i)
      types.push_back(param_device(*function, i)->device_type);
    types.push_back(result_device(*function)->device_type);
    return types;
  }
  static int count(const IRModule& module, const char* op) {
    int calls = 0;
    for (const auto& [name, function] : module->functions())
      post_order(Expr(function), [&](const Expr& node) { calls += call_of(node, op) != nullptr; });
    return calls;
  }
};

TEST_F(PlanDevicesTest, TheFallbackIsWhereWhatIsOpenGoes) {
  const char* text = "def @main(%x: Tensor[(3), float32]) { exp(%x) }";
  EXPECT_EQ(devices(plan(text)), (std::vector<int>{1, 1}));
  EXPECT_EQ(devices(plan(text, 2)), (std::vector<int>{2, 2}));
}

TEST_F(PlanDevicesTest, BranchesAreInOnePlace) {
  const IRModule module = plan(
      "def @main(%c: bool, %a: Tensor[(3), float32], %b: Tensor[(3), float32]) {\n"
      "  if (%c) { on_device(add(%a, %b), " +
      kCuda + ") } else { subtract(%a, %b) }\n}");
  EXPECT_EQ(devices(module), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(count(module, "on_device") + count(module, "device_copy"), 0);
}

TEST_F(PlanDevicesTest, FunctionsPassPlacesOn) {
  const IRModule module = plan(
      "def @f(%x: Tensor[(3), float32]) { exp(%x) }\n"
      "def @main(%x: Tensor[(3), float32]) { tanh(on_device(@f(%x), " +
      kCuda + ")) }");
  EXPECT_EQ(devices(module, "f"), (std::vector<int>{2, 2}));
  EXPECT_EQ(devices(module), (std::vector<int>{2, 1}));
  EXPECT_EQ(count(module, "device_copy"), 1);
}

TEST_F(PlanDevicesTest, ClosuresAndReferences) {
  const IRModule module = plan(
      "def @main(%x: Tensor[(3), float32]) {\n"
      "  let %f = fn (%y: Tensor[(3), float32]) { add(%y, %x) };\n"
      "  let %r = ref(%x);\n"
      "  let %u = ref_write(%r, on_device(%f(%x), " +
      kCuda +
      "));\n"
      "  ref_read(%r)\n}");
  EXPECT_EQ(devices(module), (std::vector<int>{2, 2}));
  EXPECT_EQ(count(module, "device_copy"), 0);
}

// The copy is made where the annotation stands, once for all who use it.
TEST_F(PlanDevicesTest, OneCopyForSeveralUsers) {
  const IRModule module = plan(
      "def @main(%x: Tensor[(3), float32]) {\n"
      "  %0 = on_device(exp(%x), " +
      kCuda +
      ");\n"
      "  add(tanh(%0), %0)\n}");
  EXPECT_EQ(count(module, "device_copy"), 1);
}

TEST_F(PlanDevicesTest, KernelsAreInOnePlace) {
  const IRModule module = plan(
      "def @main(%x: Tensor[(3), float32]) {\n"
      "  %0 = fn (%p: Tensor[(3), float32], Primitive=1) { exp(%p) };\n"
      "  on_device(%0(%x), " +
      kCuda + ")\n}");
  EXPECT_EQ(devices(module), (std::vector<int>{2, 2}));
}

TEST_F(PlanDevicesTest, WhatTheConfigurationSays) {
  const CompilationConfig config = CompilationConfig::make(PassContext(), {"cuda", "llvm"});
  EXPECT_EQ(config.text(),
            "Primitive targets:\n"
            "  1 |-> Target(id=?, kind='llvm', keys={'cpu'}, host=Target(id=?, kind='llvm', keys={'cpu'}))\n"
            "  2 |-> Target(id=?, kind='cuda', keys={'cuda', 'gpu'}, attrs={'thread_warp_size': 20, "
            "'max_num_threads': 400, "
            "'arch': \"sm_20\"}, host=Target(id=?, kind='llvm', keys={'cpu'}))\n"
            "Default primitive virtual device: VirtualDevice(device_type=1, virtual_device_id=0, "
            "target=Target(id=?, kind='llvm', "
            "keys={'cpu'}, host=Target(id=?, kind='llvm', keys={'cpu'})))\n"
            "Host virtual device: VirtualDevice(device_type=1, virtual_device_id=0, target=Target(id=?, "
            "kind='llvm', keys={'cpu'}))");
  EXPECT_EQ(config.optional_homogeneous_target(), nullptr);
  EXPECT_THROW(CompilationConfig::make(PassContext(), {"lvm"}), UsageError);
  EXPECT_THROW(CompilationConfig::make(PassContext(), {}), UsageError);
  EXPECT_THROW(CompilationConfig::make(PassContext(), {"llvm mcpu"}), UsageError);
  EXPECT_EQ(Target::parse("cuda -arch=sm_80")->options(),
            "cuda -keys=cuda,gpu -arch=sm_80 -max_num_threads=1024 -thread_warp_size=32");
}

TEST_F(PlanDevicesTest, AHundredThousandCalls) {
  Expr at = var("x", tensor_type(std::vector<int64_t>{3}, DType::float_(32)));
  const Var x = as_ref<VarNode>(at);
  for (int i = 0; i < 100'000; ++i) at = call(i % 2 ? "exp" : "tanh", {at});
  const IRModule module = make_module();
  module->set("main", function({x}, at));
  EXPECT_EQ(devices(plan(module)), (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace baton
