#pragma once
// Operators on the calls of their blocks' `.test_shapes`: what a device computes, by each GPU template that
// takes the call, is what the processor computes by the trivial schedule. For tests of backends for GPUs.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/runtime/device.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"

#include "ops/evaluate.h"
#include "ops/numbers.h"
#include "ops/test_shapes.h"

namespace baton::device_shapes {

using Arrays = std::vector<NDArray>;

class FixedTemplate final : public KernelChoice {
 public:
  explicit FixedTemplate(KernelSchedule schedule) : schedule_(std::move(schedule)) {}
  KernelSchedule schedule(const Function&, const DeviceSheet&) const override { return schedule_; }

 private:
  const KernelSchedule schedule_;
};

/// A tensor in device memory, with its descriptor.
struct OnDevice {
  OnDevice(const Device& device, const NDArray& value) {
    Result<DeviceBlock> room = device.allocate(value.bytes());
    EXPECT_TRUE(room.ok()) << room.status().message;
    block = std::move(*room);
    EXPECT_TRUE(device.copy_in(block.memory(), value.data(), value.bytes()).ok());
    tensor.memory = block.memory();
  }
  DeviceBlock block;
  baton_tensor tensor{};
};

/// A backend with devices, as tests of its kernels need it.
struct KernelDevice {
  const char* backend;
  int kind;               ///< DLPack's
  const char* unlearned;  ///< what a refusal of an element type says
};

inline Arrays run_on_device(const KernelDevice& on, const Function& function, const KernelSchedule& schedule,
                            const Arrays& args) {
  BuildContext context = host_context();
  context.choice = std::make_shared<const FixedTemplate>(schedule);
  const BackendFunction wanted{"kernel", function};
  const Built built = find_backend(on.backend)->compile({&wanted, 1}, *context.sheet_of(on.backend), context);
  const Plugin& plugin = **Plugin::find(on.backend);
  const auto module =
      PluginModule::load(plugin, {reinterpret_cast<const uint8_t*>(built.blob.data()), built.blob.size()});
  if (!module.ok()) throw Error(module.status().message);
  const auto device = Device::open(plugin, plugin.device_of_kind(on.kind));
  if (!device.ok()) throw Error(device.status().message);
  Arrays outputs;
  for (const TensorTypeNode* type : flat_types(function->body()->checked_type()))
    outputs.push_back(NDArray::zeros(type->extents(), type->dtype()));
  std::vector<OnDevice> tensors;
  for (const NDArray& each : args) tensors.emplace_back(**device, each);
  for (const NDArray& each : outputs) tensors.emplace_back(**device, each);
  std::vector<void*> pointers;
  for (OnDevice& each : tensors) pointers.push_back(&each.tensor);
  baton_bound bound{};
  const Status status =
      (*module)->bind("kernel", static_cast<int32_t>(tensors.size()), (*device)->queue(), bound);
  if (!status.ok()) throw Error(status.message);
  const int code = bound.function(bound.context, pointers.data());
  const Status done = (*device)->wait();
  plugin.table().unbind(bound);
  if (code) throw Error("the kernel gives code " + std::to_string(code) + plugin.reason());
  if (!done.ok()) throw Error(done.message);
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_TRUE((*device)
                    ->copy_out(outputs[i].data(), tensors[args.size() + i].block.memory(), outputs[i].bytes())
                    .ok());
  return outputs;
}

/// Sums are in other orders, and functions like exp are the driver's.
inline void expect_near(const NDArray& got, const NDArray& want, const std::string& what) {
  const std::vector<double> a = test::numbers(got), b = test::numbers(want);
  double largest = 1;
  for (const double value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  const double tolerance = !want.dtype().is_float() ? 0 : want.dtype().bits == 64 ? 1e-12 : 2e-5;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::fabs(a[i] - b[i]) <= tolerance * largest) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << a[i] << ", on the processor " << b[i];
    return;
  }
}

struct Taken {
  int kernels = 0;
  std::map<std::string, int> by_template, refused;
};

inline RunCall on_device_too(const KernelDevice& on, Taken& taken) {
  const RunCall trivial = run_kernel_of("trivial");
  return [&taken, on, trivial](const CallNode& call, const Arrays& args, const Type& result) {
    const Function function = kernel_function(call, args, result);
    Arrays want = trivial(call, args, result);
    const BuildContext context = host_context();
    if (const std::string why = find_backend(on.backend)->takes(*function, *context.sheet_of(on.backend));
        !why.empty()) {
      ++taken.refused[why];
      return want;
    }
    ++taken.kernels;
    for (const std::string name : {"gpu_naive", "gpu_tiled", "gpu_shared"}) {
      Arrays got;
      try {
        got = run_on_device(on, function, {name, {}}, args);
      } catch (const NotSupported& refusal) {
        if (std::string(refusal.what()).find("does not take this kernel") == std::string::npos) throw;
        continue;
      } catch (const Error& error) {
        // What a stand-in for a driver cannot interpret is no error of the kernel.
        if (std::string(error.what()).find("are not interpreted") == std::string::npos) throw;
      }
      ++taken.by_template[name];
      if (got.empty()) continue;
      for (size_t k = 0; k < want.size(); ++k)
        expect_near(got.at(k), want[k], name + ", output " + std::to_string(k));
    }
    return want;
  };
}

/// Calls `body` with the calls of every `step`-th operator that computes, from `first` on, at most `most` of
/// each. What it throws fails the test.
template <class Body>
void for_each_operator(size_t step, size_t first, size_t most, Body&& body) {
  initialize();
  size_t index = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->compute || index++ % step != first) continue;
    size_t shapes = 0;
    for (const char* text : op->test_shapes) {
      if (shapes++ == most) break;
      SCOPED_TRACE(op->name + ": " + text);
      try {
        body(test::test_case(*op, text));
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

using InputsOf = std::vector<NDArray> (*)(const test::TestCase&);

/// The shapes of every `step`-th operator from `first` on, at most `most` of each.
inline void expect_operators_right(
    const KernelDevice& on, size_t step, size_t first, size_t most,
    InputsOf inputs = [](const test::TestCase& each) { return each.inputs; }) {
  Taken taken;
  for_each_operator(step, first, most, [&](const test::TestCase& each) {
    evaluate(each.function, inputs(each), on_device_too(on, taken));
  });
  EXPECT_GT(taken.by_template["gpu_naive"], 0);
  EXPECT_EQ(taken.by_template["gpu_naive"], taken.kernels) << "the naive schedule takes everything";
  for (const auto& [why, count] : taken.refused) EXPECT_NE(why.find(on.unlearned), std::string::npos) << why;
}

/// The layers that are most of a network's time, one shape of each; at least three are tiled.
inline void expect_layers_right(const KernelDevice& on) {
  initialize();
  Taken taken;
  for (const char* name : {"nn.conv2d", "nn.contrib_conv2d_NCHWc", "nn.dense", "nn.contrib_dense_pack",
                           "nn.matmul", "nn.batch_matmul", "nn.softmax", "nn.max_pool2d"}) {
    const OpDef& op = *find_op(name);
    SCOPED_TRACE(name);
    const test::TestCase each = test::test_case(op, op.test_shapes.at(0));
    evaluate(each.function, each.inputs, on_device_too(on, taken));
  }
  EXPECT_GE(taken.by_template["gpu_tiled"], 3);
}

struct Product {
  const char *name, *text;
  bool shared;  ///< whether tiles for threads that share memory divide it
};

/// Matrix products whose operands threads share, and some with axes that no tile divides.
inline constexpr Product kProducts[] = {
    {"nn.dense", "(128, 48)f32, (64, 48)f32, units=None", true},
    {"nn.dense", "(2, 3, 8, 20)f32, (48, 20)f32, units=None", true},
    {"nn.dense", "(24, 16)i8, (16, 16)i8, out_dtype=int32, units=None", true},
    {"nn.matmul", "(32, 16)f32, (16, 32)f32, units=None", true},
    {"nn.matmul", "(12, 40)f64, (12, 16)f64, transpose_a=True, units=None", true},
    {"nn.matmul", "(8, 4)f32, (16, 4)f32, transpose_b=True, units=None", true},
    {"nn.batch_matmul", "(3, 16, 24)f32, (3, 32, 24)f32, transpose_b=True", true},
    {"nn.batch_matmul", "(1, 16, 8)f32, (2, 8, 96)f32, transpose_b=False", true},
    {"nn.batch_matmul", "(2, 12, 64)f32, (1, 12, 16)f32, transpose_a=True, transpose_b=False", true},
    {"nn.dense", "(7, 48)f32, (64, 48)f32, units=None", false},
    {"nn.dense", "(64, 33)f32, (64, 33)f32, units=None", false},
    {"nn.matmul", "(16, 16)f32, (16, 10)f32, units=None", false},
    {"nn.matmul", "(0, 16)f32, (16, 16)f32, units=None", false},
    {"nn.batch_matmul", "(2, 16, 0)f32, (2, 32, 0)f32, transpose_b=True", false},
};

/// Of a list: every `count`-th from `index` on.
struct Part {
  size_t index = 0, count = 1;
  bool has(size_t at) const { return at % count == index; }
};

/// What `check` sees of each product, by templates.
template <class Check>
void for_each_product(Check&& check, Part part = {}) {
  initialize();
  size_t at = 0;
  for (const Product& product : kProducts) {
    if (!part.has(at++)) continue;
    SCOPED_TRACE(std::string(product.name) + ": " + product.text);
    const test::TestCase each = test::test_case(*find_op(product.name), product.text);
    check(product, each);
  }
}

inline void expect_products_right(const KernelDevice& on, Part part = {}) {
  for_each_product(
      [&](const Product& product, const test::TestCase& each) {
        Taken taken;
        evaluate(each.function, each.inputs, on_device_too(on, taken));
        EXPECT_EQ(taken.by_template["gpu_shared"], product.shared ? 1 : 0);
        EXPECT_EQ(taken.by_template["gpu_naive"], 1);
      },
      part);
}

/// Sums, maxima and products that threads share where there are few of them; extents that nothing divides,
/// one element, one term, none.
inline constexpr std::pair<const char*, const char*> kSums[] = {
    {"nn.softmax", "(1, 1000)f32[-8, 8]"},
    {"nn.softmax", "(77, 3)f32[-8, 8], axis=0"},
    {"nn.log_softmax", "(2, 333)f32[-4, 4]"},
    {"sum", "(2, 13, 7, 11)f32, axis=[1, 3]"},
    {"sum", "(5003)f32, axis=[0]"},
    {"sum", "(3, 0)f32, axis=[1]"},
    {"sum", "(7, 1, 7)f32, axis=[1]"},
    {"max", "(7, 1031)f32[-9, -1], axis=[1]"},
    {"min", "(331, 5)i32[-99, 99], axis=[0]"},
    {"prod", "(1, 67)f64[0.5, 1.5], axis=[1]"},
    {"argmax", "(2, 500)f32, axis=[1]"},
    {"mean", "(3, 13, 13)f32, axis=[1, 2]"},
    {"variance", "(2, 97)f32, (2, 1)f32, axis=[1]"},
    {"all", "(3, 100)bool, axis=[1]"},
    {"nn.global_avg_pool2d", "(1, 5, 7, 13)f32"},
    {"nn.global_max_pool2d", "(1, 2, 13, 7, 4)f32[-9, -1], layout=NCHW4c"},
    {"nn.avg_pool2d", "(1, 3, 17, 17)f32, pool_size=[8, 8], strides=[3, 3], padding=[2, 2, 2, 2]"},
    {"nn.dense", "(1, 517)f32, (10, 517)f32, units=10"},
    {"nn.contrib_dense_pack", "(1, 300)f32, (2, 300, 16)f32, units=27, weight_layout=NC16n"},
    {"nn.conv2d",
     "(1, 70, 7, 13)f32, (6, 70, 3, 3)f32, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]"},
    {"nn.conv2d", "(1, 64, 1, 1)f32, (7, 64, 1, 1)f32, channels=7, kernel_size=[1, 1]"},
    {"nn.conv2d_transpose",
     "(1, 67, 4, 5)f32, (67, 3, 4, 4)f32, channels=3, kernel_size=[4, 4], strides=[2, 2], "
     "padding=[1, 1, 1, 1], kernel_layout=IOHW"},
    {"nn.contrib_conv2d_NCHWc",
     "(1, 5, 7, 13, 16)f32, (3, 5, 3, 3, 16, 8)f32, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3], "
     "data_layout=NCHW16c, kernel_layout=OIHW16i8o, out_layout=NCHW8c"},
    {"nn.contrib_conv2d_NCHWc",
     "(2, 9, 1, 17, 4)f32, (2, 9, 1, 1, 4, 4)f32, channels=8, kernel_size=[1, 1], data_layout=NCHW4c, "
     "kernel_layout=OIHW4i4o, out_layout=NCHW4c"},
    {"nn.contrib_conv2d_NCHWc",
     "(1, 16, 7, 7, 16)i8[-9, 9], (1, 16, 1, 1, 4, 16, 4)i8[-9, 9], channels=16, kernel_size=[1, 1], "
     "data_layout=NCHW16c, kernel_layout=OIHW4i16o4i, out_layout=NCHW16c, out_dtype=int32"},
};

inline void expect_sums_right(const KernelDevice& on, Part part = {}) {
  initialize();
  size_t at = 0;
  for (const auto& [name, text] : kSums) {
    if (!part.has(at++)) continue;
    SCOPED_TRACE(std::string(name) + ": " + text);
    Taken taken;
    const test::TestCase each = test::test_case(*find_op(name), text);
    evaluate(each.function, each.inputs, on_device_too(on, taken));
    EXPECT_EQ(taken.by_template["gpu_naive"], 1);
  }
}

/// A convolution by tiles that do not divide its axes, its sums in parts of which the last is shorter.
inline void expect_parts_right(const KernelDevice& on) {
  initialize();
  const test::TestCase each = test::test_case(
      *find_op("nn.contrib_conv2d_NCHWc"),
      "(1, 7, 5, 11, 4)f32, (3, 7, 3, 3, 4, 8)f32, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3], "
      "data_layout=NCHW4c, kernel_layout=OIHW4i8o, out_layout=NCHW8c");
  const RunCall trivial = run_kernel_of("trivial");
  evaluate(each.function, each.inputs, [&](const CallNode& call, const Arrays& args, const Type& result) {
    Arrays want = trivial(call, args, result);
    using Parts = std::map<std::string, int>;
    for (const Parts& parts : {Parts{{"tile", 4}, {"wide", 4}}, Parts{{"tile", 3}, {"second", 2}},
                               Parts{{"tile", 11}, {"second", 3}, {"split", 2}},
                               Parts{{"split", 5}, {"wide", 4}}, Parts{{"tile", 7}, {"split", 10}},
                               Parts{{"tile", 2}, {"second", 2}, {"wide", 4}, {"split", 100}}}) {
      SCOPED_TRACE(testing::PrintToString(parts));
      const KernelSchedule schedule{"gpu_tiled", parts};
      const Arrays got = run_on_device(on, kernel_function(call, args, result), schedule, args);
      expect_near(got.at(0), want[0], "gpu_tiled");
    }
    return want;
  });
}

}  // namespace baton::device_shapes
