#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "baton/cli/common.h"
#include "baton/cli/peer.h"
#include "baton/cli/run/runs.h"
#include "baton/driver/vm/build_program.h"
#include "baton/frontend/npz.h"
#include "baton/frontend/onnx/source_nodes.h"
#include "baton/profile/foreign/by_node.h"
#include "baton/profile/measure/engine_bursts.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/run_profile.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/clone.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"
#include "baton/support/version.h"

namespace baton::cli {

namespace {

namespace fs = std::filesystem;
constexpr int kFewestBursts = 3;

/// The peers, `--peers NAME`: bench/peers/run_NAME.py of the clone. Sorted.
std::vector<std::string> known_peers() {
  constexpr std::string_view kBefore = "run_", kAfter = ".py";
  const std::string root = clone_folder();
  if (root.empty()) throw Error("--peers needs a clone: use ./baton bench there, which installs the peers");
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(root + "/bench/peers")) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(kBefore) && file.ends_with(kAfter))
      names.push_back(file.substr(kBefore.size(), file.size() - kBefore.size() - kAfter.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> peers_of(const std::string& list) {
  if (list.empty()) return {};
  const std::vector<std::string> known = known_peers();
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    if (std::ranges::find(known, name) == known.end()) {
      std::string all;
      for (const std::string& each : known) all += (all.empty() ? "" : ",") + each;
      throw UsageError("--peers: " + name + " not in {" + all + "}");
    }
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

EngineBurst burst_of(const Runs& ours, double min_ms, std::vector<double>& latencies) {
  EngineBurst burst;
  const int64_t cpu = process_cpu_ns(), start = monotonic_ns();
  int64_t now = start;
  while (burst.runs < 2 || static_cast<double>(now - start) < min_ms * 1e6) {
    ours.run();
    const int64_t end = monotonic_ns();
    latencies.push_back(static_cast<double>(end - now) / 1e9);
    now = end;
    ++burst.runs;
  }
  burst.cpu = static_cast<double>(process_cpu_ns() - cpu) / 1e9;
  burst.wall = static_cast<double>(now - start) / 1e9;
  return burst;
}

EngineBurst burst_of(Peer& peer, double min_ms) {
  const auto answer = peer.ask("burst " + std::to_string(min_ms));
  return {answer["runs"].get<int>(), answer["cpu"].get<double>(), answer["wall"].get<double>()};
}

Json times_of(const std::vector<EngineBurst>& bursts) {
  Json list = Json::array();
  for (const EngineBurst& burst : bursts)
    list.push_back({{"runs", burst.runs}, {"cpu", burst.cpu}, {"wall", burst.wall}, {"quiet", burst.quiet}});
  return {{"best_cpu_s", lowest(bursts, &EngineBurst::cpu)},
          {"best_wall_s", lowest(bursts, &EngineBurst::wall)},
          {"median_wall_s", median_wall(bursts)},
          {"quiet", count_quiet(bursts)},
          {"under_load", load_of(bursts)},
          {"bursts", std::move(list)}};
}

class BenchVerb final : public Verb {
 public:
  BenchVerb() : Verb("bench", "Time a model, beside other engines if asked.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    add_threads(flags, &threads_);
    flags.option("min-ms", &min_ms_, "length of a burst of runs of one engine; all engines in turn")
        .show_default()
        .range(0.0, 1e6);
    flags.option("bursts", &count_, "bursts of each engine; up to twice as many while others use the machine")
        .show_default()
        .range(kFewestBursts, 1000);
    flags.option("input", &input_, "folder with <input name>.npy; the others by the tensor rule");
    flags.option("output", &output_, "folder for output0.npy, output1.npy, ...");
    flags.option(
        "peers", &peers_,
        "engines to time beside Baton, with commas: ort, openvino, openvino_default (in the precision it "
        "chooses), onednn (one layer), python (Baton, called from Python), dnnl (the same, with regions for "
        "oneDNN)");
    flags
        .option(
            "onnx", &onnx_,
            "the model for ort and openvino (default: MODEL, where it is an ONNX file; else they convert it)")
        .needs("peers");
    flags
        .flag("by-node", &by_node_,
              "of an ONNX file: the time of each of its nodes here, in ort and in openvino, from profiles of "
              "all")
        .needs("peers");
    add_wait(flags, &wait_);
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    const std::vector<std::string> names = peers_of(peers_);
    if (onnx_.empty() && onnx::is_model_file(flags_.model)) onnx_ = flags_.model;
    if (by_node_) check_by_node(names);
    if (!output_.empty()) make_folder(output_);  // before measuring
    const BuiltModel built = build_model(flags_, io, nullptr, build_plan_or_program, /*programs=*/true);
    if (built.build.program && !names.empty() && onnx_.empty())
      throw UsageError(
          "--peers of a program of the virtual machine read its ONNX file: other engines have no "
          "form of " +
          flags_.model);
    const InterruptScope interrupt;  // so that the temporary folder goes away
    const Runs ours = make_runs(built, flags_, input_, threads_, interrupt.flag(), io);
    threads_ = ours.threads;  // the peers get as many
    ours.run();
    if (!output_.empty()) write_outputs(ours.outputs());
    Json report;
    try {
      report = measured(names, built, ours, *interrupt.flag(), io);
    } catch (const Error&) {
      // The terminal interrupts the peers, too.
      if (*interrupt.flag()) throw Interrupted("interrupted");
      throw;
    }
    report["load_s"] = ours.load_s;
    if (json_)
      io.out << report.dump() << '\n';
    else
      print(io, report);
    if (!json_ && nodes_) io.out << '\n' << nodes_->table();
    return 0;
  }

 private:
  Json measured(const std::vector<std::string>& names, const BuiltModel& built, const Runs& ours,
                const std::atomic<bool>& interrupted, Io& io) {
    wait_for_quiet(wait_, io);
    TemporaryFolder folder;
    require(folder.create("bench"));
    std::vector<double> latencies;
    std::vector<Engine> engines{{[&] { return burst_of(ours, min_ms_, latencies); }}};
    const std::vector<std::unique_ptr<Peer>> peers = start_peers(names, built, ours.inputs, folder);
    for (const std::unique_ptr<Peer>& peer : peers)
      engines.push_back({[&] { return burst_of(*peer, min_ms_); }, /*in_process=*/false});

    // Beside other engines the machine's own speed is of interest: it is that of the same minute.
    const DeviceSheet& host = flags_.context().host();
    const DevicePeaks before = peers.empty() ? DevicePeaks{} : measure_peaks(host, threads_);
    Progress progress(io);
    run_bursts(engines, count_, [&](int round) {
      if (interrupted) throw Interrupted("interrupted");
      progress.show("burst", round, count_);
    });
    progress.clear();

    Json report{{"version", version()},
                {"threads", threads_},
                {"compile_s", built.build.times.total_s},
                {"kernels", built.build.kernels.size()},
                {"lat", latencies}};
    const std::vector<EngineBurst>& own = engines[0].bursts;
    double cpu = 0, wall = 0;
    for (const EngineBurst& burst : own) cpu += burst.cpu, wall += burst.wall;
    report["cpu"] = cpu;
    report["wall"] = wall;
    report.update(times_of(own));
    for (size_t i = 0; i < peers.size(); ++i)
      report["peers"][peers[i]->name()] =
          compare(*peers[i], ours.outputs().front(), folder, times_of(engines[i + 1].bursts), report,
                  ratio_interval(own, engines[i + 1].bursts));
    if (by_node_) {
      nodes_ = compared_by_node(built, peers, ours.inputs, folder, io);
      report["by_node"] = nodes_->json();
    }
    if (!peers.empty()) {
      const DevicePeaks after = measure_peaks(host, threads_);
      report["peaks"] = {{"gflops", std::max(before.gflops, after.gflops)},
                         {"gbytes_per_s", std::max(before.gbytes_per_s, after.gbytes_per_s)}};
    }
    return report;
  }

  void check_by_node(const std::vector<std::string>& names) const {
    if (!onnx::is_model_file(flags_.model))
      throw UsageError("--by-node is for ONNX files: " + flags_.model +
                       " has no nodes that other engines know");
    for (const std::string& name : names)
      if (name != "ort" && !name.starts_with("openvino"))
        throw UsageError("--by-node: " + name + " does not say how long its steps take; ort and openvino do");
  }

  /// Profiles of all engines, one after the other: each has its own way to time its steps.
  ByNode compared_by_node(const BuiltModel& built, const std::vector<std::unique_ptr<Peer>>& peers,
                          const NamedArrays& inputs, const TemporaryFolder& folder, Io& io) const {
    Progress progress(io);
    progress.show("times of steps", 0, static_cast<int>(peers.size()) + 1);
    std::vector<EngineProfile> others;
    for (const std::unique_ptr<Peer>& peer : peers) {
      const std::string stem = folder.path("profile_" + peer->name());
      const Json answer = peer->ask("profile " + stem);
      const std::string path = answer["profile"].get<std::string>();
      const Result<std::string> text = read_file(path);
      if (!text.ok()) throw Error("`" + path + "` cannot be read: " + text.status().message);
      EngineProfile profile = read_engine_profile(*text, path);
      profile.engine = peer->name();
      profile.version = peer->greeting()["version"].get<std::string>();
      if (answer.contains("optimized")) add_optimized_model(profile, answer["optimized"].get<std::string>());
      others.push_back(std::move(profile));
      progress.show("times of steps", static_cast<int>(others.size()), static_cast<int>(peers.size()) + 1);
    }
    ProfileCommand command;
    command.threads = threads_;
    command.options.context = flags_.context();
    command.options.unfused = command.options.peaks = false;
    const ProfileReport ours = run_profile(built.build, command, inputs);
    progress.clear();
    return by_node(onnx::source_nodes(*onnx::read_model_file(flags_.model)), ours, others);
  }

  static void make_folder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw Error("--output: no folder can be made at `" + path + "`: " + error.message());
  }

  void write_outputs(const std::vector<NDArray>& outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i)
      write_npy((fs::path(output_) / ("output" + std::to_string(i) + ".npy")).string(), outputs[i]);
  }

  std::vector<std::unique_ptr<Peer>> start_peers(const std::vector<std::string>& names,
                                                 const BuiltModel& built, const NamedArrays& values,
                                                 const TemporaryFolder& folder) const {
    std::vector<std::unique_ptr<Peer>> peers;
    if (names.empty()) return peers;
    const std::string root = clone_folder();
    const std::string python = environment()->python;
    if (python.empty())
      throw Error("--peers needs BATON_PYTHON: use ./baton bench, which installs the peers");
    const auto from_python = [](const std::string& name) { return name == "python" || name == "dnnl"; };
    if (!build_part("peers") || (std::ranges::any_of(names, from_python) && !build_part("python")))
      throw Error("the peers cannot be installed; why stands above");
    const std::string relay = folder.path("model.relay"), params = folder.path("params.npz"),
                      inputs = folder.path("inputs.npz");
    std::ofstream(relay) << model_text(*built.model.module);
    write_npz(params, built.params);
    write_npz(inputs, values);
    for (const std::string& name : names) {
      std::vector<std::string> command{
          python, root + "/bench/peers/run_" + name + ".py", relay, params, inputs, std::to_string(threads_)};
      if (!onnx_.empty()) command.push_back(onnx_);
      peers.push_back(
          std::make_unique<Peer>(name, command, "In a clone, ./baton bench --peers installs what it needs"));
    }
    fs::remove(params);  // half a gigabyte for VGG; the peers have read it
    return peers;
  }

  // The peer's `times`, the ratio to ours, and the difference of the outputs.
  Json compare(Peer& peer, const NDArray& mine, const TemporaryFolder& folder, const Json& times,
               const Json& ours, const std::optional<double>& interval) const {
    const std::string path = folder.path("peer.npy");
    peer.ask("output " + path);
    const NDArray theirs = read_npy(path);
    if (theirs.size() != mine.size() || theirs.dtype() != mine.dtype())
      throw Error(peer.name() + " computed " + describe(theirs.shape(), theirs.dtype()));
    double largest = 0, difference = 0;
    for (int64_t i = 0; mine.dtype() == DType::float_(32) && i < mine.size(); ++i) {
      const double a = theirs.as<float>()[i], b = mine.as<float>()[i];
      largest = std::max(largest, std::abs(a));
      // Not std::max: NaN on one side differs from everything.
      if (a != b && !(std::abs(a - b) <= difference) && !(std::isnan(a) && std::isnan(b)))
        difference = std::isnan(a - b) ? HUGE_VAL : std::abs(a - b);
    }
    Json report{{"version", peer.greeting()["version"]}};
    report.update(times);
    report["ratio_cpu"] = ours["best_cpu_s"].get<double>() / times["best_cpu_s"].get<double>();
    report["ratio_wall"] = ours["median_wall_s"].get<double>() / times["median_wall_s"].get<double>();
    report["ratio_wall_plus_minus"] = interval ? Json(*interval) : Json(nullptr);
    // JSON has no infinity.
    report["max_difference"] = std::min(largest > 0 ? difference / largest : difference, 1e30);
    return report;
  }

  void print(Io& io, const Json& report) const {
    char line[200];
    std::snprintf(line, sizeof line, "%-28s %10s %10s %10s   (%d thread%s, %d bursts of %.0f ms)\n", "",
                  "cpu ms", "wall ms", "median", threads_, threads_ == 1 ? "" : "s",
                  static_cast<int>(report["bursts"].size()), min_ms_);
    io.out << line;
    auto row = [&](const std::string& name, const Json& times) {
      std::snprintf(line, sizeof line, "%-28s %10.3f %10.3f %10.3f\n", name.c_str(),
                    times["best_cpu_s"].get<double>() * 1e3, times["best_wall_s"].get<double>() * 1e3,
                    times["median_wall_s"].get<double>() * 1e3);
      io.out << line;
    };
    row("baton " + report["version"].get<std::string>(), report);
    if (const auto load = report["under_load"].get<std::string>(); !load.empty())
      io.out << "measured beside other programs (" << load
             << "): wall times are those of the least disturbed bursts, and still too long; those of the CPU "
                "count waiting for nobody. --wait measures once the machine is quiet\n";
    if (!report.contains("peers")) return;
    for (const auto& [name, peer] : report["peers"].items()) {
      row(peer["version"].get<std::string>(), peer);
      const Json& interval = peer["ratio_wall_plus_minus"];
      char within[30] = "";
      if (interval.is_number()) std::snprintf(within, sizeof within, " +- %.3f", interval.get<double>());
      std::snprintf(line, sizeof line,
                    "%-28s %9.3fx %10s %9.3fx%s   largest difference of outputs %.1e of the largest\n",
                    ("baton / " + name).c_str(), peer["ratio_cpu"].get<double>(), "",
                    peer["ratio_wall"].get<double>(), within, peer["max_difference"].get<double>());
      io.out << line;
    }
    std::snprintf(line, sizeof line, "%-28s %.0f GFLOP/s, %.0f GB/s, measured before and after\n",
                  "this machine", report["peaks"]["gflops"].get<double>(),
                  report["peaks"]["gbytes_per_s"].get<double>());
    io.out << line;
  }

  ModelFlags flags_;
  int threads_ = 0, count_ = 10;
  double min_ms_ = 300, wait_ = 0;
  std::string input_, output_, peers_, onnx_;
  bool json_ = false, by_node_ = false;
  std::optional<ByNode> nodes_;
};

}  // namespace

std::unique_ptr<Verb> bench_verb() { return std::make_unique<BenchVerb>(); }

}  // namespace baton::cli
