// Compares a model under two builds: two saved profiles, or a model built and measured both ways in
// alternation.
#include "baton/profile/report/diff.h"

#include <sstream>

#include "baton/cli/command_line.h"
#include "baton/cli/common.h"
#include "baton/cli/outputs.h"
#include "baton/driver/vm/build_program.h"
#include "baton/profile/inside/inside.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/another_executor.h"
#include "baton/profile/report/report.h"
#include "baton/profile/write/page.h"
#include "baton/profile/write/views_table.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

// Rounds of both sides in turn, each in memory of its own; the least and the most time for them.
constexpr int kRounds = 10;
constexpr double kSeconds = 2, kMostSeconds = 60;
constexpr double kSteadyCv = 0.03;

std::string percent(double share) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

/// The build and run options of one side: all that `baton profile` takes.
struct Side {
  std::string text;
  ModelFlags build;
  int threads = default_threads();

  void parse(const char* name) {
    Flags flags;
    build.add_build(flags);
    flags.option("threads", &threads, "").range(1, 256);
    const ParsedText parsed = parse_text(flags, text);
    std::vector<std::string> known;
    for (const Flag& flag : flags.all()) known.push_back("--" + flag.name);
    const std::string wrong = parsed.rest.empty() ? parsed.error : unknown(parsed.rest.front(), known);
    if (wrong.empty()) return;
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    throw UsageError("--" + std::string(name) + " \"" + text + "\": " + wrong + "\n  a side takes " + all);
  }
  static std::string unknown(const std::string& word, const std::vector<std::string>& known) {
    const std::string near = did_you_mean(word, known);
    return "what is `" + word + "`" + (near.empty() ? "?" : "? Did you mean `" + near + "`?");
  }
  /// As it was given, with the level and the threads that it has by default.
  std::string label() const {
    std::string label = text;
    const auto add = [&](const std::string& option, int value) {
      if (text.find(option) == std::string::npos)
        label += (label.empty() ? "" : " ") + option + " " + std::to_string(value);
    };
    add("--opt-level", build.opt_level);
    add("--threads", threads);
    return label;
  }
};

/// A side being measured.
struct Running {
  BuiltModel built;
  std::unique_ptr<Executor> executor;
  FusedTimes times;

  MeasuredModel model() {
    return {executor.get(), [this] { return another_executor(built.build, *executor); }};
  }
};

struct Compare {
  ProfileReport a, b;
  std::string a_label, b_label;
  bool paired = false;
};

class DiffVerb final : public Verb {
 public:
  DiffVerb() : Verb("diff", "Compare a model's times under two builds, operator by operator.") {}

  void flags(Flags& flags) override {
    flags.positional("A", &first_, "a saved profile (.json), or MODEL with --a and --b");
    flags.positional("B", &second_, "the other saved profile").required(false);
    flags.option(
        "a", &a_.text,
        "of MODEL: how A is built and run: \"--opt-level 3 --precision bf16 --threads 2\", and the other "
        "options that `baton profile` builds with (--target, --mapping, --untuned, ...)");
    flags.option("b", &b_.text, "of MODEL: how B is built and run");
    flags_.add_model(flags);
    flags.option("repeat", &repeat_, "of MODEL: runs of each kind and side, at least")
        .show_default()
        .range(6, 1000000);
    flags.option("inside-ms", &inside_ms_, "of MODEL: time to measure the inside of one kernel")
        .show_default()
        .range(1.0, 1e6);
    flags.flag("no-inside", &no_inside_,
               "of MODEL: kernels only, operators that share one have equal portions");
    add_wait(flags, &wait_);
    flags.option("by", &by_, "the rows of the table: kernels with their operators (default), or modules")
        .choices({"module"});
    files_.add(flags, kinds());
    flags.flag("json", &json_, "one JSON object on standard output (docs/design/0010)");
  }

  int run(Io& io) override {
    const bool saved = !second_.empty();
    if (saved && (!a_.text.empty() || !b_.text.empty()))
      throw UsageError("--a and --b say how one MODEL is built; two saved profiles are built already");
    if (!saved && first_.ends_with(".json"))
      throw UsageError("`" + first_ + "` is one profile; a second one is needed to compare it with");
    if (!saved && (a_.text.empty() || b_.text.empty()))
      throw UsageError("what is `" + first_ +
                       "` compared with? Give a second profile, or --a and --b: two ways to build it");
    if (json_) refuse_options(io, {"by"}, "--json prints no table");
    files_.check();
    const Compare both =
        saved ? Compare{load_report(first_), load_report(second_), first_, second_, false} : measured(io);
    const ProfileDiff difference = diff(both.a, both.b, both.a_label, both.b_label, both.paired);
    if (json_)
      io.out << to_json(difference, both.a, both.b).dump() << '\n';
    else if (by_ == "module")
      write_by_module(io.out, both.a, both.b, io.columns);
    else
      write_table(io.out, difference, both.a, both.b);
    io.out << std::flush;
    files_.write(io, [&](const WantedFile& file) { return bytes(file, difference, both); });
    return 0;
  }

 private:
  static std::vector<FileKind> kinds() {
    return {{".json", "the difference (docs/design/0010)", {""}},
            {".html", "one page: both builds, and what differs", {""}},
            {".txt", "the table of the terminal", {""}}};
  }

  static std::string bytes(const WantedFile& file, const ProfileDiff& difference, const Compare& both) {
    if (file.suffix == ".json") return to_json(difference, both.a, both.b).dump() + "\n";
    if (file.suffix == ".html") return page(both.a, both.b, difference);
    std::ostringstream out;
    write_table(out, difference, both.a, both.b);
    return out.str();
  }

  Compare measured(Io& io) {
    a_.parse("a");
    b_.parse("b");
    Running a = start(a_, io), b = start(b_, io);
    wait_for_quiet(wait_, io);
    const InterruptScope interrupt;
    Progress progress(io);
    MeasureOptions options;
    options.waited = wait_ > 0;
    options.min_runs = repeat_;
    options.rounds = kRounds;
    options.min_seconds = kSeconds;
    options.max_seconds = kMostSeconds;
    options.interrupt = interrupt.flag();
    options.progress = [&](double done) {
      progress.show("measuring both in turn", static_cast<int>(done * kRounds), kRounds);
    };
    // Rounds alternate, and so does their order: both sides see the same clock drift.
    const MeasuredModel models[] = {a.model(), b.model()};
    std::vector<FusedTimes> times = measure_in_turns(models, options);
    a.times = std::move(times[0]);
    b.times = std::move(times[1]);
    if (*interrupt.flag()) throw Interrupted("interrupted while measuring; nothing was written");
    Compare both{report(a, a_, progress), report(b, b_, progress), a_.label(), b_.label(), true};
    progress.clear();
    return both;
  }

  Running start(const Side& side, Io& io) const {
    ModelFlags flags = side.build;
    flags.model = first_;
    flags.params = flags_.params;
    flags.shapes = flags_.shapes;
    flags.inputs = flags_.inputs;
    const auto build_it = [](const IRModule& module, const BuildOptions& options) {
      return for_plans(module, "two builds are measured in turn", [&] { return build(module, options); });
    };
    Running running{build_model(flags, io, nullptr, build_it, /*programs=*/true), nullptr, {}};
    running.executor = make_executor(running.built.build);
    running.executor->set_threads(side.threads);
    set_inputs(*running.executor, {});
    return running;
  }

  ProfileReport report(Running& side, const Side& how, Progress& progress) const {
    std::map<std::string, InsideTimes> inside;
    if (!no_inside_) {
      const InterruptScope interrupt;
      InsideOptions options(how.build.context());
      options.ms_per_kernel = inside_ms_;
      options.threads = how.threads;
      options.another = side.model().another;
      options.compile.interrupt = interrupt.flag();
      options.progress = [&](int done, int total) { progress.show("measuring inside kernels", done, total); };
      inside = measure_inside(side.built.build, *side.executor, options);
    }
    ProfileReport report = make_report(side.built.build, side.executor->plan(), side.times, inside);
    if (report.cv > kSteadyCv)
      report.notes.push_back("whole runs vary by " + percent(report.cv) +
                             ": a quieter machine finds smaller differences");
    static_cast<ReportHead&>(report) = report_head(side.built.model, how.build.opt_level);
    report.threads = how.threads;
    return report;
  }

  std::string first_, second_, by_;
  Side a_, b_;
  ModelFlags flags_;
  int repeat_ = 30;
  double inside_ms_ = 100, wait_ = 0;
  bool no_inside_ = false, json_ = false;
  OutputFiles files_;
};

}  // namespace

std::unique_ptr<Verb> diff_verb() { return std::make_unique<DiffVerb>(); }

}  // namespace baton::cli
