#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/driver/vm/build_program.h"
#include "baton/pass/timing.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

/// The kernel that took longest to compile; null when all are from the cache.
Json slowest_kernel(const std::vector<BuiltKernel>& kernels) {
  const auto slowest =
      std::ranges::max_element(kernels, {}, [](const BuiltKernel& each) { return each.kernel->compile_s; });
  if (slowest == kernels.end() || slowest->kernel->compile_s == 0) return nullptr;
  return {{"func_name", slowest->func_name},
          {"template", slowest->kernel->template_name},
          {"seconds", slowest->kernel->compile_s}};
}

/// Seconds of all threads for the kernels that were compiled.
struct KernelTimes {
  int compiled = 0;
  double choose_s = 0, lower_s = 0, llvm_s = 0;
};

KernelTimes kernel_times(const std::vector<BuiltKernel>& kernels) {
  KernelTimes times;
  std::unordered_set<const Kernel*> seen;  // equal functions share a kernel
  for (const BuiltKernel& each : kernels) {
    const Kernel& kernel = *each.kernel;
    if (kernel.compile_s == 0 || !seen.insert(&kernel).second) continue;
    ++times.compiled;
    times.choose_s += kernel.choose_s;
    times.lower_s += kernel.lower_s;
    times.llvm_s += kernel.compile_s - kernel.choose_s - kernel.lower_s;
  }
  return times;
}

/// What `--timing` adds: the passes as a tree, and what kernels took.
std::string timing_text(const BuildResult& build, const std::string& passes) {
  const KernelTimes kernels = kernel_times(build.kernels);
  char text[500];
  std::snprintf(text, sizeof text,
                "kernels: %zu, %d of them compiled; seconds of all threads:\n"
                "  %.3f looking for schedules that were tuned\n"
                "  %.3f choosing templates and parameters\n"
                "  %.3f lowering (Halide)\n"
                "  %.3f code (LLVM)\n",
                build.kernels.size(), kernels.compiled, build.times.choose_s, kernels.choose_s,
                kernels.lower_s, kernels.llvm_s);
  std::string all = passes + text;
  if (const auto slowest = slowest_kernel(build.kernels); !slowest.is_null()) {
    std::snprintf(text, sizeof text, "  %.3f of it the slowest: ", slowest["seconds"].get<double>());
    all += text + slowest["func_name"].get<std::string>() + " (" + slowest["template"].get<std::string>() +
           ")\n";
  }
  return all;
}

class BuildVerb final : public Verb {
 public:
  BuildVerb() : Verb("build", "Compile a model into one file that runs without the compiler.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    flags_.add_choices(flags);
    debug_.add(flags);
    flags.option("o,output", &output_, "the artifact (default: MODEL.baton)");
    flags.flag("strip-origins", &strip_, "leave out which operators of the source its kernels compute");
    flags.flag("timing", &timing_,
               "also how long each pass took, and what choosing and compiling kernels took");
    flags.flag("json", &json_, "the result as JSON on standard output");
  }

  int run(Io& io) override {
    apply(debug_, flags_);
    const auto timer = timing_ ? std::make_shared<PassTimingInstrument>() : nullptr;
    const BuiltModel built = build_model(flags_, io, timer, build_plan_or_program, /*programs=*/true);
    const std::string path =
        output_.empty() ? std::filesystem::path(flags_.model).stem().string() + ".baton" : output_;
    write_artifact(built.build, path, !strip_);
    const BuildTimes& times = built.build.times;
    if (json_) {
      const KernelTimes kernels = kernel_times(built.build.kernels);
      io.out << Json{{"schema", 1},
                     {"artifact", path},
                     {"bytes", std::filesystem::file_size(path)},
                     {"kernels", built.build.kernels.size()},
                     {"optimize_s", times.optimize_s},
                     {"kernels_s", times.kernels_s},
                     {"threads_s",
                      {{"tuned", times.choose_s},
                       {"choose", kernels.choose_s},
                       {"lower", kernels.lower_s},
                       {"llvm", kernels.llvm_s}}},
                     {"link_s", times.link_s},
                     {"total_s", times.total_s},
                     {"slowest_kernel", slowest_kernel(built.build.kernels)}}
                    .dump()
             << '\n';
    } else {
      char line[200];
      std::snprintf(line, sizeof line, "%zu kernels in %.2f s (passes %.2f, kernels %.2f, link %.2f)",
                    built.build.kernels.size(), times.total_s, times.optimize_s, times.kernels_s,
                    times.link_s);
      io.out << path << ": " << line << '\n';
    }
    if (timer) (json_ ? io.err : io.out) << timing_text(built.build, timer->render());
    return 0;
  }

 private:
  ModelFlags flags_;
  DebugFlags debug_;
  std::string output_;
  bool json_ = false, strip_ = false, timing_ = false;
};

}  // namespace

std::unique_ptr<Verb> build_verb() { return std::make_unique<BuildVerb>(); }

}  // namespace baton::cli
