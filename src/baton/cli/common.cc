#include "baton/cli/common.h"

#include <algorithm>
#include <csignal>

#include "baton/driver/cut/cut_values.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

namespace {

constexpr const char* kModelDoc =
    "workload name (baton models lists them), .relay file, or - for Relay text on standard input";

void add_build_flags(ModelFlags& model, Flags& flags) {
  flags.option("params", &model.params, "weights from an .npz; the rest by the tensor rule (docs/guide.md)");
  flags.option("input-name", &model.inputs,
               "a parameter of main that is an input (default: data, else the first)");
  flags.option("opt-level", &model.opt_level, "0 to 4").range(0, 4).show_default();
}

}  // namespace

void ModelFlags::add(Flags& flags) {
  flags.positional("MODEL", &model, kModelDoc);
  add_build_flags(*this, flags);
}

void ModelFlags::add(Flags& flags, std::vector<std::string>* models) {
  flags.positionals("MODEL", models, kModelDoc);
  add_build_flags(*this, flags);
}

Flag& add_threads(Flags& flags, int* threads) {
  return flags
      .option(
          "threads", threads,
          "threads of the runs; 0: as many as $TVM_NUM_THREADS says, else one per processor, as in Python")
      .show_default()
      .range(0, 256);
}

BuildContext ModelFlags::context() const {
  BuildContext context = host_context();
  context.passes->opt_level = opt_level;
  context.passes->config = config;
  return context;
}

void Progress::show(const std::string& what, int done, int total) {
  if (!io_.terminal) return;
  std::string line = "  " + what + " " + std::to_string(done) + "/" + std::to_string(total);
  const size_t length = line.size();
  line.resize(std::max(length, width_), ' ');
  width_ = length;
  io_.err << '\r' << line << std::flush;
}

void Progress::clear() {
  if (width_) io_.err << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

InterruptScope::InterruptScope() {
  interrupted = false;
  before_ = std::signal(SIGINT, on_interrupt);
}
InterruptScope::~InterruptScope() { std::signal(SIGINT, before_); }
const std::atomic<bool>* InterruptScope::flag() const { return &interrupted; }

BuiltModel build_model(const ModelFlags& flags, Io& io) {
  const InterruptScope interrupt;
  Progress progress(io);
  BuiltModel built;
  built.model = load_model(flags.model);
  built.params = load_params(built.model, flags.params, flags.inputs);
  BuildOptions options;
  options.params = built.params;
  options.context = flags.context();
  options.context.interrupt = interrupt.flag();
  options.context.progress = [&](const std::string& phase, int done, int total) {
    progress.show(phase, done, total);
  };
  built.build = build(built.model.module, options);
  return built;
}

void set_inputs(Executor& executor, const NamedArrays& given) { set_model_inputs(executor, given); }

}  // namespace baton::cli
