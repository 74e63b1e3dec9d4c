// Profiling of a build, and its display in notebooks.
#include <set>
#include <sstream>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/profile/compare/compare.h"
#include "baton/profile/report/comparison.h"
#include "baton/profile/report/source_lines.h"
#include "baton/profile/report/target_survey.h"
#include "baton/profile/views/source_times.h"
#include "baton/profile/write/page.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/html.h"

#include "python/door.h"
#include "python/keywords.h"
#include "python/running/profile_report.h"
#include "python/running/progress_call.h"

namespace baton::python {

namespace {

/// The options that only Python has are added to those of the command line.
void add_seconds(Flags& flags, ProfileCommand& command) {
  flags.option("seconds", &command.options.measure.min_seconds, "duration of the runs of each kind, at least")
      .range(0, 1e6);
}
struct ProfileArguments : ProfileCommand {
  void add(Flags& flags) {
    ProfileCommand::add(flags);
    add_seconds(flags, *this);
  }
};
struct CompareArguments : ProfileCommand {
  void add(Flags& flags) {
    add_measuring(flags);
    add_seconds(flags, *this);
  }
};

/// Runs `work` without Python's lock, with progress and interrupt set in `options`. What was measured before
/// an interrupt is given to `keep`.
Report measured(ProfileOptions& options, const nb::object& progress, const nb::object& keep, std::string name,
                const IRModule& module, const std::function<ProfileReport()>& work) {
  Report result;
  result.module = module;
  result.live = true;
  interruptible([&](const std::atomic<bool>* stop) {
    ProgressCall call(progress, stop);
    options.progress = [&](const ProfileProgress& now) {
      call(now.phase, now.done, now.total, now.seconds_left);
    };
    options.context.interrupt = call.flag();
    try {
      result.report = work();
    } catch (const Interrupted&) {
      call.finish();
      throw;
    }
    if (*stop) {
      const nb::gil_scoped_acquire lock;
      if (!keep.is_none() && !result.report.kernels.empty()) keep(result);
      throw Interrupted("measuring was stopped");
    }
    call.finish();
  });
  result.report.model = std::move(name);
  return result;
}

Report profile(const nb::dict& options, const BuildResult& built, const nb::dict& inputs, std::string name,
               const nb::object& progress, const nb::object& keep) {
  Called<ProfileArguments> command("profile", options);
  const NamedArrays given = arrays_from_python(inputs);
  command.options.context = door_context();
  // What is compiled for measuring is for the same processor, by a fresh context: the model is already built.
  set_targets(command.options.context, built.targets);
  command.options.context.passes = std::make_shared<PassContext>();
  return measured(command.options, progress, keep, std::move(name), built.source, [&] {
    ProfileReport report = run_profile(built, command, given);
    add_source_lines(report, built);
    add_source_files(report);
    return report;
  });
}

Report compare_backends(const nb::dict& options, const IRModule& module, const nb::dict& params,
                        const std::vector<std::string>& backends, const nb::dict& inputs, std::string name,
                        const nb::object& progress, const nb::object& keep) {
  Called<CompareArguments> command("compare", options);
  const NamedArrays given = arrays_from_python(inputs);
  BuildOptions how{.params = arrays_from_python(params), .context = door_context()};
  const std::vector<ComparedBackend> compared = compared_backends(backends, how.context);
  command.options.context = how.context;
  return measured(command.options, progress, keep, std::move(name), module, [&] {
    how.context.interrupt = command.options.context.interrupt;
    const BuildResult built = build_for(compared.front(), module, how);
    ProfileReport report = run_compare(module, built, compared, command, how, given);
    add_source_lines(report, built);
    report.opt_level = how.context.passes->opt_level;
    return report;
  });
}

std::string table(const Report& self, bool all, int top, const std::string& sort, int width,
                  const std::string& by) {
  TableOptions options{all, top, {}, width, false};
  options.by = table_by(by);
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
      .def("_values", [](const Report& r) { return to_json(r.report); })
      .def("table", &table, nb::arg("all") = false, nb::arg("top") = TableOptions().top, nb::arg("sort") = "",
           nb::arg("width") = TableOptions().width, nb::arg("by") = "",
           "What str() gives. `all`: every kernel with its operators, and every operator; `top`: kernels "
           "shown, "
           "0: all; `sort`: \"time\", \"node\", \"roof\" or \"cv\"; `width`: columns; `by`: \"operator\", "
           "\"module\" (a tree of the user's modules), \"source\" (lines of the user's program) or "
           "\"kernel\".")
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
           [](const Report& r) { return table(r, false, TableOptions().top, "", TableOptions().width, ""); })
      .def("__repr__",
           [](const Report& r) { return table(r, false, TableOptions().top, "", TableOptions().width, ""); })
      .def(
          "_wrong",
          [](const Report& r) {
            return r.report.comparison ? r.report.comparison->wrong() : std::vector<std::string>();
          },
          "Sentences about results that differ between backends.")
      .def("_repr_html_", [](const Report& r) { return html(r.report); });
  bind_options<ProfileArguments>(m, "profile");
  bind_options<CompareArguments>(m, "compare");
  m.def("profile", &profile, nb::arg("options"), nb::arg("built"), nb::arg("inputs"), nb::arg("name"),
        nb::arg("progress").none(), nb::arg("keep").none());
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
          return survey_targets(context, KernelCache::shared(), options);
        });
      },
      nb::arg("targets"), nb::arg("quick"), nb::arg("again"), nb::arg("threads"),
      "What this machine can run.");
  m.def("compare_backends", &compare_backends, nb::arg("options"), nb::arg("module"), nb::arg("params"),
        nb::arg("backends"), nb::arg("inputs"), nb::arg("name"), nb::arg("progress").none(),
        nb::arg("keep").none());
  m.def("profile_page", &page_of, nb::arg("report"), nb::arg("after") = nb::none());
  m.def("html", [](const IRModule& module) { return html(*module); }, nb::arg("node"));
  m.def("html", [](const Expr& expr) { return html(expr); }, nb::arg("node"));
}

}  // namespace baton::python
