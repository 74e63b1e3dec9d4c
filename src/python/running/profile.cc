// Profiling of a build, and its display in notebooks.
#include "baton/profile/report/profile.h"

#include <exception>
#include <set>
#include <sstream>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/profile/compare/compare.h"
#include "baton/profile/report/comparison.h"
#include "baton/profile/report/source_lines.h"
#include "baton/profile/report/target_survey.h"
#include "baton/profile/write/page.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/require.h"
#include "baton/text/html.h"

#include "python/door.h"
#include "python/running/interruptible.h"
#include "python/running/profile_report.h"

namespace baton::python {

namespace {

// Inputs that are not given get reproducible values.
void set_inputs(Executor& executor, const NamedArrays& given) {
  for (const auto& [name, value] : given) require(executor.set_input(std::string_view(name), value));
  for (size_t i = 0; i < executor.num_inputs(); ++i) {
    const std::string& name = executor.input_node(i).name;
    bool is_given = false;
    for (const auto& [each, value] : given) is_given |= each == name;
    if (is_given) continue;
    const PlanEntry& entry = executor.input_entry(i);
    const NDArray value = tensor_value(name, entry.shape, entry.dtype);
    if (!value) throw Error("no memory for input \"" + name + "\"");
    require(executor.set_input(i, value));
  }
}

/// Runs `work` without Python's lock; `watch` sets progress and interrupt of its options. What was measured
/// before an interrupt is given to `keep`.
Report measured(const nb::object& progress, const nb::object& keep, std::string name, const IRModule& module,
                const std::function<void(const std::function<void(ProfileOptions&)>& watch,
                                         ProfileReport& report)>& work) {
  Report result;
  result.module = module;
  result.live = true;
  std::exception_ptr raised;  // by the callback: measuring stops, then it continues to the caller
  std::atomic<bool> stop_now{false};
  interruptible([&](const std::atomic<bool>* stop) {
    const auto watch = [&](ProfileOptions& options) {
      options.progress = [&, stop](const ProfileProgress& now) {
        if (*stop) stop_now = true;
        if (progress.is_none() || stop_now) return;
        const nb::gil_scoped_acquire lock;
        try {
          progress(now.phase, now.done, now.total, now.seconds_left);
        } catch (const nb::python_error&) {
          raised = std::current_exception();
          stop_now = true;
        }
      };
      options.context.interrupt = progress.is_none() ? stop : &stop_now;
    };
    try {
      work(watch, result.report);
    } catch (const Interrupted&) {
      if (!raised) throw;
    }
    if (!*stop) return;
    if (!keep.is_none() && !result.report.kernels.empty()) {
      const nb::gil_scoped_acquire lock;
      keep(result);
    }
    throw Interrupted("measuring was stopped");
  });
  if (raised) std::rethrow_exception(raised);
  result.report.model = std::move(name);
  return result;
}

Report profile(const BuildResult& built, const nb::dict& inputs, int threads, int repeat, double seconds,
               bool inside, double inside_ms, bool unfused, bool peaks, double wait, std::string name,
               double max_seconds, const nb::object& progress, const nb::object& keep) {
  const NamedArrays given = arrays_from_python(inputs);
  if (threads < 0 || repeat < 1 || !(seconds >= 0) || !(inside_ms > 0) || !(wait >= 0) || !(max_seconds > 0))
    throw nb::value_error(
        "profile: threads, repeat, inside_ms and max_seconds are positive, seconds and wait are not "
        "negative");
  return measured(progress, keep, std::move(name), built.source,
                  [&](const std::function<void(ProfileOptions&)>& watch, ProfileReport& report) {
                    const std::unique_ptr<Executor> executor = make_executor(built);
                    executor->set_threads(threads);
                    set_inputs(*executor, given);
                    ProfileOptions options;
                    options.measure.min_runs = repeat;
                    options.measure.min_seconds = seconds;
                    options.inside = inside;
                    options.inside_ms = inside_ms;
                    options.unfused = unfused;
                    options.peaks = peaks;
                    options.wait_s = wait;
                    options.context = door_context();
                    // What is compiled for measuring is for the same processor.
                    set_targets(options.context, built.targets);
                    options.context.passes =
                        std::make_shared<PassContext>();  // a fresh one: the model is already built
                    options.max_seconds = max_seconds;
                    watch(options);
                    report = baton::profile(built, *executor, options);
                    add_source_lines(report, built);
                  });
}

/// Part of the time for measuring that the profile of the whole takes; the rest is for the comparison.
constexpr double kForProfile = 0.3;

Report compare_backends(const IRModule& module, const nb::dict& params,
                        const std::vector<std::string>& backends, const nb::dict& inputs, int threads,
                        int repeat, double seconds, double max_seconds, std::string name,
                        const nb::object& progress, const nb::object& keep) {
  const NamedArrays weights = arrays_from_python(params), given = arrays_from_python(inputs);
  if (threads < 0 || repeat < 1 || !(seconds >= 0) || !(max_seconds > 0))
    throw nb::value_error("compare: threads, repeat and max_seconds are positive, seconds is not negative");
  BuildOptions how;
  how.params = weights;
  how.context = door_context();
  const std::vector<ComparedBackend> compared = compared_backends(backends, how.context);
  return measured(progress, keep, std::move(name), module,
                  [&](const std::function<void(ProfileOptions&)>& watch, ProfileReport& report) {
                    ProfileOptions options;
                    options.measure.min_runs = repeat;
                    options.measure.min_seconds = seconds;
                    options.inside = options.unfused = false;
                    options.context = how.context;
                    options.max_seconds = max_seconds * kForProfile;
                    watch(options);
                    how.context.interrupt = options.context.interrupt;
                    const BuildResult built = build_for(compared.front(), module, how);
                    const std::unique_ptr<Executor> executor = make_executor(built);
                    executor->set_threads(threads);
                    set_inputs(*executor, given);
                    report = baton::profile(built, *executor, options);
                    add_source_lines(report, built);
                    if (!report.partial.empty()) return;
                    CompareOptions compare;
                    compare.build = how;
                    compare.threads = threads;
                    compare.max_seconds = max_seconds * (1 - kForProfile);
                    compare.progress = options.progress;
                    report.comparison = baton::compare(report, module, built, compared, compare);
                    report.opt_level = how.context.passes->opt_level;
                  });
}

std::string table(const Report& self, bool all, int top, const std::string& sort, int width) {
  TableOptions options{all, top, {}, width, false};
  if (!sort.empty()) options.order = table_order(sort);
  std::ostringstream out;
  write_table(out, self.report, options);
  return out.str();
}

/// The page for the output of `baton profile --json`; with two, for their difference.
std::string page_of(const std::string& report, const std::optional<std::string>& after) {
  const ProfileReport first = read_report(report, "the profile");
  return after ? page(first, read_report(*after, "the second profile")) : page(first);
}

}  // namespace

void bind_profile(nb::module_& m) {
  nb::class_<Report> report(m, "ProfileReport", nb::dynamic_attr(),
                            "Times of a model's kernels and operators, in microseconds.");
  bind_profile_files(m, report);
  report
      .def_prop_ro(
          "end_to_end_us", [](const Report& r) { return r.report.end_to_end_us; }, "median of whole runs")
      .def_prop_ro(
          "unfused_us", [](const Report& r) { return r.report.unfused_us; },
          "median of whole runs without fusion; 0: not measured")
      .def_prop_ro(
          "overhead", [](const Report& r) { return r.report.overhead(); },
          "median with a clock around every kernel / without")
      .def_prop_ro(
          "residual_us", [](const Report& r) { return r.report.residual_us(); }, "end_to_end_us - sum_us")
      .def_prop_ro(
          "cv", [](const Report& r) { return r.report.cv; }, "standard deviation over mean of whole runs")
      .def_prop_ro(
          "notes", [](const Report& r) { return r.report.notes; }, "What a reader must know of these times.")
      .def_prop_ro(
          "sum_us", [](const Report& r) { return r.report.sum_us; }, "sum of the kernels' medians")
      .def(
          "json", [](const Report& r) { return to_json(r.report).dump(); },
          "All of it: docs/design/0005-profile-json.md.")
      .def("table", &table, nb::arg("all") = false, nb::arg("top") = TableOptions().top, nb::arg("sort") = "",
           nb::arg("width") = TableOptions().width,
           "What str() gives. `all`: every kernel with its operators, and every operator; `top`: kernels "
           "shown, "
           "0: all; `sort`: \"time\", \"node\", \"roof\" or \"cv\"; `width`: columns.")
      .def_prop_ro(
          "threads", [](const Report& r) { return r.report.threads; }, "of the runs that were measured")
      .def_prop_ro(
          "machine", [](const Report& r) { return r.report.machine; }, "the processor's name")
      .def(
          "page", [](const Report& r) { return page(r.report); },
          "One HTML file with everything: graph, tables, roofline, treemap.")
      .def(
          "_files",
          [](const Report& r) {
            std::set<std::string> files;
            for (const OperatorRow& row : r.report.operators)
              if (!row.file.empty()) files.insert(row.file);
            return std::vector<std::string>(files.begin(), files.end());
          },
          "The programs that operators have lines of, other than Relay text.")
      .def(
          "_add_source",
          [](Report& r, std::string file, std::string text) {
            r.report.sources.push_back({std::move(file), std::move(text)});
          },
          nb::arg("file"), nb::arg("text"))
      .def("__str__",
           [](const Report& r) { return table(r, false, TableOptions().top, "", TableOptions().width); })
      .def("__repr__",
           [](const Report& r) { return table(r, false, TableOptions().top, "", TableOptions().width); })
      .def(
          "_wrong",
          [](const Report& r) {
            return r.report.comparison ? r.report.comparison->wrong() : std::vector<std::string>();
          },
          "Sentences about results that differ between backends.")
      .def("_repr_html_", [](const Report& r) { return html(r.report); });
  m.def("profile", &profile, nb::arg("built"), nb::arg("inputs"), nb::arg("threads"), nb::arg("repeat"),
        nb::arg("seconds"), nb::arg("inside"), nb::arg("inside_ms"), nb::arg("unfused"), nb::arg("peaks"),
        nb::arg("wait"), nb::arg("name"), nb::arg("max_seconds") = 60.0, nb::arg("progress") = nb::none(),
        nb::arg("keep") = nb::none());
  m.def(
      "survey_targets",
      [](const std::vector<std::string>& targets, bool quick, bool again, int threads) {
        read_environment();
        initialize();
        BuildContext context = host_context();
        std::vector<TargetRef> parsed;
        for (const std::string& target : targets) parsed.push_back(Target::parse(target));
        set_targets(context, std::move(parsed));
        SurveyOptions options;
        options.measure = !quick;
        options.again = again;
        options.threads = threads > 0 ? threads : default_threads();
        return interruptible([&](const std::atomic<bool>* stop) {
          options.interrupt = stop;
          return survey_targets(context, KernelCache::shared(), options).dump();
        });
      },
      nb::arg("targets"), nb::arg("quick"), nb::arg("again"), nb::arg("threads"),
      "What this machine can run, as JSON.");
  m.def("compare_backends", &compare_backends, nb::arg("module"), nb::arg("params"), nb::arg("backends"),
        nb::arg("inputs"), nb::arg("threads"), nb::arg("repeat"), nb::arg("seconds"), nb::arg("max_seconds"),
        nb::arg("name"), nb::arg("progress") = nb::none(), nb::arg("keep") = nb::none());
  m.def("profile_page", &page_of, nb::arg("report"), nb::arg("after") = nb::none());
  m.def("html", [](const IRModule& module) { return html(*module); }, nb::arg("node"));
  m.def("html", [](const Expr& expr) { return html(expr); }, nb::arg("node"));
}

}  // namespace baton::python
