// Records samples of a small network, for the tests of what is made of samples (tests/unit/clock/recorded):
//   ninja record_samples; record_samples quiet.txt; (while :; do :; done) & record_samples busy.txt 2
// The arguments: the file to write, and the number of threads. To record a shared core, pin a busy loop and
// this program to the same processor (taskset).
#include <cstdio>
#include <fstream>

#include "baton/clock/program_clock.h"
#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/require.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

constexpr int kRounds = 8, kSamples = 16;
constexpr double kApartS = 0.022;  // of recorded samples: a round lasts longer than a window
constexpr double kWindowS = 0.3;   // between readings of the system's counters
constexpr const char* kNet = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(16, 512), float32], %w: Tensor[(512, 512), float32], %v: Tensor[(512, 512), float32]) {
  nn.softmax(nn.dense(nn.relu(nn.dense(%x, %w, units=512)), %v, units=512))
}
)";

class Recorder {
 public:
  Recorder(const std::string& path, int threads) : out_(path) {
    initialize();
    BuildOptions options{.context = host_context()};
    built_ = build(infer_types(parse_module(kNet, "recorded.relay")), options);
    executor_ = make_executor(built_);
    executor_->set_threads(threads);
    for (size_t i = 0; i < executor_->num_inputs(); ++i) {
      const PlanEntry& entry = executor_->input_entry(i);
      require(executor_->set_input(i, tensor_value("x", entry.shape, entry.dtype)));
    }
    program_.emplace(clock_, *executor_);
  }

  void run() {
    for (int round = 0; round < kRounds; ++round) {
      out_ << "round\n";
      require(executor_->run());
      reading();
      for (int i = 0; i < kSamples; ++i) {
        for (const int64_t begin = monotonic_ns(); seconds_since(begin) < kApartS;) require(executor_->run());
        sample();
        if (seconds_since(read_ns_) >= kWindowS) reading();
      }
      reading();
    }
  }

 private:
  /// "reading AT_S ALL_S OWN_S STEAL_S THROTTLED_S PROCESSORS"
  void reading() {
    const SystemReading now = read_system();
    read_ns_ = monotonic_ns();
    const CpuUse use = now.cpu.value_or(CpuUse{});
    char line[160];
    std::snprintf(line, sizeof line, "reading %.6f %.2f %.6f %.2f %.6f %d\n", use.at_s, use.all_s, use.own_s,
                  use.steal_s, now.throttled_s, use.processors);
    out_ << line;
  }

  /// "sample SLOW CORE_NS", then for the whole run and each kernel " US HELD COMPUTED_US"
  void sample() {
    const std::optional<Sample> whole = program_->run();
    const std::optional<ProfiledSample> profiled = program_->profiled_run();
    if (!whole || !profiled) return;
    char text[100];
    std::snprintf(text, sizeof text, "sample %d %.0f", whole->slow || profiled->whole.slow,
                  profiled->whole.core_ns);
    out_ << text;
    const auto add = [&](const Sample& sample) {
      std::snprintf(text, sizeof text, " %.3f %d %.3f", sample.us, sample.held, sample.computed_us);
      out_ << text;
    };
    add(*whole);
    for (const Sample& kernel : profiled->kernels) add(kernel);
    out_ << "\n";
  }

  std::ofstream out_;
  BuildResult built_;
  std::unique_ptr<Executor> executor_;
  SampleClock clock_{{.core = look_at_core}};
  std::optional<ProgramClock> program_;
  int64_t read_ns_ = 0;
};

}  // namespace
}  // namespace baton

int main(int count, char** args) {
  if (count < 2) return std::fprintf(stderr, "usage: record_samples FILE [THREADS]\n"), 2;
  try {
    baton::Recorder(args[1], count > 2 ? std::atoi(args[2]) : 1).run();
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
