#include "baton/profile/write/trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "baton/profile/report/report_text.h"
#include "baton/profile/report/titles.h"
#include "baton/profile/views/module_tree.h"
#include "baton/profile/views/time_shares.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr int kProcess = 1, kFused = 1, kUnfused = 2, kRuns = 3;  // pid, and a tid per track
constexpr int kModules = 4;
constexpr int kQueues = 1000;  // the track of the first device; those of others follow
constexpr int kThreads = 10;   // the track of the calling thread; those of others follow

int64_t ns(double us) { return std::llround(std::max(0.0, us) * 1e3); }

// Whole nanoseconds, in microseconds as the format requires.
Json us(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

struct Trace {
  Json events = Json::array();

  void name(const char* what, int track, const std::string& text) {
    events.push_back(
        {{"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"name", what}, {"args", {{"name", text}}}});
  }
  void track(int track, const std::string& text) {
    name("thread_name", track, text);
    events.push_back({{"ph", "M"},
                      {"pid", kProcess},
                      {"tid", track},
                      {"name", "thread_sort_index"},
                      {"args", {{"sort_index", track}}}});
  }
  void complete(int track, const char* category, const std::string& text, int64_t from, int64_t duration,
                Json args) {
    events.push_back({{"name", text},
                      {"cat", category},
                      {"ph", "X"},
                      {"pid", kProcess},
                      {"tid", track},
                      {"ts", us(from)},
                      {"dur", us(duration)},
                      {"args", std::move(args)}});
  }
};

Json lines_of(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  Json lines = Json::array();
  for (uint32_t id : ids)
    if (const uint32_t line = report.operators.at(id).line) lines.push_back(line);
  return lines;
}

Json types_of(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  Json types = Json::array();
  for (uint32_t id : ids) types.push_back(report.operators.at(id).type);
  return types;
}

// {"inputs": ["1x64x56x56", "64x64x3x3"], "result": "1x64x56x56"} of the operator that a kernel is named
// after.
Json shapes_of(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  if (ids.empty()) return nullptr;
  const OperatorRow& row = report.operators.at(leading_operator(report, ids));
  Json inputs = Json::array();
  for (const std::string& type : row.input_types) inputs.push_back(shape_in(type));
  return {{"inputs", std::move(inputs)}, {"result", shape_in(row.type)}};
}

// "nn.conv2d line 3, nn.relu line 5": the operators of a kernel.
Json described(const ProfileReport& report, const std::vector<uint32_t>& ids) {
  Json list = Json::array();
  for (uint32_t id : ids) list.push_back(operators_text(report, {id}));
  return list;
}

Json args_of(const ProfileReport& report, const KernelRow& kernel) {
  Json args{{"node", kernel.node},
            {"kernel", kernel.name},
            {"func_name", kernel.func_name},
            {"origins", kernel.origins},
            {"operators", described(report, kernel.origins)},
            {"lines", lines_of(report, kernel.origins)},
            {"shapes", shapes_of(report, kernel.origins)},
            {"share", kernel.share},
            {"median_us", kernel.median_us},
            {"flops", kernel.flops},
            {"bytes", kernel.bytes}};
  if (!kernel.roofline.bound.empty())
    args.update({{"roofline", kernel.roofline.share}, {"bound", kernel.roofline.bound}});
  if (!kernel.compiler.empty()) args["compiler"] = kernel.compiler;
  if (!kernel.simulated.empty()) args["simulated"] = kernel.simulated;
  if (!kernel.reason.empty()) args.update({{"made_for", kernel.made_for}, {"reason", kernel.reason}});
  if (!kernel.trusted) args["stage_sum"] = kernel.stage_sum;
  Json small = Json::array();
  for (const InsideRow& part : kernel.inside)
    if (part.below_noise) small.push_back(part_label(report, part));
  if (!small.empty()) args["below_noise"] = small;
  return args;
}

Json args_of(const ProfileReport& report, const KernelRow& kernel, const InsideRow& part) {
  Json args{{"origins", part.ids},
            {"lines", lines_of(report, part.ids)},
            {"types", types_of(report, part.ids)},
            {"stage", part.stage},
            {"share", part.share},
            {"us", part.us},
            {"method", method_name(part.method)}};
  if (part.rest) args["rest"] = true;
  if (!kernel.trusted) args["estimate"] = true;
  return args;
}

/// Draws a kernel's parts below it. If stages sum up to more than their kernel, they are scaled; args hold
/// the measured times.
void add_parts(Trace& trace, const ProfileReport& report, const KernelRow& kernel, int64_t from,
               int64_t duration) {
  if (kernel.inside.empty()) {
    if (!kernel.origins.empty())
      trace.complete(kFused, "operator", operators_text(report, kernel.origins), from, duration,
                     {{"origins", kernel.origins},
                      {"lines", lines_of(report, kernel.origins)},
                      {"types", types_of(report, kernel.origins)},
                      {"share", 1},
                      {"method", kernel.origins.size() == 1 ? "whole" : "not split"}});
    return;
  }
  double all = 0, before = 0;
  for (const InsideRow& part : kernel.inside) all += part.share;
  const double scale = static_cast<double>(duration) / std::max(all, 1.0);
  for (const InsideRow& part : kernel.inside) {
    const int64_t begin = std::llround(before * scale);
    before += part.share;
    const int64_t end = std::min(duration, static_cast<int64_t>(std::llround(before * scale)));
    // Parts below the noise have no length; the kernel's args list them.
    if (end > begin)
      trace.complete(kFused, "operator", part_label(report, part), from + begin, end - begin,
                     args_of(report, kernel, part));
  }
}

/// The length of a whole run whose kernels are placed back to back.
int64_t whole(int64_t kernels, double run_us) { return std::max(kernels, ns(run_us)); }

void add_between(Trace& trace, int track, int64_t from, int64_t kernels, int64_t all) {
  if (all > kernels)
    trace.complete(track, "between", "between kernels", from + kernels, all - kernels, Json::object());
}

void add_fused(Trace& trace, const ProfileReport& report) {
  trace.track(kFused, "one run, from medians");
  int64_t sum = 0;
  for (const KernelRow& kernel : report.kernels) sum += ns(kernel.median_us);
  const int64_t all = whole(sum, report.end_to_end_us);
  trace.complete(kFused, "model", report.model, 0, all,
                 {{"target", report.target},
                  {"threads", report.threads},
                  {"opt_level", report.opt_level < 0 ? Json(nullptr) : Json(report.opt_level)},
                  {"precision", report.precision.empty() ? Json(nullptr) : Json(report.precision)},
                  {"baton", report.version},
                  {"end_to_end_us", report.end_to_end_us},
                  {"sum_us", report.sum_us},
                  {"residual_us", report.residual_us()},
                  {"overhead", report.overhead()},
                  {"cv", report.cv},
                  {"load", report.load},
                  {"notes", report.notes}});
  int64_t at = 0;
  for (const KernelRow& kernel : report.kernels) {
    const int64_t duration = ns(kernel.median_us);
    trace.complete(kFused, "kernel", kernel.title, at, duration, args_of(report, kernel));
    add_parts(trace, report, kernel, at, duration);
    at += duration;
  }
  add_between(trace, kFused, 0, sum, all);
}

/// Modules as events within each other: what is next to each other is one visit of a module.
class ModuleLanes {
 public:
  /// The time up to `end` is of the module `path`.
  void add(const std::string& path, int64_t end) {
    if (end <= at_) return;
    std::vector<std::string> names;
    for (size_t begin = 0; begin < path.size();) {
      const size_t slash = std::min(path.find('/', begin), path.size());
      names.push_back(path.substr(0, slash));
      begin = slash + 1;
    }
    const auto common =
        std::ranges::mismatch(names, open_, {}, {}, [](const Visit& each) { return each.path; });
    close(static_cast<size_t>(common.in2 - open_.begin()));
    for (auto name = common.in1; name != names.end(); ++name) open_.push_back({*name, at_, 0});
    at_ = end;
  }
  void write(Trace& trace) {
    close(0);
    std::ranges::stable_sort(
        done_, {}, [](const Visit& each) { return std::tuple(each.from, -each.end, each.path.size()); });
    for (const Visit& each : done_)
      trace.complete(kModules, "module", each.path.substr(each.path.rfind('/') + 1), each.from,
                     each.end - each.from, {{"module", each.path}});
  }

 private:
  struct Visit {
    std::string path;
    int64_t from, end;
  };
  void close(size_t left) {
    for (; open_.size() > left; open_.pop_back()) {
      open_.back().end = at_;
      done_.push_back(open_.back());
    }
  }
  std::vector<Visit> open_, done_;
  int64_t at_ = 0;
};

/// The run from medians by modules, a lane for each level. A kernel of several modules is divided between
/// them as its time is.
void add_modules(Trace& trace, const ProfileReport& report) {
  if (!has_modules(report)) return;
  trace.track(kModules, "one run, from medians: modules");
  ModuleLanes lanes;
  int64_t at = 0;
  for (const KernelRow& kernel : report.kernels) {
    const int64_t duration = ns(kernel.median_us);
    double before = 0;
    for (const TimeShare& share : time_shares(kernel)) {
      before += share.us;
      const double part = kernel.median_us > 0 ? std::min(1.0, before / kernel.median_us) : 0;
      lanes.add(common_module(report, share.ids), at + std::llround(part * static_cast<double>(duration)));
    }
    at += duration;
  }
  lanes.write(trace);
}

/// The same run with a lane per device or library, and one for copies between devices, which say which
/// operators they are for. Nothing where all kernels run in one place.
void add_queues(Trace& trace, const ProfileReport& report) {
  const auto place = [](const KernelRow& kernel) {
    return kernel.func_name == "__copy" ? std::string("copies") : "queue of " + kernel.target;
  };
  std::map<std::string, int> tracks;
  for (const KernelRow& kernel : report.kernels) tracks.emplace(place(kernel), 0);
  if (tracks.size() < 2) return;
  int next = kQueues;
  for (auto& [name, track] : tracks) trace.track(track = next++, name);
  int64_t at = 0;
  for (const KernelRow& kernel : report.kernels) {
    const int64_t duration = ns(kernel.median_us);
    Json args = args_of(report, kernel);
    if (!kernel.made_for.empty()) args["made_for_operators"] = described(report, kernel.made_for);
    trace.complete(tracks.at(place(kernel)), kernel.func_name == "__copy" ? "copy" : "kernel", kernel.title,
                   at, duration, std::move(args));
    at += duration;
  }
}

void add_unfused(Trace& trace, const ProfileReport& report) {
  if (report.unfused.empty()) return;
  trace.track(kUnfused, "one run without fusion");
  int64_t sum = 0;
  for (const UnfusedRow& row : report.unfused) sum += ns(row.median_us);
  const int64_t all = whole(sum, report.unfused_us);
  trace.complete(kUnfused, "model", report.model + ", every operator alone", 0, all,
                 {{"end_to_end_us", report.unfused_us}});
  int64_t at = 0;
  for (const UnfusedRow& row : report.unfused) {
    const int64_t duration = ns(row.median_us);
    Json args{{"origins", row.origins},
              {"lines", lines_of(report, row.origins)},
              {"flops", row.flops},
              {"bytes", row.bytes}};
    if (row.origins.empty()) args["made_for"] = row.made_for;
    if (!row.simulated.empty()) args["simulated"] = row.simulated;
    trace.complete(kUnfused, "kernel", short_name(row.name), at, duration, std::move(args));
    if (!row.origins.empty())
      trace.complete(
          kUnfused, "operator", operators_text(report, row.origins), at, duration,
          {{"origins", row.origins}, {"types", types_of(report, row.origins)}, {"method", "unfused"}});
    at += duration;
  }
  add_between(trace, kUnfused, 0, sum, all);
}

void add_runs(Trace& trace, const ProfileReport& report, size_t runs) {
  for (const KernelRow& kernel : report.kernels) runs = std::min(runs, kernel.samples_us.size());
  runs = std::min(runs, report.profiled_us.size());
  if (runs == 0 || report.kernels.empty()) return;
  trace.track(kRuns, "measured runs");
  int64_t start = 0;
  for (size_t run = 0; run < runs; ++run) {
    int64_t sum = 0;
    for (const KernelRow& kernel : report.kernels) sum += ns(kernel.samples_us[run]);
    const int64_t all = whole(sum, report.profiled_us[run]);
    trace.complete(kRuns, "model", "run " + std::to_string(run), start, all,
                   {{"run", run}, {"us", report.profiled_us[run]}});
    int64_t at = start;
    for (const KernelRow& kernel : report.kernels) {
      const int64_t duration = ns(kernel.samples_us[run]);
      trace.complete(
          kRuns, "kernel", kernel.title, at, duration,
          {{"node", kernel.node}, {"origins", kernel.origins}, {"lines", lines_of(report, kernel.origins)}});
      at += duration;
    }
    add_between(trace, kRuns, start, sum, all);
    start += all;
  }
}

/// One run as it was on several threads: the caller's lane has the kernels, every lane its parts of parallel
/// loops, named for the kernel that they belong to.
void add_threads(Trace& trace, const ProfileReport& report) {
  if (!report.timeline) return;
  const RunTimeline& run = *report.timeline;
  std::map<uint32_t, const KernelRow*> kernels;
  for (const KernelRow& kernel : report.kernels) kernels[kernel.node] = &kernel;
  const auto title = [&](uint32_t node) {
    const auto at = kernels.find(node);
    return at == kernels.end() ? "node " + std::to_string(node) : at->second->title;
  };
  trace.track(kThreads, "one measured run: thread 0, the caller");
  const int64_t all = std::llround(run.total_ns);
  trace.complete(kThreads, "model", report.model, 0, all, {{"us", run.total_ns / 1e3}});
  size_t loop = 0;
  const auto add_loop = [&](int track, const RunTimeline::Loop& each, const std::string& name,
                            const RunTimeline::Call* in) {
    const auto bounded = [&](double at) {
      const int64_t least = in ? std::llround(in->begin_ns) : 0, most = in ? std::llround(in->end_ns) : all;
      return std::clamp<int64_t>(std::llround(at), std::min(least, most), most);
    };
    Json args{{"iterations", each.iterations}};
    if (in) args["node"] = in->node;
    const int64_t from = bounded(each.begin_ns);
    trace.complete(track, "loop", name, from, bounded(each.end_ns) - from, std::move(args));
  };
  for (const RunTimeline::Call& call : run.calls) {
    const auto at = kernels.find(call.node);
    const int64_t from = std::llround(call.begin_ns);
    trace.complete(kThreads, "kernel", title(call.node), from, std::llround(call.end_ns) - from,
                   at == kernels.end() ? Json::object() : args_of(report, *at->second));
    for (; loop < run.loops.size() && run.loops[loop].thread == 0 && run.loops[loop].begin_ns < call.end_ns;
         ++loop)
      add_loop(kThreads, run.loops[loop], "loop", &call);
  }
  int track = kThreads;
  for (; loop < run.loops.size(); ++loop) {
    const RunTimeline::Loop& each = run.loops[loop];
    if (kThreads + each.thread != track) {
      track = kThreads + each.thread;
      trace.track(track, "one measured run: thread " + std::to_string(each.thread));
    }
    // A thread of the pool begins while the call runs that gave it work.
    const auto after = std::upper_bound(
        run.calls.begin(), run.calls.end(), each.begin_ns,
        [](double begin_ns, const RunTimeline::Call& call) { return begin_ns < call.begin_ns; });
    const RunTimeline::Call* in = after == run.calls.begin() ? nullptr : &*std::prev(after);
    add_loop(track, each, in ? title(in->node) : "loop", in);
  }
}

}  // namespace

std::string trace_json(const ProfileReport& report, int runs) {
  Trace trace;
  trace.name("process_name", 0, report.model + " on " + report.target + whose_times(report));
  add_fused(trace, report);
  add_modules(trace, report);
  add_queues(trace, report);
  add_unfused(trace, report);
  add_runs(trace, report, static_cast<size_t>(std::max(0, runs)));
  add_threads(trace, report);
  return Json{{"displayTimeUnit", "ns"},
              {"otherData",
               {{"schema", 1},
                {"model", report.model + whose_times(report)},
                {"machine", report.machine},
                {"version", report.version}}},
              {"traceEvents", std::move(trace.events)}}
      .dump();
}

}  // namespace baton
