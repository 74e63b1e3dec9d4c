#include "baton/runtime/vm/machine_devices.h"

#include <string>
#include <unordered_map>

#include "baton/runtime/system/timers.h"
#include "baton/runtime/tensors.h"

namespace baton::vm {

using program::as_value;
using program::CellValue;
using program::DataValue;
using program::DeviceTensorValue;
using program::TensorValue;
using program::TupleValue;
using program::Value;

Result<std::unique_ptr<DevicePool::Block>> DevicePool::take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  // A block of up to twice the size: a loop over growing tensors would else keep one of each.
  if (const auto at = free_.lower_bound(bytes); at != free_.end() && at->first <= 2 * bytes) {
    std::unique_ptr<Block> block = std::move(at->second);
    free_.erase(at);
    return block;
  }
  Result<DeviceBlock> memory = device_.allocate(bytes);
  if (!memory.ok() && !free_.empty()) {
    if (Status status = device_.wait(); !status.ok()) return status;
    free_.clear();
    memory = device_.allocate(bytes);
  }
  if (!memory.ok()) return memory.status();
  return std::make_unique<Block>(Block{std::move(*memory), bytes});
}

void DevicePool::give_back(std::unique_ptr<Block> block) {
  const std::lock_guard lock(mutex_);
  if (!closed_) free_.emplace(block->bytes, std::move(block));
}

void DevicePool::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  free_.clear();
}

namespace {

/// Keeps a block of a pool for as long as a tensor has it.
struct Held {
  std::shared_ptr<DevicePool> pool;
  std::unique_ptr<DevicePool::Block> block;
  static void release(void* held) {
    auto* self = static_cast<Held*>(held);
    self->pool->give_back(std::move(self->block));
    delete self;
  }
};

/// The tensor as calls take it; its extents are in `dimensions`.
baton_tensor header_of(const NDArray& array, std::vector<baton_dimension>& dimensions) {
  dimensions.resize(array.shape().size());
  baton_tensor tensor = tensor_header(array.dtype(), array.ndim(), dimensions.data());
  set_extents(tensor, array.shape());
  return tensor;
}

}  // namespace

Result<std::unique_ptr<MachineDevices>> MachineDevices::open(const Program& program, Modules modules) {
  std::unique_ptr<MachineDevices> made(new MachineDevices(program));
  for (const int32_t type : program.devices) {
    const Result<const Plugin*> plugin = plugin_for(modules, type, "the program");
    if (!plugin.ok()) return plugin.status();
    Result<std::unique_ptr<Device>> device = Device::open(**plugin, (*plugin)->device_of_kind(type));
    if (!device.ok()) return device.status();
    made->pools_.push_back(std::make_shared<DevicePool>(**device));
    made->devices_.push_back(std::move(*device));
  }
  if (Status status = made->bring_constants(); !status.ok()) return status;
  return made;
}

MachineDevices::~MachineDevices() {
  (void)wait();
  for (const std::shared_ptr<DevicePool>& pool : pools_) pool->close();
}

Status MachineDevices::bring_constants() {
  for (const Piece& piece : program_.pieces)
    for (const PieceTensor& tensor : piece.tensors) {
      if (tensor.home != PieceTensor::Home::kConstant || !tensor.device) continue;
      Value& there = constants_[{tensor.device, tensor.place}];
      if (there) continue;
      const Value here = make_ref<const TensorValue>(program_.constants[tensor.place].second, /*lent=*/true);
      Result<Value> copy = brought(here, tensor.device, {});
      if (!copy.ok()) return copy.status();
      there = std::move(*copy);
    }
  return Status::success();
}

baton_bound MachineDevices::copier(uint32_t from, uint32_t to) {
  const auto [at, fresh] = crossings_.try_emplace({from, to}, Crossing{device(from), device(to)});
  return {Crossing::run, &at->second};
}

Result<Value> MachineDevices::make(uint32_t device, Shape shape, DType dtype) const {
  const std::shared_ptr<DevicePool>& pool = pools_[device - 1];
  Result<std::unique_ptr<DevicePool::Block>> block =
      pool->take(static_cast<size_t>(byte_count(shape, dtype).value_or(0)));
  if (!block.ok()) return block.status();
  const uint64_t memory = (*block)->memory.memory();
  auto* held = new Held{pool, std::move(*block)};
  return Value(make_ref<const DeviceTensorValue>(
      NDArray::view(nullptr, std::move(shape), dtype, Held::release, held), device, memory));
}

uint32_t MachineDevices::clock_of_copy(uint32_t from, uint32_t to) const {
  return is_simulated(to) ? to : is_simulated(from) ? from : 0;
}

int MachineDevices::measure(uint32_t clock, MeasuredRun& run, const std::function<int()>& work,
                            uint64_t& took) const {
  const uint64_t began = ticks();
  int code = 0;
  if (!clock) {
    code = work();
    took = ticks() - began;
    return code;
  }
  const Result<double> ns = device(clock)->time([&] { return code = work(); });
  if (!code && !ns.ok()) code = -1;
  if (code) return code;
  took = static_cast<uint64_t>(*ns / ns_per_tick() + ticks_per_reading());
  if (is_simulated(clock)) run.exclude(ticks() - began - took);
  return 0;
}

Result<Value> MachineDevices::brought(const Value& tensor, uint32_t to, const Cause& cause) const {
  const auto* there = as_value<DeviceTensorValue>(tensor);
  const auto* here = as_value<TensorValue>(tensor);
  if (!there && !here)
    return Status::invalid(program::describe(tensor) + " is used like a tensor on a device");
  const uint32_t from = there ? there->device() : 0;
  if (from == to) return tensor;
  const NDArray& array = there ? there->array() : here->array();
  std::vector<baton_dimension> dimensions;
  baton_tensor source = header_of(array, dimensions), target = source;
  source.memory = there ? there->memory() : 0;
  source.host = here ? static_cast<uint8_t*>(const_cast<void*>(array.data())) : nullptr;
  Value made;
  if (to) {
    Result<Value> value = make(to, array.shape(), array.dtype());
    if (!value.ok()) return value.status();
    made = std::move(*value);
    target.memory = as_value<DeviceTensorValue>(made)->memory();
  } else {
    NDArray copy = NDArray::empty(array.shape(), array.dtype());
    if (!copy.defined()) return Status::out_of_memory("no memory for a tensor of a device");
    target.host = static_cast<uint8_t*>(copy.data());
    made = program::tensor_value(std::move(copy));
  }
  const size_t bytes = bytes_of(source);
  const auto copy = [&] { return bytes ? Device::copy(device(from), source, device(to), target, bytes) : 0; };
  uint64_t took = 0;
  if (cause.run ? measure(clock_of_copy(from, to), *cause.run, copy, took) : copy())
    return Status::kernel_failed("a tensor was not copied between devices" +
                                 device(from ? from : to)->plugin().reason());
  if (cause.run) cause.run->add_copy(cause.node, took);
  return made;
}

Result<Value> MachineDevices::for_host(const Value& value, const Cause& cause) const {
  std::unordered_map<const program::ValueNode*, Value> done;
  std::vector<Value> kept;                       // the keys of `done`
  std::vector<std::pair<Value, Value>> holders;  // references, and what they hold
  std::vector<Value> open{value};
  const auto made_of = [&](const std::vector<Value>& fields, bool* changed) {
    std::vector<Value> made;
    for (const Value& field : fields) {
      made.push_back(field ? done.at(field.get()) : field);
      *changed |= made.back() != field;
    }
    return made;
  };
  while (!open.empty()) {
    const Value each = open.back();
    if (!each || done.contains(each.get())) {
      open.pop_back();
      continue;
    }
    if (const auto* cell = as_value<CellValue>(each)) {
      // Done before what it holds, which may lead back to it.
      open.pop_back();
      done.emplace(each.get(), each);
      holders.emplace_back(each, cell->value());
      open.push_back(holders.back().second);
      continue;
    }
    const auto* tuple = as_value<TupleValue>(each);
    const auto* data = as_value<DataValue>(each);
    const std::vector<Value>* fields = tuple ? &tuple->fields() : data ? &data->fields() : nullptr;
    if (fields) {
      const size_t before = open.size();
      for (const Value& field : *fields)
        if (field && !done.contains(field.get())) open.push_back(field);
      if (open.size() > before) continue;
    }
    open.pop_back();
    kept.push_back(each);
    if (as_value<DeviceTensorValue>(each)) {
      Result<Value> here = brought(each, 0, cause);
      if (!here.ok()) return here.status();
      done.emplace(each.get(), std::move(*here));
      continue;
    }
    bool changed = false;
    const std::vector<Value> made = fields ? made_of(*fields, &changed) : std::vector<Value>();
    done.emplace(each.get(), !changed ? each
                             : tuple  ? program::tuple_value(made)
                                      : make_ref<const DataValue>(data->tag(), made, data->constructor()));
  }
  for (const auto& [holder, held] : holders)
    if (held && done.at(held.get()) != held) as_value<CellValue>(holder)->write(done.at(held.get()));
  return value ? done.at(value.get()) : value;
}

Status MachineDevices::wait() const {
  for (const std::unique_ptr<Device>& device : devices_)
    if (Status status = device->wait(); !status.ok()) return status;
  return Status::success();
}

}  // namespace baton::vm
