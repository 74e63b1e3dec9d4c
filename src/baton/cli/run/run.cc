#include <algorithm>
#include <cmath>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/cli/run/run_program.h"
#include "baton/driver/load_model.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/frontend/npz.h"
#include "baton/runtime/queue_executor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/float16.h"

namespace baton::cli {

namespace {

// The first few values of an output, for display.
std::string head_of(const NDArray& array) {
  std::string text;
  const int64_t shown = std::min<int64_t>(array.size(), 6);
  for (int64_t i = 0; i < shown; ++i) {
    char number[32] = "?";
    const DType type = array.dtype();
    if (type == DType::float_(32))
      std::snprintf(number, sizeof number, "%.6g", array.as<float>()[i]);
    else if (type == DType::float_(64))
      std::snprintf(number, sizeof number, "%.6g", array.as<double>()[i]);
    else if (type == DType::float_(16))
      std::snprintf(number, sizeof number, "%.4g", half_to_float(array.as<uint16_t>()[i]));
    else if (type == DType::int_(32))
      std::snprintf(number, sizeof number, "%d", array.as<int32_t>()[i]);
    else if (type == DType::int_(64))
      std::snprintf(number, sizeof number, "%lld", static_cast<long long>(array.as<int64_t>()[i]));
    else if (type.bytes() == 1)
      std::snprintf(number, sizeof number, "%d", array.as<int8_t>()[i]);
    text += (i ? ", " : "") + std::string(number);
  }
  return "[" + text + (shown < array.size() ? ", ...]" : "]");
}

class RunVerb final : public Verb {
 public:
  RunVerb() : Verb("run", "Run a model, or an artifact of `baton build`, once.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    flags_.add_choices(flags);
    debug_.add(flags);
    flags.at("MODEL").doc = "workload name, ONNX or .relay file, or a .baton artifact";
    flags.option("inputs", &inputs_,
                 "input values from an .npz, whose shapes the model gets where it leaves extents open; the "
                 "others by the tensor rule");
    flags.option("o,output", &output_, "write the outputs to an .npz, as output0, output1, ...");
    flags
        .option(
            "executor", &executor_,
            "graph: straight-line models of constant shapes; vm: all others, too; interpreter: operator by "
            "operator (slow); auto: graph, and vm for what it does not take")
        .choices({"auto", "graph", "vm", "interpreter"})
        .show_default();
    flags_.add_no_verify(flags);
    add_threads(flags, &threads_);
    flags
        .option(
            "stream", &stream_,
            "run it so many times more, as a stream through devices and links that work side by side, and "
            "say how long an input takes")
        .shown_as("INPUTS")
        .range(1, 1e9);
  }

  int run(Io& io) override {
    apply(debug_, flags_);
    const GivenInputs given = read_given_inputs(inputs_);
    if (flags_.model.ends_with(".baton")) {
      refuse_options(io, {"executor"}, flags_.model + " is an artifact, whose executor is known");
      if (is_program_file(flags_.model)) {
        refuse_options(io, {"stream", "no-verify"}, flags_.model + " is a program of the virtual machine");
        refuse_build_options(io, flags_.model + " is an artifact", /*shapes=*/false);
        print(run_program_file(flags_.model, given, flags_.shapes, threads_), io);
        return 0;
      }
      const std::unique_ptr<Model> artifact = flags_.open_artifact(io);
      run(artifact->executor(), given, io);
      if (stream_) stream(*require(artifact->queue_executor()), given, io);
      return 0;
    }
    if (executor_ == "interpreter") {
      refuse_options(io,
                     {"target", "strict", "debug-lines", "debug-dir", "stream", "opt-level", "precision",
                      "mapping", "untuned"},
                     "--executor interpreter evaluates the program operator by operator, on the processor");
      print(run_interpreted(flags_, given, threads_, io), io);
      return 0;
    }
    if (executor_ != "vm") take_shapes_of(given);
    // Options that have no effect are refused before anything is compiled.
    const auto build_it = [&](const IRModule& module, const BuildOptions& options) {
      if (executor_ == "graph" || (executor_ == "auto" && is_plan(module))) return build(module, options);
      refuse_options(io, {"stream", "mapping", "debug-lines", "debug-dir"},
                     "the program runs on the virtual machine");
      return build_program(module, options);
    };
    const BuiltModel built = build_model(flags_, io, nullptr, build_it, executor_ != "graph");
    if (built.build.program) {
      print(run_built_program(built, flags_, given, threads_, io), io);
      return 0;
    }
    weights_ = built.params;
    run(*make_executor(built.build), given, io);
    if (stream_) stream(*make_queue_executor(built.build), given, io);
    return 0;
  }

 private:
  /// Extents that the model leaves open, and --shape does not give, are those of the values of its inputs.
  void take_shapes_of(const GivenInputs& given) {
    if (given.arrays.empty() || flags_.model == "-") return;
    const Function main = load_model(flags_.model, flags_.shapes).module->find("main");
    if (!main) return;  // the build says so
    for (const Var& param : main->params()) {
      const auto* type = as_type<TensorTypeNode>(type_of(*param));
      const auto value = std::ranges::find(given.arrays, param->name(), &NamedArrays::value_type::first);
      if (!type || type->is_static() || value == given.arrays.end()) continue;
      std::string text = param->name() + "=";
      for (const int64_t extent : value->second.shape()) text += std::to_string(extent) + ",";
      flags_.shapes.push_back(text.substr(0, text.size() - 1));
    }
  }

  void run(Executor& executor, const GivenInputs& given, Io& io) const {
    executor.set_threads(threads_);
    set_inputs(executor, given, io, weights_);
    require(executor.run());
    std::vector<NDArray> outputs;
    for (size_t i = 0; i < executor.num_outputs(); ++i) outputs.push_back(executor.output(i));
    print(outputs, io);
  }

  void print(const std::vector<NDArray>& values, Io& io) const {
    NamedArrays outputs;
    for (const NDArray& value : values) {
      outputs.emplace_back("output" + std::to_string(outputs.size()), value);
      io.out << outputs.back().first << ": " << describe(value.shape(), value.dtype()) << " = "
             << head_of(value) << '\n';
    }
    if (!output_.empty()) write_npz(output_, outputs);
  }

  /// The same inputs again and again.
  void stream(QueueExecutor& executor, const GivenInputs& given, Io& io) const {
    executor.set_threads(threads_);
    for (uint32_t node = 0; node < executor.instance().plan().nodes.size(); ++node)
      if (executor.instance().plan().is_simulated(node))
        throw UsageError("--stream: the time of simulated devices does not pass; `baton map --objective " +
                         std::string("throughput` computes what would be"));
    const InterruptScope interrupt;
    executor.set_interrupt(interrupt.flag());
    const auto finish = [&] {
      const Result<Executor*> done = executor.finish();
      if (!done.ok() && *interrupt.flag()) throw Interrupted("interrupted");
      return require(done);
    };
    while (Executor* next = executor.next()) {  // also to warm up
      set_inputs(*next, given.arrays);
      require(executor.start());
    }
    while (executor.on_the_way()) finish();
    int64_t begin = monotonic_ns();
    require(executor.start());
    finish();
    const double one_us = static_cast<double>(monotonic_ns() - begin) / 1e3;
    begin = monotonic_ns();
    for (int i = 0; i < stream_; ++i) {
      if (!executor.next()) finish();
      require(executor.start());
    }
    while (executor.on_the_way()) finish();
    const double us = static_cast<double>(monotonic_ns() - begin) / 1e3 / stream_;
    size_t queues = 0;
    for (const QueuePlan::Queue& queue : executor.queues().queues) queues += !queue.calls.empty();
    char text[200];
    std::snprintf(text, sizeof text,
                  "stream: %d inputs, %zu queue%s, at most %zu on the way: %.1f us each; one alone %.1f us\n",
                  stream_, queues, queues == 1 ? "" : "s", executor.instances(), us, one_us);
    io.out << text;
  }

  ModelFlags flags_;
  DebugFlags debug_;
  NamedArrays weights_;
  std::string inputs_, output_, executor_ = "auto";
  int threads_ = 0, stream_ = 0;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace baton::cli
