#pragma once
// The rows of a profile, plain values. Their JSON form is a contract: design note 0005.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/profile/inside/inside_method.h"
#include "baton/profile/report/comparison.h"
#include "baton/runtime/run_timeline.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// One operator of the imported program, and its times.
struct OperatorRow : OperatorRecord {
  std::optional<double> inside_us;   ///< its time in all its nodes; nullopt when no node was split
  std::optional<double> unfused_us;  ///< as a kernel of its own, without fusion
};

/// A part of a kernel's time.
struct InsideRow {
  std::vector<uint32_t>
      ids;  ///< the operators it belongs to; empty: load, store, loop control, or a compiler-added node
  std::string label;  ///< the Relay operator in the kernel; empty: load, store and loop only
  bool rest = false;  ///< a stage minus what ablation explained; includes load, store and loop control
  std::string stage;
  double share = 0, us = 0;
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;
  std::optional<double> plus_minus_us = {};  ///< half of the 95 % interval (Estimate); nullopt: not known
  /// For a primitive of a library's region: how the library names its code and the layouts of its tensors;
  /// for a change of layout, what needs it.
  std::string implementation = {}, layouts = {}, reason = {};
};

/// The load of several threads in a stage of a kernel.
struct LoadRow {
  std::string stage;
  std::vector<uint32_t> ids;  ///< the operators it belongs to
  double busy_us = 0;         ///< summed over all threads
};

/// A kernel's rates compared with the machine's peaks.
struct Roofline {
  std::string dtype;                    ///< of its results: "float32"
  double intensity = 0;                 ///< operations per byte
  double gflops = 0, gbytes_per_s = 0;  ///< achieved
  double share =
      0;  ///< fraction of the roof: minimum time for its operations or bytes / its time; 0: no peaks
  std::string bound;     ///< what the roof is: "compute", "cache", "L3" or "memory"; empty: no peaks
  bool nominal = false;  ///< the algorithm performs fewer operations than counted (Winograd)
};

/// Calls of a kernel of a program on tensors of the same shapes, in one run.
struct ShapeRow {
  std::string shapes;  ///< of arguments and results: "float32[2, 3], float32[3]"
  double calls = 0, us = 0;
  std::vector<int64_t> extents = {};  ///< the values of the kernel's symbolic extents; not in JSON
};

/// One called plan node. Of a program of the virtual machine times are those of all its calls in a run.
struct KernelRow {
  uint32_t node = 0;
  std::string name, func_name, reason;
  std::string title;        ///< what people call it, distinct in a report (report/titles.h)
  std::string target;       ///< the target it runs on
  std::string simulated;    ///< the simulated device that its time is of: "sim_npu"; empty: it was measured
  std::string device;       ///< in whose memory its results are: "cpu", "opencl", "sim_npu"
  std::string copied_from;  ///< of a copy: the device of what it reads; else empty
  std::string compiler,
      region;  ///< of a region that another compiler was given: "cuda" and its symbol; else empty
  double median_us = 0, share = 0;
  std::vector<double> samples_us;
  std::vector<uint32_t> origins, made_for;
  double calls = 1;  ///< in a run; a mean where runs differ
  /// Of a program whose calls of it differ in their shapes, or whose shapes only its inputs tell; else empty.
  std::vector<ShapeRow> shapes;
  std::vector<InsideRow> inside;
  double flops = 0, bytes = 0;
  double result_bytes = 0;    ///< of its results
  double constant_bytes = 0;  ///< of the weights that it reads and none before it
  double live_bytes = 0;      ///< of all results that are needed while it runs, its own included
  double stage_sum = 1, noise = 0;
  bool trusted = true;           ///< whether the stages sum up to 97-103 % of the kernel
  std::vector<uint32_t> inputs;  ///< the called nodes whose values it reads: the plan's edges
  /// For inside times measured on several threads too (else 1, 0, 1 and empty): the kernel's time on them,
  /// warm and alone, their utilisation and loads.
  int load_threads = 1;
  double threads_us = 0, utilisation = 1;
  std::vector<LoadRow> loads;
  std::vector<std::string> inside_notes;  ///< discarded rounds, reasons for sampling
  std::optional<uint32_t> split_at =
      {};  ///< the node at which its inside was measured: equal kernels share one measurement
  Roofline roofline;
  double cv = 0;                        ///< standard deviation over mean of its samples
  std::optional<double> plus_minus_us;  ///< half of the 95 % interval (Estimate); nullopt: too few rounds
  std::vector<double> rounds_us;        ///< the median of each round
  std::vector<double> disturbed_us;     ///< samples that do not count
  double core_ns = 0;                   ///< Estimate::core_ns
  std::string under_load;               ///< what ran beside it all the time, so that +- is wider; or empty
  int calls_per_sample = 1;             ///< > 1: too short for the clock, called in a loop with warm caches
  /// In a predicted report: "predicted", or "measured" where a store had this very kernel. Else empty.
  std::string basis;
  std::optional<double> low_us, high_us;  ///< the interval of a prediction
  std::string out_of_range;               ///< why the prediction is only a guess; empty: it is not
};

/// A compiled function; several nodes may call it.
struct FunctionRow {
  std::string relay;          ///< the fused function as text
  std::string brief;          ///< its calls with their sizes (ir/rules/brief.h); empty: unknown
  std::string template_name;  ///< its schedule template
  std::map<std::string, int> params;
};

/// A kernel of the unfused build.
struct UnfusedRow {
  std::string name;
  std::vector<uint32_t> origins, made_for;
  double median_us = 0, flops = 0, bytes = 0;
  std::optional<double> plus_minus_us = {};
  std::string under_load = {};
  std::string simulated = {};  ///< as of a KernelRow
  std::string backend = {};    ///< of another device than the processor: "opencl"; else empty
  std::string relay = {};      ///< as of a FunctionRow, like the next two
  std::string template_name = {};
  std::map<std::string, int> params = {};
  std::vector<double> samples_us = {}, disturbed_us = {};  ///< as of a KernelRow, like the next one
  double core_ns = 0;
};

/// A value that a program was run on.
struct InputRow {
  std::string name, type;  ///< "x", "float32[17, 64]"
};

/// Where on a curve a report is: driver/shape_points.h.
struct PointRow {
  std::string name;  ///< "n=64"
  double value = 0;  ///< 64
};

/// What a program of the virtual machine did in a run beside calling kernels, and where its time went by
/// control flow. Counts are means over runs.
struct ProgramTimes {
  /// "shape code", "allocation", ...: vm::RunPart.
  struct Part {
    std::string name;
    double us = 0;
    std::optional<double> plus_minus_us = {};
  };
  /// A function that calls itself, directly or by way of others.
  struct Loop {
    std::string function;
    uint32_t line = 0;                   ///< of the function; 0: not known
    double entries = 0, iterations = 0;  ///< calls from outside, and from within
    double us = 0;                       ///< of all of them
    double us_per_iteration() const { return iterations > 0 ? us / iterations : us; }
  };
  /// An `if`, or a clause of a `match`.
  struct Branch {
    std::string function, what;  ///< "if", "match Cons"
    uint32_t line = 0;           ///< 0: not known
    double taken = 0, not_taken = 0;
    /// Of what is within the two ways, but recursive calls.
    double taken_us = 0, not_taken_us = 0;
  };
  std::vector<Part> parts;
  std::vector<Loop> loops;
  std::vector<Branch> branches;
  double instructions = 0, pieces = 0;
  double parts_us() const;
};

/// The memory of a model, in bytes.
struct MemoryUse {
  double constants_bytes = 0;  ///< weights, as they are packed for the kernels
  double inputs_bytes = 0;
  double workspace_bytes = 0;  ///< allocated for the results of all kernels
  double peak_bytes = 0;       ///< the most of it that is needed at once
};

/// A text that lines of operators refer to.
struct SourceText {
  std::string file;  ///< OperatorRecord::file; empty: the Relay text
  std::string text;
};

/// What a report is about: known before anything is measured or predicted. See report_head().
struct ReportHead {
  std::string model;                ///< its name, or its file as given
  std::string source;               ///< where its text is: "resnet-18.relay (baton print resnet-18)";
                                    ///< `model` when it is no text
  std::vector<SourceText> sources;  ///< that operators have lines of; empty: not known, or there is none
  int opt_level = 3;                ///< -1: not known, of an artifact
  /// Operators may have lines of it.
  bool has_text() const { return !source.empty() && source != model; }
};

struct ProfileReport : ReportHead {
  std::string target, version;
  std::string precision;  ///< of the build: "f32", "strict", "bf16"; empty: not known
  std::string machine;    ///< the processor: "AMD EPYC 9R14"; empty: unknown
  std::string host;       ///< machine_name() of the machine it was measured on; empty: not known
  /// Times were predicted for another machine than this one was: `machine` names it.
  bool other_machine = false;
  /// Why times were predicted for a machine that is only like this one, and rescaled; empty: they were not.
  std::string rescaled;
  int threads = 1;
  std::vector<double> plain_us, profiled_us;
  double end_to_end_us = 0, sum_us = 0, load = 0, cv = 0;
  double residual_us() const { return end_to_end_us - sum_us; }
  std::optional<double> between_us;  ///< between kernels, in profiled runs; nullopt: not measured
  std::optional<double> end_to_end_plus_minus_us;
  std::vector<double> rounds_us;     ///< end to end, the median of each round
  std::vector<double> disturbed_us;  ///< whole runs that do not count
  double core_ns = 0;                ///< during whole runs: Estimate::core_ns
  std::string under_load;            ///< of whole runs, as of a KernelRow
  std::string partial;               ///< why parts of the profile are missing: "interrupted"; empty: complete
  double overhead() const;           ///< profiling overhead of the whole model, profiled / plain
  std::vector<OperatorRow> operators;
  std::vector<KernelRow> kernels;
  std::map<std::string, FunctionRow> functions;  ///< by func_name
  std::vector<UnfusedRow> unfused;               ///< empty: not measured
  double unfused_us = 0;                         ///< the whole unfused build, median; 0: not measured
  std::optional<DeviceSheet> sheet;      ///< the processor that it was measured on; nullopt: not known
  std::optional<DeviceSheet> device;     ///< with its peaks; nullopt: not measured
  std::optional<ProgramTimes> program;   ///< of the virtual machine; nullopt: it is a plan
  std::vector<InputRow> inputs;          ///< of a program: what it was run on
  std::optional<PointRow> point;         ///< one of several of a curve; nullopt: it is by itself
  std::optional<MemoryUse> memory;       ///< nullopt: not known
  std::optional<RunTimeline> timeline;   ///< of one run on several threads; nullopt: not recorded
  std::optional<Comparison> comparison;  ///< with other backends; nullopt: not asked for
  std::vector<std::string> notes;        ///< caveats: a loaded machine, a clock that stepped
  /// By which predictor times are predicted, "cpu.predictor of 2026-11-24, trained on ..."; empty: measured.
  std::string predicted;
  double level = 0;                                             ///< of its intervals
  std::optional<double> end_to_end_low_us, end_to_end_high_us;  ///< of a prediction
  std::string out_of_range;                                     ///< of the model, as of its kernels
  double others_busy = 0;  ///< average number of CPUs used by other programs meanwhile
  std::vector<double>
      exchange_ns;  ///< of each round: a cache line to another thread and back; empty: one thread
};

}  // namespace baton
