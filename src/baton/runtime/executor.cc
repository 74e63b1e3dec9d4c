#include "baton/runtime/executor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "baton/runtime/executor_memory.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/tensors.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/thread_reading.h"
#include "baton/support/base/memory.h"

namespace baton {
namespace {

constexpr size_t kVector = 64;
// Calls of at least this long together share one reading of the thread's clocks, which takes half a
// microsecond.
constexpr double kWatchedNs = 100'000;
constexpr int64_t kPatienceNs = 20'000'000;
constexpr int kMostMissed = 4;

/// A `__copy` node with both tensors on the CPU.
int copy_tensor(void*, void** args) {
  const auto* from = static_cast<const baton_tensor*>(args[0]);
  const auto* to = static_cast<const baton_tensor*>(args[1]);
  std::memcpy(to->host, from->host, bytes_of(*from));
  return 0;
}

}  // namespace

Executor::~Executor() {
  for (const auto& [module, bound] : bound_) module->plugin().table().unbind(bound);
}

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Plan> plan,
                                                   std::shared_ptr<const KernelLibrary> kernels,
                                                   const NamedArrays& constants) {
  return create(std::move(plan), Modules{processor_module(std::move(kernels))}, constants);
}

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Plan> plan, Modules modules,
                                                   const NamedArrays& constants) {
  std::unique_ptr<Executor> executor(new Executor);
  executor->plan_ = std::move(plan);
  executor->modules_ = std::move(modules);
  if (Status status = executor->prepare(constants, nullptr); !status.ok()) return status;
  return executor;
}

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Plan> plan, Modules modules,
                                                   const NamedArrays& constants, ExecutorShared& shared) {
  std::unique_ptr<Executor> executor(new Executor);
  executor->plan_ = std::move(plan);
  executor->modules_ = std::move(modules);
  if (Status status = executor->prepare(constants, &shared); !status.ok()) return status;
  if (!shared.first) shared.first = executor->memory_;
  return executor;
}

Status Executor::prepare(const NamedArrays& constants, ExecutorShared* shared) {
  const Plan& plan = *plan_;
  if (plan.heads.empty() && plan.storages.empty() && !plan.entries.empty())
    return Status::bad_data("the plan lists the calls of a program, and has no outputs");
  memory_ = std::make_shared<ExecutorMemory>();
  memory_->data.resize(plan.storages.size());
  memory_->blocks.resize(plan.storages.size());
  memory_->held.resize(plan.storages.size());
  memory_->own.resize(plan.storages.size());
  memory_->entries.resize(plan.storages.size());
  memory_->brought.resize(plan.entries.size());
  for (EntryId id = 0; id < plan.entries.size(); ++id) {
    memory_->entries[static_cast<size_t>(plan.entries[id].storage)].push_back(id);
  }
  Status status = open_devices(shared);
  if (status.ok()) status = check_extents();
  if (status.ok()) make_tensors();
  if (status.ok()) status = allocate_on_devices(constants, shared);
  if (status.ok()) status = bind_constants(constants, shared);
  if (status.ok()) status = allocate();
  if (status.ok()) status = make_calls(shared);
  return status;
}

Status Executor::check_extents() const {
  for (const PlanNode& node : plan_->nodes) {
    for (uint32_t i = 0; i < node.num_outputs; ++i) {
      const PlanEntry& entry = plan_->entries[node.first_entry + i];
      if (*element_count(entry.shape) > INT32_MAX) {
        return Status::unavailable("node `" + node.name + "` has a tensor " +
                                   describe(entry.shape, entry.dtype) +
                                   "; kernels count up to 2^31 - 1 elements");
      }
    }
  }
  return Status::success();
}

void Executor::make_tensors() {
  size_t dimensions = 0;
  for (const PlanEntry& entry : plan_->entries) dimensions += entry.shape.size();
  memory_->dimensions.resize(dimensions);
  memory_->tensors.resize(plan_->entries.size());
  baton_dimension* next = memory_->dimensions.data();
  for (size_t e = 0; e < plan_->entries.size(); ++e) {
    const PlanEntry& entry = plan_->entries[e];
    memory_->tensors[e] = tensor_header(entry.dtype, static_cast<int32_t>(entry.shape.size()), next);
    set_extents(memory_->tensors[e], entry.shape);
    next += entry.shape.size();
  }
}

void Executor::point_to(int storage, void* data) {
  memory_->data[static_cast<size_t>(storage)] = data;
  for (const EntryId id : memory_->entries[static_cast<size_t>(storage)]) {
    memory_->tensors[id].host = static_cast<uint8_t*>(data);
  }
}

Status Executor::check_value(uint32_t node, const NDArray& value) const {
  const PlanNode& of = plan_->nodes[node];
  const PlanEntry& entry = plan_->entries[of.first_entry];
  if (!value.defined()) return Status::invalid("input `" + of.name + "` was given no value");
  if (value.shape() == entry.shape && value.dtype() == entry.dtype) return Status::success();
  return Status::invalid("input `" + of.name + "` is " + describe(entry.shape, entry.dtype) +
                         ", but was given " + describe(value.shape(), value.dtype()));
}

Status Executor::set_node(uint32_t node, const NDArray& value, bool may_bind) {
  if (Status status = check_value(node, value); !status.ok()) return status;
  const PlanEntry& entry = plan_->entries[plan_->nodes[node].first_entry];
  const int storage = entry.storage;
  if (const Device* on = edge(entry.device_type)) {
    return on->copy_in(memory_->blocks[static_cast<size_t>(storage)]->memory(), value.data(), value.bytes());
  }
  NDArray& held = memory_->held[static_cast<size_t>(storage)];
  NDArray& own = memory_->own[static_cast<size_t>(storage)];
  if (may_bind && reinterpret_cast<uintptr_t>(value.data()) % kVector == 0) {
    held = value;
  } else {
    if (!own.defined()) own = NDArray::empty(value.shape(), value.dtype());
    if (!own.defined()) return Status::out_of_memory("no memory for input `" + plan_->nodes[node].name + "`");
    if (value.bytes()) std::memmove(own.data(), value.data(), value.bytes());
    held = own;
  }
  point_to(storage, held.data());
  return Status::success();
}

Status Executor::bind_constants(const NamedArrays& constants, const ExecutorShared* shared) {
  std::unordered_map<std::string_view, uint32_t> nodes;
  for (const uint32_t node : plan_->arg_nodes) nodes.emplace(plan_->nodes[node].name, node);
  std::vector<bool> bound(plan_->nodes.size());
  for (const auto& [name, value] : constants) {
    const auto found = nodes.find(name);
    if (found == nodes.end())
      return Status::invalid("there is a constant `" + name + "`, but the plan has no input of that name");
    bound[found->second] = true;
    // What another executor has brought to a device is there already.
    if (shared && shared->first &&
        device(plan_->entries[plan_->nodes[found->second].first_entry].device_type))
      continue;
    if (Status status = set_node(found->second, value, true); !status.ok()) return status;
  }
  for (const uint32_t node : plan_->arg_nodes) {
    if (!bound[node]) inputs_.push_back(node);
  }
  return Status::success();
}

Status Executor::allocate() {
  std::vector<size_t> offsets(plan_->storages.size());
  ArenaLayout layout;
  for (size_t s = 0; s < plan_->storages.size(); ++s) {
    if (plan_->storages[s].written && plan_->storages[s].device_type == kProcessorKind)
      offsets[s] = layout.place(plan_->storages[s].bytes);
  }
  memory_->arena = allocate_aligned(layout.end());
  if (!memory_->arena)
    return Status::out_of_memory("no memory for the workspace of the model: " + std::to_string(layout.end()) +
                                 " bytes");
  std::memset(memory_->arena, 0, layout.end());  // takes the page faults now, not in the first run
  for (size_t s = 0; s < plan_->storages.size(); ++s) {
    if (plan_->storages[s].written && plan_->storages[s].device_type == kProcessorKind)
      point_to(static_cast<int>(s), static_cast<uint8_t*>(memory_->arena) + offsets[s]);
  }
  for (const uint32_t node : inputs_) {
    const PlanEntry& entry = plan_->entries[plan_->nodes[node].first_entry];
    const NDArray zeros = NDArray::zeros(entry.shape, entry.dtype);
    if (!zeros.defined())
      return Status::out_of_memory("no memory for input `" + plan_->nodes[node].name + "`");
    if (device(entry.device_type)) {
      if (Status status = set_node(node, zeros, false); !status.ok()) return status;
      continue;
    }
    memory_->own[static_cast<size_t>(entry.storage)] = zeros;
    memory_->held[static_cast<size_t>(entry.storage)] = zeros;
    point_to(entry.storage, memory_->own[static_cast<size_t>(entry.storage)].data());
  }
  return Status::success();
}

Status Executor::make_calls(ExecutorShared* shared) {
  std::vector<size_t> first_arg;
  for (uint32_t n = 0; n < plan_->nodes.size(); ++n) {
    const PlanNode& node = plan_->nodes[n];
    if (node.kind == PlanNode::Kind::kInput || node.kind == PlanNode::Kind::kNop) continue;
    bool any_output = false;
    for (uint32_t i = 0; i < node.num_outputs; ++i)
      any_output |= *element_count(plan_->entries[node.first_entry + i].shape) != 0;
    if (!any_output) continue;
    const Result<Call> call = node.kind == PlanNode::Kind::kCopy ? bind_copy(n, shared) : bind(n);
    if (!call.ok()) return call.status();
    first_arg.push_back(args_.size());
    for (const EntryId id : node.inputs) args_.push_back(&memory_->tensors[id]);
    for (uint32_t i = 0; i < node.num_outputs; ++i) args_.push_back(&memory_->tensors[node.first_entry + i]);
    calls_.push_back(*call);
    call_nodes_.push_back(n);
  }
  for (size_t c = 0; c < calls_.size(); ++c) calls_[c].args = args_.data() + first_arg[c];
  return Status::success();
}

/// A copy. If executors share queues, then those between devices are in queues of their own, on both sides.
Result<Executor::Call> Executor::bind_copy(uint32_t node, ExecutorShared* shared) {
  const PlanNode& of = plan_->nodes[node];
  const int types[] = {plan_->entries[of.inputs[0]].device_type, plan_->entries[of.first_entry].device_type};
  const Device* ends[] = {device(types[0]), device(types[1])};
  if (!ends[0] && !ends[1]) return Call{copy_tensor, nullptr, nullptr};
  if (shared && types[0] != types[1]) {
    for (const int i : {0, 1}) {
      if (!ends[i]) continue;
      const Result<std::shared_ptr<Device>> link = shared->link(types[i], types[1 - i], *ends[i]);
      if (!link.ok()) return link.status();
      links_.push_back(*link);
      ends[i] = link->get();
    }
  }
  crossings_.push_back(std::make_unique<Crossing>(Crossing{ends[0], ends[1]}));
  return Call{Crossing::run, crossings_.back().get(), nullptr};
}

Result<Executor::Call> Executor::bind(uint32_t node) {
  const PlanNode& of = plan_->nodes[node];
  const Device* on = device(plan_->entries[of.first_entry].device_type);
  const PluginModule* module = find_module(modules_, of.backend);
  if (!module && !of.backend.empty()) {
    return Status::bad_data("the kernel `" + of.func_name + "` of node `" + of.name +
                            "` is for the backend `" + of.backend + "`, of which the model has no code");
  }
  baton_bound bound{};
  const auto tensors = static_cast<int32_t>(of.inputs.size() + of.num_outputs);
  const Status status =
      module ? module->bind(of.func_name, tensors, on ? on->queue() : nullptr, bound) : Status::bad_data("");
  if (!status.ok()) {
    return Status::bad_data("the kernel `" + of.func_name + "` of node `" + of.name +
                            "` is not among the model's kernels" +
                            (of.backend.empty() ? "" : " (" + status.message + ")"));
  }
  bound_.emplace_back(module, bound);
  return Call{bound.function, bound.context, nullptr};
}

int Executor::threads() const { return threads_ > 0 ? threads_ : default_threads(); }

int Executor::find_input_node(std::string_view name) const {
  for (const uint32_t node : plan_->arg_nodes) {
    if (plan_->nodes[node].name == name) return static_cast<int>(node);
  }
  return -1;
}

Status Executor::set_input(size_t index, const NDArray& value) {
  if (index >= inputs_.size()) {
    return Status::invalid("there is no input " + std::to_string(index) + ": the model has " +
                           std::to_string(inputs_.size()));
  }
  return set_node(inputs_[index], value, false);
}

Status Executor::bind_input(size_t index, const NDArray& value) {
  if (index >= inputs_.size()) {
    return Status::invalid("there is no input " + std::to_string(index) + ": the model has " +
                           std::to_string(inputs_.size()));
  }
  return set_node(inputs_[index], value, true);
}

Status Executor::set_input(std::string_view name, const NDArray& value) {
  const int node = find_input_node(name);
  return node >= 0 ? set_node(static_cast<uint32_t>(node), value, false) : unknown_input(name);
}

Status Executor::bind_input(std::string_view name, const NDArray& value) {
  const int node = find_input_node(name);
  return node >= 0 ? set_node(static_cast<uint32_t>(node), value, true) : unknown_input(name);
}

Status Executor::set_argument(size_t index, const NDArray& value) {
  if (index >= plan_->arg_nodes.size()) return Status::invalid("there is no input " + std::to_string(index));
  return set_node(plan_->arg_nodes[index], value, false);
}

Status Executor::bind_argument(size_t index, const NDArray& value) {
  if (index >= plan_->arg_nodes.size()) return Status::invalid("there is no input " + std::to_string(index));
  return set_node(plan_->arg_nodes[index], value, true);
}

Status Executor::unknown_input(std::string_view name) const {
  std::string known;
  for (const uint32_t input : inputs_)
    known += (known.empty() ? "`" : ", `") + plan_->nodes[input].name + "`";
  return Status::invalid("the model has no input `" + std::string(name) + "`; it has " +
                         (known.empty() ? "none" : known));
}

NDArray Executor::entry(EntryId id) const {
  struct Hold {
    std::shared_ptr<ExecutorMemory> memory;
    NDArray array;
  };
  const PlanEntry& of = plan_->entries[id];
  const size_t storage = static_cast<size_t>(of.storage);
  if (const Device* on = edge(of.device_type)) {
    NDArray& brought = memory_->brought[id];
    if (!brought.defined()) brought = NDArray::empty(of.shape, of.dtype);
    if (!brought.defined() ||
        !on->copy_out(brought.data(), memory_->blocks[storage]->memory(), brought.bytes()).ok())
      return {};
    return brought;
  }
  auto* hold = new Hold{memory_, memory_->held[storage]};
  return NDArray::view(
      memory_->tensors[id].host, of.shape, of.dtype, [](void* held) { delete static_cast<Hold*>(held); },
      hold);
}

NDArray Executor::input(size_t index) const { return entry(input_node(index).first_entry); }

NDArray Executor::output(size_t index) const { return entry(plan_->heads[index]); }

Status Executor::node_failed(uint32_t failed, int code) const {
  const PlanNode& node = plan_->nodes[failed];
  const PluginModule* module = find_module(modules_, node.backend);
  const Device* on = device(plan_->entries[node.first_entry].device_type);
  if (node.kind == PlanNode::Kind::kCopy && !on) on = device(plan_->entries[node.inputs[0]].device_type);
  const std::string reason = on                                ? on->plugin().reason()
                             : module && !node.backend.empty() ? module->plugin().reason()
                                                               : "";
  return Status::kernel_failed("the kernel `" + node.func_name + "` of node `" + node.name +
                               "` failed with code " + std::to_string(code) + reason);
}

Status Executor::run_calls(size_t first, size_t last) {
  const ThreadScope scope(threads_);
  for (size_t c = first; c < last; ++c) {
    if (const int code = calls_[c].function(calls_[c].context, calls_[c].args)) [[unlikely]] {
      Status status = node_failed(call_nodes_[c], code);
      (void)wait();  // queued work uses this executor's memory
      return status;
    }
  }
  return wait();
}

Status Executor::run() { return run_calls(0, calls_.size()); }

Status Executor::run_range(uint32_t first, uint32_t last) {
  const auto call_of = [this](uint32_t node) {
    return static_cast<size_t>(std::lower_bound(call_nodes_.begin(), call_nodes_.end(), node) -
                               call_nodes_.begin());
  };
  return run_calls(call_of(first), std::max(call_of(first), call_of(last)));
}

Result<RunProfile> Executor::run_profiled(int runs, bool gather) {
  if (runs < 1) return Status::invalid("a profile needs at least one run, not " + std::to_string(runs));
  if (!devices_.empty()) return profile_with_devices(runs);
  const double scale = ns_per_tick();
  const size_t count = calls_.size();
  // Initialized now, so that no page fault falls between two timestamps.
  std::vector<uint64_t> stamps(2 * count + 2, 1);
  const auto times = static_cast<size_t>(runs);
  RunProfile profile{call_nodes_, std::vector<std::vector<double>>(count, std::vector<double>(times)),
                     std::vector<double>(times),
                     std::vector<std::vector<bool>>(count, std::vector<bool>(times)),
                     std::vector<std::vector<double>>(count, std::vector<double>(times))};
  const ThreadScope scope(threads_);
  const bool several = threads() > 1;
  for (size_t r = 0; r < times; ++r) {
    uint64_t* stamp = stamps.data();
    uint64_t reading = 0;  // ticks spent in reading the thread's clocks
    size_t unwatched = 0;  // the first call since the last reading
    int missed = 0;        // times in a row that the threads did not meet
    ThreadReading before = read_thread(several);
    uint64_t since = ticks();
    *stamp++ = since;
    for (size_t c = 0; c < count; ++c) {
      const bool alone = gather && several && missed < kMostMissed;
      bool met = true;
      if (alone) {
        const uint64_t begin = ticks();
        met = gather_threads(kPatienceNs);
        missed = met ? 0 : missed + 1;
        before = read_thread(several);
        reading += ticks() - begin;
        since = ticks();
      }
      *stamp++ = ticks();
      const int code = calls_[c].function(calls_[c].context, calls_[c].args);
      *stamp++ = ticks();
      if (code) [[unlikely]]
        return node_failed(call_nodes_[c], code);
      if (!alone && c + 1 < count && static_cast<double>(stamp[-1] - since) * scale < kWatchedNs) continue;
      const ThreadReading after = read_thread(several);
      if (!met || was_held(before, after, several)) {
        for (size_t i = unwatched; i <= c; ++i) profile.held[i][r] = true;
        if (unwatched == c) profile.computed_ns[c][r] = computed_ns(before, after, threads());
      }
      before = after;
      unwatched = c + 1;
      since = ticks();
      reading += since - stamp[-1];
    }
    *stamp = ticks();
    profile.total_ns[r] = static_cast<double>(*stamp - stamps[0] - reading) * scale;
    for (size_t c = 0; c < count; ++c) {
      profile.node_ns[c][r] = static_cast<double>(stamps[2 * c + 2] - stamps[2 * c + 1]) * scale;
    }
  }
  return profile;
}

const Executor::Call* Executor::node_call(uint32_t node) const {
  const auto found = std::lower_bound(call_nodes_.begin(), call_nodes_.end(), node);
  if (found == call_nodes_.end() || *found != node) return nullptr;
  return &calls_[static_cast<size_t>(found - call_nodes_.begin())];
}

std::span<void*> Executor::node_args(uint32_t node) {
  const Call* call = node_call(node);
  if (!call) return {};
  const PlanNode& of = plan_->nodes[node];
  return {call->args, of.inputs.size() + of.num_outputs};
}

KernelFunction Executor::node_function(uint32_t node) const {
  const Call* call = node_call(node);
  return call ? bound_kernel({call->function, call->context}) : nullptr;
}

void Executor::replace_function(uint32_t node, KernelFunction function) {
  const Call* call = node_call(node);
  if (!call) return;
  const baton_bound bound = bind_kernel(function);
  Call& replaced = calls_[static_cast<size_t>(call - calls_.data())];
  replaced = {bound.function, bound.context, call->args};
}

}  // namespace baton
