#include "baton/cli/common.h"

#include <algorithm>
#include <csignal>
#include <set>

#include "baton/clock/quiet.h"
#include "baton/codegen/own_backend.h"
#include "baton/driver/case_file.h"
#include "baton/driver/initialize.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/driver/vm/build_program.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/target/processor_sheet.h"

namespace baton::cli {

namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> signal_seen{0};
constexpr int64_t kLineNs = 10'000'000'000;

void on_interrupt(int signal) {
  interrupted = true;
  signal_seen = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

namespace {

constexpr const char* kModelDoc =
    "workload name (baton models lists them), file (ONNX, Relay text, TVM's JSON), or - for Relay text on "
    "standard input";

void add_level(ModelFlags& model, Flags& flags) {
  flags.option("opt-level", &model.opt_level, "0 to 4").range(0, 4).show_default();
  flags
      .option("precision", &model.precision,
              "f32; strict: no Winograd, each operation rounded by itself (slower); or bf16: weights of "
              "layers that are bound by reading them are stored as bfloat16 (less accurate)")
      .choices({"f32", "strict", "bf16"});
}

}  // namespace

void ModelFlags::add_model(Flags& flags) {
  flags.option("params", &params, "weights from an .npz; the rest by the tensor rule (docs/guide.md)");
  flags.option(
      "shape", &shapes,
      "x=1,3,224,224: the shape of a parameter of main; n=4: the value of a variable of its extents");
  flags.option("input-name", &inputs, "a parameter of main that is an input (default: data, else the first)");
}

void ModelFlags::add_build(Flags& flags) {
  add_level(*this, flags);
  add_target(flags);
  add_choices(flags);
}

void ModelFlags::add(Flags& flags) {
  flags.positional("MODEL", &model, kModelDoc);
  add_model(flags);
  add_level(*this, flags);
}

void ModelFlags::add(Flags& flags, std::vector<std::string>* models) {
  flags.positionals("MODEL", models, kModelDoc);
  add_model(flags);
  add_level(*this, flags);
}

void wait_for_quiet(double seconds, Io& io) {
  if (seconds <= 0) return;
  const InterruptScope interrupt;
  Progress progress(io);
  WaitOptions wait;
  wait.limit_s = seconds;
  wait.interrupt = interrupt.flag();
  wait.progress = [&](double, double waited) {
    progress.show("waiting for other programs, second", static_cast<int>(waited), static_cast<int>(seconds));
  };
  const WaitResult waited = wait_until_quiet(wait);
  progress.clear();
  if (waited.interrupted) throw Interrupted("interrupted while waiting for a quiet machine");
  if (!waited.note.empty()) io.err << "note: " << waited.note << '\n';
}

void ModelFlags::add_no_verify(Flags& flags) {
  flags.flag("no-verify", &no_verify,
             "do not compare an artifact's constants with their checksum: large ones start sooner");
}

void ModelFlags::add_target(Flags& flags) {
  flags.option(
      "target", &targets,
      "what to build for: llvm, the processor (default), also another one (\"llvm -mcpu=x86-64-v3\", \"llvm "
      "-mtriple=aarch64-linux-gnu\"), opencl, cuda (\"cuda -arch=sm_80\"), or \"sim -sheet=NAME\", a "
      "simulated "
      "device (baton targets lists what is there)");
  flags.files("backend", &own_backends, "a backend of your own: a shared library (docs/guide.md)");
  flags.flag(
      "strict", &strict,
      "a region that its backend refuses is an error (default: a warning, and the rest of the program's "
      "backend compiles it)");
}

void ModelFlags::add_choices(Flags& flags) {
  flags.option("mapping", &mapping, "divide the model between backends as this file of `baton map` says");
  flags.flag("untuned", &untuned, "default schedules, whatever `baton tune` or a shipped table found");
  flags.option("specialize", &specialize,
               "n=1,128: also kernels for these values of a variable of the extents of a program");
  flags.option(
      "most", &most,
      "n=512: the most that a variable of the extents of a program is; memory for it is taken once, and "
      "more is an error");
}

namespace {

void load_own(const std::vector<std::string>& paths) {
  if (!paths.empty()) initialize();
  for (const std::string& path : paths) load_backend(path);
}

}  // namespace

void refuse_options(const Io& io, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (io.given.count(name)) throw UsageError("--" + std::string(name) + " has no effect: " + why);
}

void refuse_build_options(const Io& io, const std::string& why, bool shapes) {
  if (shapes) refuse_options(io, {"shape"}, why);
  refuse_options(io,
                 {"params", "input-name", "opt-level", "precision", "target", "strict", "debug-lines",
                  "mapping", "specialize", "most", "untuned"},
                 why);
}

std::unique_ptr<Model> ModelFlags::open_artifact(const Io& io) const {
  refuse_build_options(io,
                       model + " is an artifact, which `baton build` made; build the model again with it");
  load_own(own_backends);
  return require(Model::load(model, !no_verify));
}

BuildContext ModelFlags::context() const {
  load_own(own_backends);
  BuildContext context = host_context();
  std::vector<TargetRef> parsed;
  for (const std::string& target : targets) {
    parsed.push_back(Target::parse(target));
    require_known_processor(*parsed.back());
  }
  set_targets(context, std::move(parsed));
  context.passes->opt_level = opt_level;
  context.passes->config = config;
  if (strict) context.passes->config.set("baton.strict_regions", AttrValue(true));
  if (untuned) context.passes->config.set("baton.tuned", AttrValue(int64_t{0}));
  const auto set_extents = [&](const char* key, const std::vector<std::string>& given) {
    std::string extents;
    for (const std::string& each : given) extents += (extents.empty() ? "" : ";") + each;
    if (!extents.empty()) context.passes->config.set(key, AttrValue(extents));
  };
  set_extents("baton.specialize", specialize);
  set_extents("baton.most", most);
  if (!precision.empty()) context.passes->config.set("baton.precision", AttrValue(precision));
  return context;
}

Progress::Progress(Io& io) : io_(io), last_line_ns_(monotonic_ns()) {}

void Progress::show(const std::string& what, int done, int total, std::optional<double> seconds_left) {
  std::string line = "  " + what + " " + std::to_string(done) + "/" + std::to_string(total);
  if (seconds_left) line += ", about " + std::to_string(static_cast<int>(*seconds_left + 0.5)) + " s left";
  if (!io_.terminal) {
    if (monotonic_ns() - last_line_ns_ < kLineNs) return;
    last_line_ns_ = monotonic_ns();
    io_.err << line << std::endl;
    return;
  }
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
  signal_seen = 0;
  before_ = std::signal(SIGINT, on_interrupt);
  before_term_ = std::signal(SIGTERM, on_interrupt);
}
InterruptScope::~InterruptScope() {
  std::signal(SIGINT, before_);
  std::signal(SIGTERM, before_term_);
}
int InterruptScope::exit_status() { return signal_seen ? 128 + signal_seen : 0; }
const std::atomic<bool>* InterruptScope::flag() const { return &interrupted; }

/// What a file lacks is a mistake more often than not.
void note_missing(const std::string& path, const std::vector<std::string>& names, Io& io) {
  if (names.empty()) return;
  constexpr size_t kShown = 3;
  io.err << "note: " << path << " has no value for ";
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) io.err << (i ? ", " : "") << '%' << names[i];
  if (names.size() > kShown) io.err << " and " << names.size() - kShown << " more";
  io.err << ": filled in by the tensor rule (docs/guide.md)\n";
}

/// The program, divided as the file says; its weights become constants.
IRModule mapped(const ModelFlags& flags, const BuiltModel& built, const BuildContext& context, Io& io) {
  initialize();
  const Mapping mapping = load_mapping(flags.mapping);
  check_mapping(mapping, built.model.module, flags.mapping);
  for (const std::string& note : mapping_notes(mapping, context)) io.err << "note: " << note << '\n';
  return apply_mapping(bind_params(built.model.module, built.params), mapping, context);
}

BuiltModel build_model(const ModelFlags& flags, Io& io, std::shared_ptr<PassInstrument> instrument,
                       const std::function<BuildResult(const IRModule&, const BuildOptions&)>& how,
                       bool programs) {
  const InterruptScope interrupt;
  Progress progress(io);
  BuiltModel built;
  built.model = load_model(flags.model, flags.shapes);
  for (const std::string& note : built.model.notes) io.err << "note: " << note << '\n';
  std::vector<std::string> by_rule;
  built.params = load_params(built.model, flags.params, flags.inputs, &by_rule,
                             programs && !is_plan(built.model.module));
  if (!flags.params.empty()) note_missing(flags.params, by_rule, io);
  BuildOptions options;
  options.params = built.params;
  options.context = flags.context();
  if (instrument) options.context.passes->instruments.push_back(std::move(instrument));
  options.context.interrupt = interrupt.flag();
  options.context.progress = [&](const std::string& phase, int done, int total) {
    progress.show(phase, done, total);
  };
  IRModule module = built.model.module;
  if (!flags.mapping.empty()) {
    module = mapped(flags, built, options.context, io);
    options.params.clear();
  }
  built.build = how(module, options);
  return built;
}

namespace {

bool has(const NamedArrays& arrays, const std::string& name) {
  return std::ranges::any_of(arrays, [&](const auto& each) { return each.first == name; });
}

std::vector<std::string> input_names(const Executor& executor) {
  std::vector<std::string> names;
  for (size_t i = 0; i < executor.num_inputs(); ++i) names.push_back(executor.input_node(i).name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "%" : ", %") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

GivenInputs read_given_inputs(const std::string& path) {
  return {path, path.empty() ? NamedArrays() : read_inputs_file(path)};
}

void set_inputs(Executor& executor, const GivenInputs& given, Io& io, const NamedArrays& weights) {
  const std::vector<std::string> names = input_names(executor);
  std::set<std::string> seen;
  for (const auto& [name, value] : given.arrays) {
    const std::string array = given.path + ": array \"" + name + "\" ";
    if (!seen.insert(name).second) throw Error(array + "is there twice");
    if (has(weights, name))
      throw Error(array +
                  "is a weight of the model: give it by --params, or make it an input by --input-name " +
                  name + " (the inputs are " + listed(names) + ")");
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      throw Error(array + "is no input of the model (the inputs are " + listed(names) + ")");
    const PlanEntry& entry = executor.input_entry(static_cast<size_t>(at - names.begin()));
    if (value.dtype() != entry.dtype || value.shape() != entry.shape)
      throw Error(array + "is " + describe(value.shape(), value.dtype()) + ", the input %" + name + " is " +
                  describe(entry.shape, entry.dtype));
  }
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!has(given.arrays, name)) missing.push_back(name);
  if (!given.path.empty()) note_missing(given.path, missing, io);
  set_model_inputs(executor, given.arrays);
}

void set_inputs(Executor& executor, const NamedArrays& given) { set_model_inputs(executor, given); }

}  // namespace baton::cli
