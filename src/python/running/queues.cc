// A model with its devices and links side by side, and a stream of inputs through it. Every call takes the
// stream's lock, without the GIL.
#include <mutex>

#include "baton/driver/build.h"
#include "baton/runtime/model.h"
#include "baton/runtime/queue_executor.h"
#include "baton/support/error.h"
#include "baton/support/require.h"

#include "python/running/dense_input.h"
#include "python/running/interruptible.h"
#include "python/running/running.h"

namespace baton::python {

namespace {

class Streaming {
 public:
  explicit Streaming(std::unique_ptr<QueueExecutor> executor) : executor_(std::move(executor)) {}

  QueueExecutor& executor() { return *executor_; }
  /// Without the GIL; see Running::lock().
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

 private:
  std::unique_ptr<QueueExecutor> executor_;
  std::mutex mutex_;
};

void set_input(Streaming& stream, size_t index, const NDArray& value) {
  const nb::gil_scoped_release release;
  const auto lock = stream.lock();
  Executor* const next = stream.executor().next();
  if (!next) throw Error("all instances of the stream are on the way: finish the oldest input first");
  require(next->set_input(index, value));
}

/// A queue's thread may end all work when Ctrl-C is pressed; the flag is that of the thread which begins it.
void start(Streaming& stream) {
  const SigintFlag sigint;
  const nb::gil_scoped_release release;
  const auto lock = stream.lock();
  if (!stream.executor().on_the_way()) stream.executor().set_interrupt(SigintFlag::flag());
  require(stream.executor().start());
}

/// Copies of the outputs of the oldest input.
std::vector<NDArray> finish(Streaming& stream) {
  return interruptible([&](const std::atomic<bool>* stop) {
    const auto lock = stream.lock();
    const Result<Executor*> done = stream.executor().finish();
    if (!done.ok() && *stop) throw Interrupted("interrupted while running");
    const Executor& instance = *require(done);
    std::vector<NDArray> outputs;
    for (size_t i = 0; i < instance.num_outputs(); ++i) {
      NDArray output = instance.output(i).copy();
      if (!output.defined())
        throw Error("output " + std::to_string(i) + " was not given back by its device, or there is no " +
                    "memory for a copy of it");
      outputs.push_back(std::move(output));
    }
    return outputs;
  });
}

/// (device, device): a device both times, or the ends of a link; DLPack's types of devices.
std::vector<std::pair<int, int>> queues_of(Streaming& stream) {
  std::vector<std::pair<int, int>> queues;
  for (const QueuePlan::Queue& queue : stream.executor().queues().queues)
    if (!queue.calls.empty()) queues.emplace_back(queue.from, queue.to);
  return queues;
}

const Executor& like(Streaming& stream) { return stream.executor().instance(); }

const PlanEntry& input_of(Streaming& stream, size_t index) {
  if (index >= like(stream).num_inputs()) throw nb::index_error("the model has no such input");
  return like(stream).input_entry(index);
}

std::shared_ptr<Streaming> streaming(std::unique_ptr<QueueExecutor> executor, int threads) {
  executor->set_threads(threads);
  return std::make_shared<Streaming>(std::move(executor));
}

}  // namespace

void bind_queues(nb::module_& m) {
  nb::class_<Streaming>(m, "QueueExecutor", "A model with devices and links side by side.")
      .def_prop_ro("instances", [](Streaming& s) { return s.executor().instances(); })
      .def_prop_ro("on_the_way",
                   [](Streaming& s) {
                     const nb::gil_scoped_release release;
                     const auto lock = s.lock();
                     return s.executor().on_the_way();
                   })
      .def_prop_ro("threads", [](Streaming& s) { return s.executor().threads(); })
      .def_prop_ro("queues", &queues_of)
      .def_prop_ro(
          "inputs",
          [](Streaming& s) {
            std::vector<std::string> names;
            for (size_t i = 0; i < like(s).num_inputs(); ++i) names.push_back(like(s).input_node(i).name);
            return names;
          },
          "names of the inputs, without constants")
      .def("input_dtype", [](Streaming& s, size_t i) { return input_of(s, i).dtype.str(); })
      .def("set_input", &set_input)
      .def("set_input", [](Streaming& s, size_t index,
                           const DenseInput& value) { set_input(s, index, view_of_input(value)); })
      .def("start", &start, "the next input begins")
      .def("finish", &finish, "copies of the outputs of the oldest input");
  m.def(
      "queue_executor_of_build",
      [](const BuildResult& built, size_t instances, int threads) {
        const nb::gil_scoped_release release;
        return streaming(make_queue_executor(built, instances), threads);
      },
      nb::arg("build"), nb::arg("instances"), nb::arg("threads"));
  m.def(
      "queue_executor_of_model",
      [](const Model& model, size_t instances, int threads) {
        const nb::gil_scoped_release release;
        return streaming(require(model.queue_executor(instances)), threads);
      },
      nb::arg("model"), nb::arg("instances"), nb::arg("threads"));
}

}  // namespace baton::python
