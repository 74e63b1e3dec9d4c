// Executors and models. Every call takes the model's lock, without the GIL: threads may share a model, and
// wait for each other. A child of fork gets a new lock, since a thread of the parent may have held the old
// one.
#include <cstring>
#include <limits>
#include <mutex>
#include <set>

#include <pthread.h>

#include "baton/profile/measure/bursts.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/model.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/require.h"

#include "python/door.h"
#include "python/running/dense_input.h"
#include "python/running/interruptible.h"
#include "python/running/running.h"

namespace baton::python {

namespace {

std::atomic<uint64_t> forks{0};

}  // namespace

std::unique_lock<std::mutex> Running::lock() {
  if (forks_ != forks) {  // a child of fork has one thread
    forks_ = forks;
    mutex_ = std::make_unique<std::mutex>();
  }
  return std::unique_lock(*mutex_);
}

Running::Running(std::shared_ptr<Executor> executor) : executor_(std::move(executor)), forks_(forks) {}

namespace {

const PlanNode& arg_node(const Executor& e, size_t index) {
  const Plan& plan = e.plan();
  if (index >= plan.arg_nodes.size()) {
    throw nb::index_error(("the model has " + std::to_string(plan.arg_nodes.size()) + " inputs, asked for " +
                           std::to_string(index))
                              .c_str());
  }
  return plan.nodes[plan.arg_nodes[index]];
}

const PlanEntry& arg_entry(const Executor& e, size_t index) {
  return e.plan().entries[arg_node(e, index).first_entry];
}

NDArray output(const Executor& executor, size_t index) {
  if (index >= executor.num_outputs()) {
    throw nb::index_error(("the model has " + std::to_string(executor.num_outputs()) +
                           " outputs, asked for " + std::to_string(index))
                              .c_str());
  }
  const NDArray value = executor.output(index);
  if (!value.defined()) throw Error("output " + std::to_string(index) + " was not given back by its device");
  return value;
}

uint32_t checked_node(const Executor& e, size_t node) {
  if (node >= e.plan().nodes.size())
    throw nb::index_error(("the graph has " + std::to_string(e.plan().nodes.size()) + " nodes, asked for " +
                           std::to_string(node))
                              .c_str());
  return static_cast<uint32_t>(node);
}

NDArray node_output(const Executor& e, size_t index, size_t output) {
  const PlanNode& node = e.plan().nodes[checked_node(e, index)];
  if (output >= node.num_outputs)
    throw nb::index_error(("node `" + node.name + "` has " + std::to_string(node.num_outputs) +
                           " outputs, asked for " + std::to_string(output))
                              .c_str());
  return e.entry(node.first_entry + static_cast<EntryId>(output));
}

constexpr double kLongNs = 2e8;

/// One run that polls `stop` between nodes.
void run_nodes(Executor& e, const std::atomic<bool>* stop) {
  const ThreadScope threads(e.threads());
  for (uint32_t node = 0; node < e.plan().nodes.size(); ++node) {
    if (*stop) throw Interrupted("interrupted while running");
    require(e.run_range(node, node + 1));
  }
}

/// The same with timing: nanoseconds of the whole run, and of each node with a kernel.
std::pair<double, std::vector<std::pair<uint32_t, double>>> profile_nodes(Executor& e,
                                                                          const std::atomic<bool>* stop) {
  const ThreadScope threads(e.threads());
  std::vector<std::pair<uint32_t, double>> nodes;
  const int64_t begin = monotonic_ns();
  for (uint32_t node = 0; node < e.plan().nodes.size(); ++node) {
    if (*stop) throw Interrupted("interrupted while measuring");
    if (!e.node_call(node)) continue;
    const int64_t start = monotonic_ns();
    require(e.run_range(node, node + 1));
    nodes.emplace_back(node, static_cast<double>(monotonic_ns() - start));
  }
  return {static_cast<double>(monotonic_ns() - begin), std::move(nodes)};
}

/// Long runs are executed node by node, so that they can be interrupted; short ones have no overhead.
void run_once(Running& model) {
  const int64_t begin = monotonic_ns();
  if (model.last_run_ns < kLongNs) {
    const nb::gil_scoped_release release;
    const auto lock = model.lock();
    require(model.executor().run());
    model.last_run_ns = static_cast<double>(monotonic_ns() - begin);
    return;
  }
  interruptible([&](const std::atomic<bool>* stop) {
    const auto lock = model.lock();
    run_nodes(model.executor(), stop);
    model.last_run_ns = static_cast<double>(monotonic_ns() - begin);
  });
}

void run_range(Running& model, size_t first, size_t last) {
  const uint32_t end = last > 0 ? checked_node(model.executor(), last - 1) + 1 : 0;
  const nb::gil_scoped_release release;
  const auto lock = model.lock();
  require(model.executor().run_range(static_cast<uint32_t>(std::min<size_t>(first, end)), end));
}

BurstOptions burst_options(int number, int repeat, double min_repeat_ms, int limit_zero_time_iterations,
                           int cooldown_interval_ms, int repeats_to_cooldown) {
  BurstOptions options;
  options.number = number;
  options.repeat = repeat;
  options.min_repeat_ms = min_repeat_ms;
  options.limit_zero_time_iterations = limit_zero_time_iterations;
  options.cooldown_interval_ms = cooldown_interval_ms;
  options.repeats_to_cooldown = repeats_to_cooldown;
  return options;
}

std::vector<double> time_runs(Running& model, int number, int repeat, double min_repeat_ms, int limit_zero,
                              int cooldown_interval_ms, int repeats_to_cooldown) {
  BurstOptions options =
      burst_options(number, repeat, min_repeat_ms, limit_zero, cooldown_interval_ms, repeats_to_cooldown);
  return interruptible([&](const std::atomic<bool>* stop) {
    options.interrupt = stop;
    const auto lock = model.lock();
    Executor& e = model.executor();
    const ThreadScope threads(e.threads());
    const int64_t begin = monotonic_ns();
    run_nodes(e, stop);
    const bool is_long = static_cast<double>(monotonic_ns() - begin) > kLongNs;
    return time_bursts([&] { is_long ? run_nodes(e, stop) : require(e.run()); }, options);
  });
}

/// Seconds per burst; zeros for nodes without a kernel. The kernel reads the current contents of the model's
/// memory.
std::vector<double> time_node(Running& model, size_t index, int number, int repeat, double min_repeat_ms,
                              int limit_zero, int cooldown_interval_ms, int repeats_to_cooldown) {
  const uint32_t node = checked_node(model.executor(), index);
  BurstOptions options =
      burst_options(number, repeat, min_repeat_ms, limit_zero, cooldown_interval_ms, repeats_to_cooldown);
  return interruptible([&](const std::atomic<bool>* stop) {
    options.interrupt = stop;
    const auto lock = model.lock();
    Executor& e = model.executor();
    const Executor::Call* call = e.node_call(node);
    if (!call) return std::vector<double>(static_cast<size_t>(std::max(repeat, 0)), 0.0);
    const ThreadScope threads(e.threads());
    return time_bursts(
        [&] {
          if (const int code = call->function(call->context, call->args))
            throw Error("node `" + e.plan().nodes[node].name + "` failed with code " + std::to_string(code));
        },
        options);
  });
}

/// (total nanoseconds, [(node, nanoseconds)]) of one run with each kernel timed, after `warm_up` plain runs,
/// at least one.
std::pair<double, std::vector<std::pair<uint32_t, double>>> profile_once(Running& model, int warm_up) {
  return interruptible([&](const std::atomic<bool>* stop) {
    const auto lock = model.lock();
    Executor& e = model.executor();
    const int64_t begin = monotonic_ns();
    run_nodes(e, stop);
    const bool is_long = static_cast<double>(monotonic_ns() - begin) > kLongNs;
    for (int i = 1; i < warm_up; ++i) run_nodes(e, stop);
    if (is_long) return profile_nodes(e, stop);
    const RunProfile profile = require(e.run_profiled(1));
    std::vector<std::pair<uint32_t, double>> nodes;
    for (size_t i = 0; i < profile.nodes.size(); ++i)
      nodes.emplace_back(profile.nodes[i], profile.node_ns[i][0]);
    return std::pair(profile.total_ns[0], std::move(nodes));
  });
}

std::shared_ptr<Running> executor_of(std::unique_ptr<Executor> executor) {
  return std::make_shared<Running>(std::shared_ptr<Executor>(std::move(executor)));
}

/// A model without constants: every input node of the plan is an input.
std::shared_ptr<Running> executor_of_graph(const Model& model, const std::string& graph_json) {
  const nb::gil_scoped_release release;
  auto plan = require(Plan::parse(graph_json));
  return executor_of(
      require(Executor::create(std::move(plan), require(Model::load_modules(model.artifact())), {})));
}

std::vector<std::pair<std::string, nb::bytes>> device_code_of(const Model& model) {
  std::vector<std::pair<std::string, nb::bytes>> code;
  for (const PluginCode& each : require(model.artifact().plugins()))
    code.emplace_back(each.backend, nb::bytes(each.blob.data(), each.blob.size()));
  return code;
}

nb::bytes section_bytes(const Model& model, const std::string& name) {
  const std::string_view text = model.artifact().text(name);
  return nb::bytes(text.data(), text.size());
}

void bind_executor(nb::module_& m) {
  nb::class_<Running>(m, "Executor", "A model with memory of its own; threads that share it take turns.")
      .def_prop_ro(
          "num_inputs", [](Running& r) { return r.executor().plan().arg_nodes.size(); },
          "inputs and constants: the plan's input nodes, in order")
      .def_prop_ro("num_outputs", [](Running& r) { return r.executor().num_outputs(); })
      .def_prop_ro("num_nodes", [](Running& r) { return r.executor().plan().nodes.size(); })
      .def_prop_ro(
          "free_inputs",
          [](Running& r) {
            std::vector<std::string> names;
            for (size_t i = 0; i < r.executor().num_inputs(); ++i)
              names.push_back(r.executor().input_node(i).name);
            return names;
          },
          "names of the inputs that are no constants")
      .def("input_name", [](Running& r, size_t i) { return arg_node(r.executor(), i).name; })
      .def("input_shape",
           [](Running& r, size_t i) { return nb::tuple(nb::cast(arg_entry(r.executor(), i).shape)); })
      .def("input_dtype", [](Running& r, size_t i) { return arg_entry(r.executor(), i).dtype.str(); })
      .def("set_input",
           [](Running& r, const std::string& name, const NDArray& value) {
             const nb::gil_scoped_release release;
             const auto lock = r.lock();
             require(r.executor().set_input(std::string_view(name), value));
           })
      .def("set_input",
           [](Running& r, size_t index, const NDArray& value) {
             const nb::gil_scoped_release release;
             const auto lock = r.lock();
             require(r.executor().set_argument(index, value));
           })
      .def(
          "set_input",
          [](Running& r, size_t index, const DenseInput& value) {
            const NDArray view = view_of_input(value);
            const nb::gil_scoped_release release;
            const auto lock = r.lock();
            require(r.executor().set_argument(index, view));
          },
          "Copies a contiguous array of the host (numpy, DLPack) to the input.")
      .def(
          "bind_input",
          [](Running& r, size_t index, const NDArray& value) {
            const nb::gil_scoped_release release;
            const auto lock = r.lock();
            require(r.executor().bind_argument(index, value));
          },
          "Uses the memory of an array instead of copying it, if it is aligned to 64 bytes.")
      .def(
          "input",
          [](Running& r, size_t i) {
            const EntryId entry = arg_node(r.executor(), i).first_entry;
            const nb::gil_scoped_release release;
            const auto lock = r.lock();
            return r.executor().entry(entry);
          },
          "a view")
      .def(
          "output", [](Running& r, size_t i) { return output(r.executor(), i); },
          "a view: the next run changes it")
      .def(
          "node_output", [](Running& r, size_t node, size_t i) { return node_output(r.executor(), node, i); },
          "a view of what a node made, for as long as no later one uses its memory")
      .def_prop_ro(
          "threads", [](Running& r) { return r.executor().threads(); }, "of a run")
      .def(
          "set_threads", [](Running& r, int threads) { r.executor().set_threads(threads); },
          nb::arg("threads"))
      .def("run", &run_once)
      .def("run_range", &run_range, nb::arg("first"), nb::arg("last"), "the nodes first <= node < last only")
      .def("time_runs", &time_runs, nb::arg("number"), nb::arg("repeat"), nb::arg("min_repeat_ms"),
           nb::arg("limit_zero_time_iterations"), nb::arg("cooldown_interval_ms"),
           nb::arg("repeats_to_cooldown"), "seconds per run, one number per burst")
      .def("time_node", &time_node, nb::arg("node"), nb::arg("number"), nb::arg("repeat"),
           nb::arg("min_repeat_ms"), nb::arg("limit_zero_time_iterations"), nb::arg("cooldown_interval_ms"),
           nb::arg("repeats_to_cooldown"), "seconds per call of one node's kernel, one number per burst")
      .def("profile", &profile_once, nb::arg("warm_up") = 1,
           "(nanoseconds, [(node, nanoseconds)]) of one run");
}

}  // namespace

std::shared_ptr<Running> run_here(std::unique_ptr<Executor> executor) {
  return executor_of(std::move(executor));
}

void bind_runtime(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  bind_executor(m);
  nb::class_<KernelLibrary>(m, "KernelLibrary", "Compiled kernels.")
      .def("has", [](const KernelLibrary& library, const std::string& name) {
        return library.find(name) != nullptr;
      });
  nb::class_<Model>(m, "Model", "An artifact, opened.")
      .def("another_executor",
           [](const Model& model) {
             const nb::gil_scoped_release release;
             return executor_of(require(model.another_executor()));
           })
      .def("executor_of_graph", &executor_of_graph, nb::arg("graph_json"),
           "An executor of a plan whose kernels are in this file; every input node of it is an input.")
      .def_prop_ro("device_code", &device_code_of, "(backend, blob) of every backend but the processor's")
      .def("section", &section_bytes, nb::arg("name"),
           "the bytes of a section of the file; empty when there is none")
      .def_prop_ro("params", [](const Model& model) { return arrays_to_python(model.artifact().params()); });
  m.def(
      "load_model",
      [](const std::string& path, bool verify) {
        read_environment();
        const nb::gil_scoped_release release;
        return std::shared_ptr<Model>(require(Model::load(path, verify)));
      },
      nb::arg("path"), nb::arg("verify") = true);
  m.def(
      "plan_devices",
      [](const std::string& graph_json) {
        std::set<int> types;
        for (const PlanEntry& entry : require(Plan::parse(graph_json))->entries)
          types.insert(entry.device_type);
        return std::vector<int>(types.begin(), types.end());
      },
      nb::arg("graph_json"), "DLPack's types of the devices that a plan uses, ascending.");
  m.def("num_threads", &default_threads, "threads that kernels use when nobody says otherwise");
  m.def(
      "time_bursts",
      [](const nb::callable& once, int number, int repeat, double min_repeat_ms, int limit_zero,
         int cooldown_interval_ms, int repeats_to_cooldown) {
        return time_bursts([&] { once(); }, burst_options(number, repeat, min_repeat_ms, limit_zero,
                                                          cooldown_interval_ms, repeats_to_cooldown));
      },
      nb::arg("once"), nb::arg("number"), nb::arg("repeat"), nb::arg("min_repeat_ms"),
      nb::arg("limit_zero_time_iterations"), nb::arg("cooldown_interval_ms"), nb::arg("repeats_to_cooldown"),
      "seconds per call of a Python function, one number per burst");
}

}  // namespace baton::python
