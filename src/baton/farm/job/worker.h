#pragma once
// Whatever measures one job at a time or many: this process, a runner process, a farm of machines. Jobs and
// results are plain values; between processes they are lines of JSON (job_json.h).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/store/measurement.h"

namespace baton {

/// How one program is measured.
struct Protocol {
  int min_samples = 30;    ///< undisturbed ones ...
  double cv = 0.03;        ///< ... until their coefficient of variation is at most this
  double max_seconds = 3;  ///< or this time is over, compiling and loading not counted
  double warm_up_s = 0.02;
  double time_limit_s = 60;  ///< after which the job has failed (a hung kernel)
  std::vector<CacheState> caches{CacheState::kHot};
  bool nodes = false;  ///< the kernels of the model too, as they run in it (CacheState::kInModel)
  /// Not the whole program, but each of its kernels that computes operators by itself, in every state of
  /// `caches`; with `nodes` its other kernels as they run in it.
  bool alone = false;
  friend bool operator==(const Protocol&, const Protocol&) = default;
};

/// One program to measure: a bundle (docs/design/0037).
struct Job {
  std::string id;      ///< the configuration's key
  std::string bundle;  ///< folder
  int threads = 1;
  Protocol protocol;
  std::string machine = {};  ///< only there; empty: on any machine that runs the bundle's code
  friend bool operator==(const Job&, const Job&) = default;
};

/// Samples of one program or one of its nodes.
struct JobRow {
  std::string node;  ///< of the plan; empty: the whole program
  CacheState cache = CacheState::kHot;
  std::vector<double> samples_us;
  std::vector<uint32_t> disturbed;  ///< indices into samples_us (note 0018)
  /// Other programs ran all the time: samples that count are those that they disturbed least (note 0018).
  bool under_load = false;
  bool interrupted = false;  ///< and even these are interrupted
  int calls_per_sample = 1;
  double load = 0, others_busy = 0;
  double core_ns = 0;  ///< of the core's loop (core_pace.h) after the samples that count; 0: not read
  friend bool operator==(const JobRow&, const JobRow&) = default;
};

struct JobResult {
  std::string id;
  std::string error;   ///< why there are no rows: "killed by signal 11", "no answer in 60 s", "outputs differ
                       ///< from the reference run by ..."; empty: measured
  bool retry = false;  ///< the worker was lost, not the job: another worker may try
  bool refused = false;  ///< the bundle was not accepted, and nothing of it was run
  std::string note;     ///< under which conditions: "measured under load: 1.4 of 2 processors busy elsewhere"
  DeviceSheet device;   ///< of the machine that ran it
  std::string machine;  ///< its stable name
  std::vector<JobRow> rows;
};

/// One machine of a worker.
struct WorkerMachine {
  std::string name;
  DeviceSheet sheet;                 ///< programs are built for its code_target
  std::vector<std::string> plugins;  ///< runtime halves of backends that are installed there
};

class Worker {
 public:
  virtual ~Worker() = default;
  /// How many jobs are measured at the same time: one per machine.
  virtual int machines() const = 0;
  /// How many jobs to have submitted, so that no machine waits for its next one.
  virtual int places() const { return machines(); }
  /// Returns at once. Throws Error when the service is gone.
  virtual void submit(const Job& job) = 0;
  /// A finished job; nullopt after `timeout_s`, or when there is none to wait for. Jobs finish in any order.
  /// Throws Error when the service is gone.
  virtual std::optional<JobResult> next(double timeout_s) = 0;
  /// Which machines there are now.
  virtual std::vector<WorkerMachine> machine_list() const { return {{"", DeviceSheet::host(), {}}}; }
};

}  // namespace baton
