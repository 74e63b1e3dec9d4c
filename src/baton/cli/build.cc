#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"

namespace baton::cli {

namespace {

/// The kernel that took longest to compile; null when all are from the cache.
nlohmann::ordered_json slowest_kernel(const std::vector<BuiltKernel>& kernels) {
  const auto slowest =
      std::ranges::max_element(kernels, {}, [](const BuiltKernel& each) { return each.kernel->compile_s; });
  if (slowest == kernels.end() || slowest->kernel->compile_s == 0) return nullptr;
  return {{"func_name", slowest->func_name},
          {"template", slowest->kernel->template_name},
          {"seconds", slowest->kernel->compile_s}};
}

class BuildVerb final : public Verb {
 public:
  BuildVerb() : Verb("build", "Compile a model into one file that runs without the compiler.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    debug_.add(flags);
    flags.option("o,output", &output_, "the artifact (default: MODEL.baton)");
    flags.flag("strip-origins", &strip_, "leave out which operators of the source its kernels compute");
    flags.flag("json", &json_, "the result as JSON on standard output");
  }

  int run(Io& io) override {
    apply(debug_, flags_);
    const BuiltModel built = build_model(flags_, io);
    const std::string path =
        output_.empty() ? std::filesystem::path(flags_.model).stem().string() + ".baton" : output_;
    write_artifact(built.build, path, !strip_);
    const BuildTimes& times = built.build.times;
    if (json_) {
      io.out << nlohmann::ordered_json{{"schema", 1},
                                       {"artifact", path},
                                       {"bytes", std::filesystem::file_size(path)},
                                       {"kernels", built.build.kernels.size()},
                                       {"optimize_s", times.optimize_s},
                                       {"kernels_s", times.kernels_s},
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
    return 0;
  }

 private:
  ModelFlags flags_;
  DebugFlags debug_;
  std::string output_;
  bool json_ = false, strip_ = false;
};

}  // namespace

std::unique_ptr<Verb> build_verb() { return std::make_unique<BuildVerb>(); }

}  // namespace baton::cli
