#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "baton/cli/common.h"
#include "baton/cli/peer.h"
#include "baton/frontend/npz.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/timers.h"
#include "baton/support/base/files.h"
#include "baton/support/version.h"

namespace baton::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kBursts = 10;

/// Runs timed together: their number and total time.
struct Burst {
  int runs = 0;
  double cpu = 0, wall = 0;
};

Burst burst_of(Executor& executor, double min_ms, std::vector<double>& latencies) {
  Burst burst;
  const int64_t cpu = process_cpu_ns(), start = monotonic_ns();
  int64_t now = start;
  while (burst.runs < 2 || static_cast<double>(now - start) < min_ms * 1e6) {
    require(executor.run());
    const int64_t end = monotonic_ns();
    latencies.push_back(static_cast<double>(end - now) / 1e9);
    now = end;
    ++burst.runs;
  }
  burst.cpu = static_cast<double>(process_cpu_ns() - cpu) / 1e9;
  burst.wall = static_cast<double>(now - start) / 1e9;
  return burst;
}

double lowest(const std::vector<Burst>& bursts, double Burst::* what) {
  double best = 1e300;
  for (const Burst& burst : bursts) best = std::min(best, burst.*what / burst.runs);
  return best;
}

class BenchVerb final : public Verb {
 public:
  BenchVerb() : Verb("bench", "Time a model, beside other engines if asked.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    add_threads(flags, &threads_);
    flags.option("min-ms", &min_ms_, "length of a burst of runs; there are 10 of each engine, in turn")
        .show_default()
        .range(0.0, 1e6);
    flags.option("input", &input_, "folder with <input name>.npy; the others by the tensor rule");
    flags.option("output", &output_, "folder for output0.npy, output1.npy, ...");
    flags.option("peers", &peers_, "engines to time beside Baton: ort").choices({"ort"});
    flags.flag("json", &json_, "one JSON object on standard output");
  }

  int run(Io& io) override {
    const BuiltModel built = build_model(flags_, io);
    const int64_t start = monotonic_ns();
    const std::unique_ptr<Executor> executor = make_executor(built.build);
    const double load_s = static_cast<double>(monotonic_ns() - start) / 1e9;
    executor->set_threads(threads_);
    threads_ = executor->threads();  // the peers get as many
    set_inputs(*executor, read_inputs(*executor));
    require(executor->run());
    if (!output_.empty()) write_outputs(*executor);

    TemporaryFolder folder;
    require(folder.create("bench"));
    std::unique_ptr<Peer> peer;
    if (!peers_.empty()) peer = start_peer(built, *executor, folder);
    std::vector<double> latencies;
    std::vector<Burst> ours, theirs;
    Progress progress(io);
    for (int i = 0; i < kBursts; ++i) {
      progress.show("burst", i, kBursts);
      ours.push_back(burst_of(*executor, min_ms_, latencies));
      if (!peer) continue;
      const auto answer = peer->ask("burst " + std::to_string(min_ms_));
      theirs.push_back({answer["runs"], answer["cpu"], answer["wall"]});
    }
    progress.clear();

    Json report{{"version", version()},
                {"compile_s", built.build.times.total_s},
                {"load_s", load_s},
                {"kernels", built.build.kernels.size()},
                {"lat", latencies}};
    double cpu = 0, wall = 0;
    for (const Burst& burst : ours) cpu += burst.cpu, wall += burst.wall;
    report["cpu"] = cpu;
    report["wall"] = wall;
    report["best_cpu_s"] = lowest(ours, &Burst::cpu);
    report["best_wall_s"] = lowest(ours, &Burst::wall);
    if (peer) report["peers"][peers_] = compare(*peer, *executor, folder, theirs, report);
    if (json_)
      io.out << report.dump() << '\n';
    else
      print(io, report);
    return 0;
  }

 private:
  NamedArrays read_inputs(const Executor& executor) const {
    NamedArrays arrays;
    for (size_t i = 0; !input_.empty() && i < executor.num_inputs(); ++i) {
      const std::string& name = executor.input_node(i).name;
      const fs::path path = fs::path(input_) / (name + ".npy");
      if (fs::exists(path)) arrays.emplace_back(name, read_npy(path.string()));
    }
    if (!input_.empty() && arrays.empty())
      throw Error(input_ + ": holds no <input name>.npy for an input of the model");
    return arrays;
  }

  void write_outputs(const Executor& executor) const {
    fs::create_directories(output_);
    for (size_t i = 0; i < executor.num_outputs(); ++i)
      write_npy((fs::path(output_) / ("output" + std::to_string(i) + ".npy")).string(), executor.output(i));
  }

  std::unique_ptr<Peer> start_peer(const BuiltModel& built, Executor& executor,
                                   const TemporaryFolder& folder) const {
    const char* root = std::getenv("BATON_ROOT");
    const char* python = std::getenv("BATON_PYTHON");
    if (!root || !python)
      throw Error("--peers needs a clone: use ./baton bench there, which installs the peers");
    const std::string relay = folder.path("model.relay"), params = folder.path("params.npz"),
                      inputs = folder.path("inputs.npz");
    std::ofstream(relay) << model_text(*built.model.module);
    write_npz(params, built.params);
    NamedArrays values;
    for (size_t i = 0; i < executor.num_inputs(); ++i)
      values.emplace_back(executor.input_node(i).name, executor.input(i));
    write_npz(inputs, values);
    auto peer = std::make_unique<Peer>(
        peers_,
        std::vector<std::string>{python, std::string(root) + "/bench/peers/" + peers_ + ".py", relay, params,
                                 inputs, std::to_string(threads_)},
        "In a clone, ./baton bench --peers installs what it needs");
    fs::remove(params);  // half a gigabyte for VGG; the peer has read it
    return peer;
  }

  // The peer's times, the ratio to ours, and the difference of the outputs.
  Json compare(Peer& peer, const Executor& executor, const TemporaryFolder& folder,
               const std::vector<Burst>& bursts, const Json& ours) const {
    const std::string path = folder.path("peer.npy");
    peer.ask("output " + path);
    const NDArray theirs = read_npy(path), mine = executor.output(0);
    if (theirs.size() != mine.size() || theirs.dtype() != mine.dtype())
      throw Error(peers_ + " computed " + describe(theirs.shape(), theirs.dtype()));
    double largest = 0, difference = 0;
    for (int64_t i = 0; mine.dtype() == DType::float_(32) && i < mine.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(theirs.as<float>()[i])));
      difference =
          std::max(difference, std::abs(static_cast<double>(theirs.as<float>()[i]) - mine.as<float>()[i]));
    }
    const double cpu = lowest(bursts, &Burst::cpu), wall = lowest(bursts, &Burst::wall);
    return {{"version", peer.greeting()["version"]},
            {"best_cpu_s", cpu},
            {"best_wall_s", wall},
            {"ratio_cpu", ours["best_cpu_s"].get<double>() / cpu},
            {"ratio_wall", ours["best_wall_s"].get<double>() / wall},
            {"max_difference", largest > 0 ? difference / largest : difference}};
  }

  void print(Io& io, const Json& report) const {
    char line[200];
    std::snprintf(line, sizeof line, "%-28s %10s %10s   (%d thread%s, lowest of %d bursts of %.0f ms)\n", "",
                  "cpu ms", "wall ms", threads_, threads_ == 1 ? "" : "s", kBursts, min_ms_);
    io.out << line;
    auto row = [&](const std::string& name, const Json& times) {
      std::snprintf(line, sizeof line, "%-28s %10.3f %10.3f\n", name.c_str(),
                    times["best_cpu_s"].get<double>() * 1e3, times["best_wall_s"].get<double>() * 1e3);
      io.out << line;
    };
    row("baton " + report["version"].get<std::string>(), report);
    if (!report.contains("peers")) return;
    const Json& peer = report["peers"][peers_];
    row(peer["version"], peer);
    std::snprintf(line, sizeof line,
                  "%-28s %9.3fx %9.3fx   largest difference of outputs %.1e of the largest\n", "baton / peer",
                  peer["ratio_cpu"].get<double>(), peer["ratio_wall"].get<double>(),
                  peer["max_difference"].get<double>());
    io.out << line;
  }

  ModelFlags flags_;
  int threads_ = 0;
  double min_ms_ = 300;
  std::string input_, output_, peers_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> bench_verb() { return std::make_unique<BenchVerb>(); }

}  // namespace baton::cli
