#include "baton/profile/report/device_rates.h"

#include <algorithm>
#include <functional>

#include "baton/ir/inspect.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/ndarray.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

constexpr int kSamples = 21, kFewSamples = 5;
constexpr size_t kLarge = size_t{64} << 20;
constexpr int kProductExtent = 512;

Measured measured(std::vector<double> samples) {
  Measured result{percentile(samples, 0.5), 0, static_cast<int>(samples.size())};
  if (result.value > 0) result.spread = (percentile(samples, 0.9) - percentile(samples, 0.1)) / result.value;
  return result;
}

/// Runs `work` several times; it returns nanoseconds, or less than 0 when it failed.
MaybeMeasured several(bool simulated, int samples, const std::function<double()>& work) {
  std::vector<double> all;
  for (int i = simulated ? 0 : -1; i < (simulated ? 1 : samples); ++i) {  // the first one warms up
    const double ns = work();
    if (ns < 0) return std::nullopt;
    if (i >= 0) all.push_back(ns);
  }
  return measured(std::move(all));
}

/// What passes on this machine, or on a simulated device's clock, until `work` is complete.
double elapsed_ns(const Device* clock, bool simulated, const std::function<int()>& work) {
  if (simulated) {
    const Result<double> ns = clock->time(work);
    return ns.ok() ? *ns : -1;
  }
  const int64_t begin = monotonic_ns();
  if (work() || (clock && !clock->wait().ok())) return -1;
  return static_cast<double>(monotonic_ns() - begin);
}

MaybeMeasured scaled(MaybeMeasured from, const std::function<double(double)>& scale) {
  if (from) from->value = scale(from->value);
  return from;
}

BackendFunction probe(const std::string& name, const std::string& body) {
  const IRModule module =
      infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main" + body, "probe.relay"));
  const Function main = module->find("main");
  return {name,
          make_function(main->params(), main->body(), main->ret_type(), {{"Primitive", 1}}, main->info())};
}

constexpr const char* kEmptyName = "probe_empty";

/// The least that a device computes: a copy of one element, or a product where it has products only.
std::vector<BackendFunction> empty_kernels() {
  return {probe(kEmptyName, "(%x: Tensor[(1,), int8]) { copy(%x) }"),
          probe(kEmptyName,
                "(%x: Tensor[(1, 1), float32], %w: Tensor[(1, 1), float32]) { nn.dense(%x, %w, units=1) }")};
}

std::string product_of(const std::string& dtype) {
  const std::string n = std::to_string(kProductExtent),
                    type = ": Tensor[(" + n + ", " + n + "), " + dtype + "]";
  return "(%x" + type + ", %w" + type + ") { nn.dense(%x, %w, units=" + n +
         (dtype == "int8" ? ", out_dtype=\"int32\"" : "") + ") }";
}

/// A kernel with its operands: zeros, on the device.
class Bound {
 public:
  Bound(const FoundTarget& target, const PluginModule& module, const std::string& name,
        const Function& function)
      : target_(target), module_(module) {
    std::vector<const TensorTypeNode*> types;
    for (const Var& param : function->params()) types.push_back(as_type<TensorTypeNode>(type_of(*param)));
    types.push_back(as_type<TensorTypeNode>(function->body()->checked_type()));
    tensors_.reserve(types.size());
    for (const TensorTypeNode* type : types) add(*type);
    for (Tensor& each : tensors_) args_.push_back(&each.descriptor);
    void* queue = target.device ? target.device->queue() : nullptr;
    good_ = good_ && module.bind(name, static_cast<int32_t>(args_.size()), queue, bound_).ok();
  }
  ~Bound() {
    if (bound_.function) module_.plugin().table().unbind(bound_);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  bool good() const { return good_; }
  int call() { return bound_.function(bound_.context, args_.data()); }
  double ns() {
    return elapsed_ns(target_.device.get(), target_.simulated, [&] { return call(); });
  }

 private:
  struct Tensor {
    NDArray host;
    DeviceBlock block;
    std::vector<baton_dimension> dimensions;
    baton_tensor descriptor{};
  };

  void add(const TensorTypeNode& type) {
    Tensor tensor;
    tensor.host = NDArray::zeros(type.extents(), type.dtype());
    good_ = good_ && tensor.host.defined();
    if (!good_) return;
    int64_t stride = 1;
    for (size_t i = tensor.host.shape().size(); i-- > 0;) {
      const int64_t extent = tensor.host.shape()[i];
      tensor.dimensions.push_back({0, static_cast<int32_t>(extent), static_cast<int32_t>(stride), 0});
      stride *= extent;
    }
    const DType dtype = type.dtype();
    tensor.descriptor.type = {static_cast<uint8_t>(dtype.code), dtype.bits, 1};
    tensor.descriptor.dimensions = static_cast<int32_t>(tensor.dimensions.size());
    if (target_.device) {
      Result<DeviceBlock> block = target_.device->allocate(tensor.host.bytes());
      good_ = block.ok() &&
              target_.device->copy_in(block->memory(), tensor.host.data(), tensor.host.bytes()).ok();
      if (!good_) return;
      tensor.block = std::move(*block);
      tensor.descriptor.memory = tensor.block.memory();
    } else {
      tensor.descriptor.host = static_cast<uint8_t*>(tensor.host.data());
    }
    tensors_.push_back(std::move(tensor));
    tensors_.back().descriptor.dim = tensors_.back().dimensions.data();
  }

  const FoundTarget& target_;
  const PluginModule& module_;
  std::vector<Tensor> tensors_;
  std::vector<void*> args_;
  baton_bound bound_{};
  bool good_ = true;
};

std::shared_ptr<const PluginModule> loaded(const FoundTarget& target, Built built, std::string& why) {
  if (built.library) return processor_module(built.library);
  auto module = PluginModule::load(*target.plugin,
                                   {reinterpret_cast<const uint8_t*>(built.blob.data()), built.blob.size()},
                                   target.backend->name);
  if (module.ok()) return *module;
  why = module.status().message;
  return nullptr;
}

/// The blob of kernels, or the reason why there is none.
std::shared_ptr<const PluginModule> built_probe(const FoundTarget& target, const BackendFunction& function,
                                                const BuildContext& context, std::string& why) {
  const Backend& backend = *target.backend;
  const DeviceSheet sheet = backend.device ? backend.device(context.host()) : context.host();
  why = backend.takes ? backend.takes(*function.function, sheet) : "";
  const bool taken = why.empty();
  try {
    return loaded(target, backend.compile(std::span(&function, taken ? 1 : 0), sheet, context), why);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace

FoundTarget find_target(const BackendRef& backend, const BuildContext& context) {
  FoundTarget target;
  target.backend = backend;
  const bool host = backend->kind == context.host().kind;
  if (!host) {
    const auto plugin = Plugin::find(backend->plugin_name());
    if (!plugin.ok()) {
      target.why_not = plugin.status().message;
      return target;
    }
    target.plugin = *plugin;
  }
  if (backend->kind.empty()) return target;  // a library without a device
  std::string why;
  for (const BackendFunction& empty : empty_kernels()) {
    target.empty = empty.function;
    target.module = built_probe(target, empty, context, why);
    if (why.empty()) break;
  }
  if (!target.module) {
    target.why_not = why;
    return target;
  }
  target.device_name = context.host().name;
  if (host) return target;
  const int32_t number = target.plugin->device_of_kind(backend->device_type);
  if (number < 0) {
    target.why_not = "it finds no device" + target.plugin->reason();
    return target;
  }
  target.simulated = backend->device_type >= BATON_FIRST_SIMULATED_KIND;
  target.device_name = target.plugin->table().device_name(number);
  Result<std::unique_ptr<Device>> device = Device::open(*target.plugin, number);
  if (device.ok())
    target.device = std::move(*device);
  else
    target.why_not = device.status().message;
  return target;
}

MaybeMeasured launch_us(const FoundTarget& target) {
  if (!target.module) return std::nullopt;
  Bound kernel(target, *target.module, kEmptyName, target.empty);
  if (!kernel.good()) return std::nullopt;
  return scaled(several(target.simulated, 10 * kSamples, [&] { return kernel.ns(); }),
                [](double ns) { return ns / 1e3; });
}

MaybeMeasured memory_gbytes_per_s(const FoundTarget& target) {
  if (!target.device) return std::nullopt;
  size_t bytes = kLarge;
  Result<DeviceBlock> from = target.device->allocate(bytes), to = target.device->allocate(bytes);
  while ((!from.ok() || !to.ok()) && bytes > 4096) {
    from = Status::out_of_memory(""), to = Status::out_of_memory("");
    bytes /= 4;
    from = target.device->allocate(bytes);
    to = target.device->allocate(bytes);
  }
  if (!from.ok() || !to.ok()) return std::nullopt;
  baton_tensor source{}, result{};
  source.memory = from->memory(), result.memory = to->memory();
  const auto copies = several(target.simulated, kFewSamples, [&] {
    return elapsed_ns(target.device.get(), target.simulated, [&] {
      return Device::copy(target.device.get(), source, target.device.get(), result, bytes);
    });
  });
  return scaled(copies, [&](double ns) { return 2 * static_cast<double>(bytes) / ns; });
}

std::vector<std::pair<std::string, Measured>> product_gops(const FoundTarget& target,
                                                           const BuildContext& context) {
  std::vector<std::pair<std::string, Measured>> rates;
  for (const auto& [type, gops] : target.backend->known_gops) rates.emplace_back(type, Measured{gops, 0, 0});
  if (!rates.empty() || target.backend->kind.empty()) return rates;
  for (const char* dtype : {"float32", "float64", "int8"}) {
    const BackendFunction product = probe(std::string("probe_") + dtype, product_of(dtype));
    std::string why;
    const auto module = built_probe(target, product, context, why);
    if (!module) continue;
    Bound kernel(target, *module, product.func_name, product.function);
    if (!kernel.good()) continue;
    const double operations = 2.0 * kProductExtent * kProductExtent * kProductExtent;
    const auto gops = scaled(several(target.simulated, kFewSamples, [&] { return kernel.ns(); }),
                             [&](double ns) { return operations / ns; });
    if (gops) rates.emplace_back(dtype, *gops);
  }
  return rates;
}

MaybeMeasured copy_us(const FoundTarget& from, const FoundTarget& to, size_t bytes) {
  const bool simulated = from.simulated || to.simulated;
  if (simulated && from.simulated != to.simulated && from.device && to.device) return std::nullopt;
  struct End {
    End(const FoundTarget& target, size_t bytes) : device(target.device.get()) {
      if (!device) {
        host = NDArray::zeros({static_cast<int64_t>(bytes)}, DType::uint_(8));
        good = host.defined();
        tensor.host = good ? static_cast<uint8_t*>(host.data()) : nullptr;
      } else if (Result<DeviceBlock> given = device->allocate(bytes); given.ok()) {
        block = std::move(*given);
        tensor.memory = block.memory();
        good = true;
      }
    }
    const Device* device;
    NDArray host;
    DeviceBlock block;
    baton_tensor tensor{};
    bool good = false;
  };
  const End source(from, bytes), result(to, bytes);
  if (!source.good || !result.good) return std::nullopt;
  // The queue that the copy is in: the receiver's, unless that is the host.
  const Device* clock = result.device ? result.device : source.device;
  const int samples = bytes >= kLarge ? kFewSamples : kSamples;
  return scaled(several(simulated, samples,
                        [&] {
                          return elapsed_ns(clock, simulated, [&] {
                            return Device::copy(source.device, source.tensor, result.device, result.tensor,
                                                bytes);
                          });
                        }),
                [](double ns) { return ns / 1e3; });
}

}  // namespace baton
