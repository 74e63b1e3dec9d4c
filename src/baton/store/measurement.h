#pragma once
// One measurement as a plain value: what ran, how it was built, where, and all samples. A store keeps them in
// normalised tables; on the wire one measurement is one line of JSON (measurement_json.h). See
// docs/design/0036.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/checksum.h"
#include "baton/support/json.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// What a measurement is the time of.
enum class WorkKind {
  kKernel,     ///< one kernel: a fused function, or the region of a library
  kPart,       ///< a part of a kernel's inside, of one or more operators (InsideRow)
  kModel,      ///< a whole model, from its inputs to its outputs
  kTransfer,   ///< a copy between the memories of two devices
  kReference,  ///< the fixed kernel that shows drift and other machines
};
std::string_view work_kind_name(WorkKind kind);  ///< "kernel", "part", "model", "transfer", "reference"
std::optional<WorkKind> work_kind_named(std::string_view name);

/// In which state the caches were when each sample began.
enum class CacheState {
  kHot,      ///< the same call ran just before
  kFlushed,  ///< inputs, weights and results were evicted from all caches
  kInModel,  ///< as its predecessors in a running model left them
};
std::string_view cache_state_name(CacheState state);  ///< "hot", "flushed", "in model"
std::optional<CacheState> cache_state_named(std::string_view name);

/// One call inside a fused function, in order of execution.
struct WorkOperator {
  std::string op;                        ///< "nn.conv2d"
  Json attributes = Json::object();      ///< every attribute by name, defaults included
  std::vector<std::string> input_types;  ///< "Tensor[(1, 64, 56, 56), float32]"
  std::string type;                      ///< of its result
  friend bool operator==(const WorkOperator&, const WorkOperator&) = default;
};

/// What ran. Its identity is `kind` and `text`; the rest follows from these.
struct Work {
  WorkKind kind = WorkKind::kKernel;
  /// Relay text in a canonical form (variables by number, no names, no origins): of a kernel its fused
  /// function; of a part the same and the part's label; of a model its module before optimisation; of a
  /// transfer "copy BYTES from DEVICE to DEVICE".
  std::string text;
  std::string brief;                    ///< "conv2d 3x3/2 64->128 28x28 + relu"
  std::vector<WorkOperator> operators;  ///< of a kernel or part
  double flops = 0;                     ///< multiply-adds count two
  double bytes = 0;                     ///< read and written at least once
  /// A hash of kind and text.
  Digest digest() const;
  std::string id() const;  ///< its 32 hexadecimal digits
  friend bool operator==(const Work&, const Work&) = default;
};

/// How it was built.
struct BuildFacts {
  std::string backend;   ///< "llvm", "dnnl", "opencl", "sim_npu"
  std::string target;    ///< as given: "llvm -mcpu=znver4"
  std::string compiler;  ///< of code: version of Baton's code generator, Halide or the library
  int opt_level = 3;
  std::string template_name;      ///< schedule template of a kernel; a library's implementation
  std::string parameters = "{}";  ///< of the schedule, a JSON object
  std::string precision = "f32";  ///< "f32", "strict", "bf16"
  Digest digest() const;          ///< a hash of everything above
  std::string id() const;         ///< its 32 hexadecimal digits
  friend bool operator==(const BuildFacts&, const BuildFacts&) = default;
};

/// Where a kernel or part belongs in the model that it was measured in.
struct WorkOrigin {
  uint32_t id = 0;     ///< of the operator in its model
  std::string op;      ///< "nn.conv2d"
  std::string source;  ///< "line 12" or the ONNX node; empty: unknown
  friend bool operator==(const WorkOrigin&, const WorkOrigin&) = default;
};

/// A hash of the sheet's text.
Digest sheet_digest(const DeviceSheet& sheet);
/// The same without what was measured of the device, its peaks and links, which come out differently every
/// day: which device it is.
Digest sheet_identity(const DeviceSheet& sheet);
/// For two devices of one sheet_identity(): false where both say which processor they are, and differ.
bool may_be_same_processor(const DeviceSheet& a, const DeviceSheet& b);

/// Digests of the parts of a measurement that many share.
struct MeasurementKeys {
  Digest work, build, device;
};

struct Measurement {
  Work work;
  BuildFacts build;
  DeviceSheet device;   ///< where it ran
  std::string machine;  ///< a stable name of the machine, so that sheets of two are never mixed silently
  int threads = 1;
  CacheState cache = CacheState::kHot;

  std::vector<double> samples_us;       ///< raw, all of them
  std::vector<uint32_t> disturbed;      ///< indices into samples_us that do not count (note 0018)
  std::vector<uint32_t> outliers;       ///< indices that count, but lie far outside
  double median_us = 0;                 ///< of the undisturbed samples
  double cv = 0;                        ///< standard deviation over mean of the undisturbed samples
  std::optional<double> plus_minus_us;  ///< half of the 95 % interval between processes (Estimate)
  std::string unreliable;               ///< why median_us is only a guess; empty: it is not
  std::string simulated;                ///< of which device the time is computed; empty: it was measured
  double load = 0;                      ///< the one-minute load average at the start
  double others_busy = 0;               ///< CPUs used by other programs meanwhile
  /// Nanoseconds of the loop that fills the core (core_pace.h) when the samples were taken: the clock of the
  /// processor; 0: not read.
  double core_ns = 0;
  double reference_us = 0;  ///< the machine's reference kernel at that time; 0: not measured
  int64_t begun_s = 0;      ///< seconds since 1970

  std::string model;                 ///< name of the model it was measured in; empty: alone
  std::string model_id;              ///< Work::id() of that model; empty: alone
  std::string family;                ///< "resnet"; empty: none
  uint32_t node = 0;                 ///< of the model's plan
  int calls = 1;                     ///< how often the model calls this kernel
  std::vector<WorkOrigin> origins;   ///< operators of the model that it computes
  std::vector<WorkOrigin> made_for;  ///< operators that caused it (copies, changes of layout)
  double share = 1;                  ///< of a part: its fraction of the kernel's time
  std::string method;                ///< of a part: "markers", "ablation", "sampling"
  /// By which protocol it was measured: "profile" (rounds in executors of their own, note 0018), "compare"
  /// (in turn with other backends, note 0032), "campaign" (one process, note 0038); empty: an older Baton.
  std::string protocol;
  std::string campaign;       ///< of which campaign; empty: none
  std::string configuration;  ///< its key in that campaign

  MeasurementKeys keys() const;
  /// A hash of all fields, of the work its kind and text: importing a measurement twice keeps one.
  Digest digest(const MeasurementKeys& keys) const;
  std::string id() const;  ///< its 32 hexadecimal digits
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Throws Error when a number is not finite, or a disturbed sample or outlier does not exist.
void check_measurement(const Measurement& measurement);

}  // namespace baton
