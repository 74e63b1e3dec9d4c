#pragma once
// The rows of a profile: values, without what makes them. Their JSON form is a contract: design note 0005.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/driver/origins/operator_record.h"
#include "baton/profile/inside/inside_method.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// One operator of the program as it was imported, and its times.
struct OperatorRow : OperatorRecord {
  std::optional<double> inside_us;   ///< its time in all its nodes; none when no node was split
  std::optional<double> unfused_us;  ///< in a build of its own, without fusion
};

/// A part of a kernel's time.
struct InsideRow {
  std::vector<uint32_t>
      ids;  ///< the operators it belongs to; empty: load, store, loop control, or the compiler's own
  std::string label;  ///< the Relay operator as it is in the kernel; empty: load, store and loop alone
  bool rest = false;  ///< a stage less what ablation explained: load, store and loop control are in it
  std::string stage;
  double share = 0, us = 0;
  InsideMethod method = InsideMethod::kMarkers;
  bool below_noise = false;
};

/// What several threads did in a stage of a kernel.
struct LoadRow {
  std::string stage;
  std::vector<uint32_t> ids;  ///< the operators it belongs to
  double busy_us = 0;         ///< all threads added up
};

/// What a kernel does in its time, held against what the machine can do.
struct Roofline {
  std::string dtype;                    ///< of its results: "float32"
  double intensity = 0;                 ///< operations per byte
  double gflops = 0, gbytes_per_s = 0;  ///< reached
  double share = 0;      ///< of the roof: the least time for its operations or bytes / its time; 0: no peaks
  std::string bound;     ///< what the roof is: "compute", "memory" or "cache"; empty: no peaks
  bool nominal = false;  ///< the algorithm does fewer operations than are counted (Winograd)
};

/// One node of the plan that was called.
struct KernelRow {
  uint32_t node = 0;
  std::string name, func_name, reason;
  std::string target;  ///< what it runs on
  std::string compiler,
      region;  ///< of a region that another compiler was given: "cuda" and its symbol; else empty
  double median_us = 0, share = 0;
  std::vector<double> samples_us;
  std::vector<uint32_t> origins, made_for;
  std::vector<InsideRow> inside;
  double flops = 0, bytes = 0;
  double stage_sum = 1, noise = 0;
  bool trusted = true;           ///< the stages sum up to 97-103 % of the kernel
  std::vector<uint32_t> inputs;  ///< the nodes that were called whose values it reads: the edges of the plan
  /// Of inside times, where the kernel was measured on several threads too (else 1, 0, 1 and none): its time
  /// on them, warm and alone, and which part of it they were busy.
  int load_threads = 1;
  double threads_us = 0, utilisation = 1;
  std::vector<LoadRow> loads;
  std::vector<std::string> inside_notes;  ///< rounds that were left out, why it was sampled
  Roofline roofline;
  double cv = 0;  ///< standard deviation over mean of its samples
};

/// What is compiled: several nodes may call one function.
struct FunctionRow {
  std::string relay;          ///< the fused function as text
  std::string template_name;  ///< of its schedule
  std::map<std::string, int> params;
};

/// A kernel of the build without fusion.
struct UnfusedRow {
  std::string name;
  std::vector<uint32_t> origins, made_for;
  double median_us = 0, flops = 0, bytes = 0;
};

struct ProfileReport {
  std::string model, target, version, source;
  int threads = 1, opt_level = 3;
  std::vector<double> plain_us, profiled_us;
  double end_to_end_us = 0, sum_us = 0, load = 0, cv = 0;
  double residual_us() const { return end_to_end_us - sum_us; }
  double overhead() const;  ///< what profiling costs: of the whole model, profiled / plain
  std::vector<OperatorRow> operators;
  std::vector<KernelRow> kernels;
  std::map<std::string, FunctionRow> functions;  ///< by func_name
  std::vector<UnfusedRow> unfused;               ///< empty: not measured
  double unfused_us = 0;                         ///< the whole build without fusion, median; 0: not measured
  std::optional<DeviceSheet> device;             ///< with its peaks; none: not measured
  std::vector<std::string> notes;  ///< what a reader must know: a loaded machine, a clock that stepped
  double others_busy = 0;  ///< processors that other programs kept busy while it was measured, on average
};

}  // namespace baton
