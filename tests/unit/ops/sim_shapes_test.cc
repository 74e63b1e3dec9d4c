// Every operator that a shipped device sheet supports, on the calls of its block's `.test_shapes`: what the
// simulated device computes is what the processor computes by the trivial schedule.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/sim/sheet.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/runtime/device.h"
#include "baton/support/error.h"

#include "ops/evaluate.h"
#include "ops/numbers.h"
#include "ops/test_shapes.h"

namespace baton {
namespace {

using Arrays = std::vector<NDArray>;

struct SimTensor {
  SimTensor(const Device& device, const NDArray& value) {
    Result<DeviceBlock> room = device.allocate(value.bytes());
    EXPECT_TRUE(room.ok()) << room.status().message;
    block = std::move(*room);
    EXPECT_TRUE(device.copy_in(block.memory(), value.data(), value.bytes()).ok());
    int64_t stride = 1;
    for (size_t i = value.shape().size(); i-- > 0;) {
      dimensions.push_back({0, static_cast<int32_t>(value.shape()[i]), static_cast<int32_t>(stride), 0});
      stride *= value.shape()[i];
    }
    const DType dtype = value.dtype();
    tensor.memory = block.memory();
    tensor.type = {static_cast<uint8_t>(dtype.code), dtype.bits, dtype.lanes};
    tensor.dimensions = static_cast<int32_t>(dimensions.size());
  }
  DeviceBlock block;
  std::vector<baton_dimension> dimensions;
  baton_tensor tensor{};
};

Arrays run_on(const Backend& backend, const Function& function, const Arrays& args, double& ns) {
  const BuildContext context = host_context();
  const BackendFunction wanted{"kernel", function};
  const Built built = backend.compile({&wanted, 1}, *context.sheet_of(backend.kind), context);
  const Plugin& plugin = **Plugin::find("sim");
  const auto module = PluginModule::load(
      plugin, {reinterpret_cast<const uint8_t*>(built.blob.data()), built.blob.size()}, backend.name);
  if (!module.ok()) throw Error(module.status().message);
  const auto device = Device::open(plugin, plugin.device_of_kind(backend.device_type));
  if (!device.ok()) throw Error(device.status().message);
  Arrays outputs;
  for (const TensorTypeNode* type : flat_types(function->body()->checked_type()))
    outputs.push_back(NDArray::zeros(type->extents(), type->dtype()));
  std::vector<SimTensor> tensors;
  for (const NDArray& each : args) tensors.emplace_back(**device, each);
  for (const NDArray& each : outputs) tensors.emplace_back(**device, each);
  std::vector<void*> pointers;
  for (SimTensor& each : tensors) {
    each.tensor.dim = each.dimensions.data();
    pointers.push_back(&each.tensor);
  }
  baton_bound bound{};
  const Status status =
      (*module)->bind("kernel", static_cast<int32_t>(tensors.size()), (*device)->queue(), bound);
  if (!status.ok()) throw Error(status.message);
  const Result<double> time = (*device)->time([&] { return bound.function(bound.context, pointers.data()); });
  plugin.table().unbind(bound);
  if (!time.ok()) throw Error(time.status().message);
  ns = *time;
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_TRUE((*device)
                    ->copy_out(outputs[i].data(), tensors[args.size() + i].block.memory(), outputs[i].bytes())
                    .ok());
  return outputs;
}

/// The fast schedules sum in other orders.
void expect_close(const NDArray& got, const NDArray& want, const std::string& what) {
  const std::vector<double> a = test::numbers(got), b = test::numbers(want);
  double largest = 1;
  for (const double value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  const double tolerance = !want.dtype().is_float()  ? 0
                           : want.dtype().bits == 64 ? 1e-12
                           : want.dtype().bits == 16 ? 2e-2
                                                     : 2e-5;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::fabs(a[i] - b[i]) <= tolerance * largest) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << a[i] << ", on the processor " << b[i];
    return;
  }
}

/// The shapes of every `step`-th operator that a sheet claims, at most `most` of each.
void expect_claims_right(const std::string& sheet, size_t step, size_t most, int at_least) {
  initialize();
  const Backend& backend = *find_backend("sim_" + sheet);
  const double launch_ns = 1e3 * [&] {
    for (const ShippedSheet& each : shipped_sheets())
      if (each.name == sheet) return parse_sim_sheet(each.json, sheet).launch_us;
    return 0.0;
  }();
  int taken = 0;
  const RunCall trivial = run_kernel_of("trivial");
  const RunCall on_both = [&](const CallNode& call, const Arrays& args, const Type& result) {
    const Function function = kernel_function(call, args, result);
    Arrays want = trivial(call, args, result);
    if (!backend.takes(*function, DeviceSheet()).empty()) return want;
    bool empty = false;
    for (const NDArray& each : want) empty |= each.size() == 0;
    if (empty) return want;  // the executor does not call such kernels
    ++taken;
    double ns = 0;
    const Arrays got = run_on(backend, function, args, ns);
    EXPECT_GE(ns, launch_ns * 0.999);
    for (size_t k = 0; k < want.size(); ++k) expect_close(got.at(k), want[k], "output " + std::to_string(k));
    return want;
  };
  size_t index = 0;
  for (const OperatorRule& rule : backend.operators) {
    if (index++ % step != 0) continue;
    const OpDef& op = *find_op(rule.op);
    size_t shapes = 0;
    for (const char* text : op.test_shapes) {
      if (shapes++ == most) break;
      SCOPED_TRACE(sheet + ", " + op.name + ": " + text);
      try {
        const test::TestCase each = test::test_case(op, text);
        evaluate(each.function, each.inputs, on_both);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_GE(taken, at_least);
}

TEST(SimShapes, InMemory) { expect_claims_right("in_memory", 1, 1, 2); }
TEST(SimShapes, SomeOfTheBigCore) { expect_claims_right("big_core", 9, 1, 12); }
TEST(SimShapes, SlowNpu) { expect_claims_right("npu", 1, 100, 5); }
TEST(SimShapes, SlowDsp) { expect_claims_right("dsp", 1, 100, 100); }
TEST(SimShapes, SlowFastGpu) { expect_claims_right("fast_gpu", 1, 100, 100); }
TEST(SimShapes, SlowSlowGpu) { expect_claims_right("slow_gpu", 1, 100, 100); }
TEST(SimShapes, SlowInMemory) { expect_claims_right("in_memory", 1, 100, 5); }
TEST(SimShapes, SlowBigCore) { expect_claims_right("big_core", 1, 100, 150); }

}  // namespace
}  // namespace baton
