#pragma once
// The kernels of a build beside the same operators on other backends. Plain values; their JSON form is a
// contract: design note 0032.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace baton {

/// What offloading means for a fused function.
enum class OffloadVerdict {
  kNotTaken,     ///< the backend does not compute it, OffloadRow::why
  kWrong,        ///< its results differ from the base's, OffloadRow::why
  kNotMeasured,  ///< OffloadRow::why
  kUnreliable,   ///< too few rounds to say so, OffloadRow::why
  kFaster,
  kSlower,
  kWithinNoise
};
/// "not taken", "wrong", "not measured", "unreliable", "faster", "slower", "within noise".
const char* verdict_name(OffloadVerdict verdict);
/// Throws Error for other texts.
OffloadVerdict verdict_named(const std::string& name);

/// A fused function of the base, computed by another backend.
struct OffloadRow {
  std::string backend;
  OffloadVerdict verdict = OffloadVerdict::kNotMeasured;
  std::string why = {};  ///< it was not taken, is wrong, or was not measured; else empty
  /// Microseconds. Kernels by the clock of the device; copies between the base's device and this one, by
  /// ours; changes of layouts: those that the base's layouts make necessary, and the backend's own.
  double kernels_us = 0, copies_us = 0, layouts_us = 0;
  double total_us = 0;  ///< of the three
  double run_us = 0;    ///< a whole run from memory of the base's device to it, by our clock, without timers
  std::vector<double> rounds_us = {};  ///< the total in each round
  std::optional<double> interval_us =
      {};                         ///< half of the 95 % interval of total - own; nullopt: too few rounds
  double copied_bytes = 0;        ///< in and out
  uint32_t kernels = 0;           ///< that compute it there, without copies and changes of layout
  double largest_difference = 0;  ///< of a result from the base's, relative to the largest magnitude
};

/// Equal kernels of the base build, measured once.
struct ComparedFunction {
  uint32_t node = 0;            ///< the first that calls it
  std::vector<uint32_t> nodes;  ///< all of them
  std::string func_name, title;
  std::string backend;                      ///< that computes it in the base build
  std::vector<uint32_t> origins, made_for;  ///< operators, of the first node
  double own_us = 0;                        ///< alone, with warm caches
  std::vector<double> rounds_us;            ///< the median of each round
  std::string under_load;                   ///< what ran beside it all the time; empty: little
  double core_ns = 0;                       ///< meanwhile (Estimate::core_ns), of the other backends too
  std::string why;                          ///< it has no rows: why it could not be compared; else empty
  std::vector<OffloadRow> others;           ///< one per other backend, in the order asked

  double calls() const { return static_cast<double>(nodes.size()); }
};

/// The whole program, every function at its fastest place.
struct Comparison {
  std::string base;
  std::vector<std::string> others;
  std::vector<ComparedFunction> functions;  ///< in execution order
  std::string partial;                      ///< why functions are missing: "interrupted"; empty: complete
  std::vector<std::string> notes;

  /// The sum of all kernels on the base.
  double base_us() const;
  /// The same with each function on the backend that is significantly faster, transfers included.
  double best_us() const;
  /// Calls for which `backend` is the best choice, the base included.
  size_t best_calls(const std::string& backend) const;
  /// "dnnl computes node 3 `fused_nn_conv2d` differently: ..." for each wrong row.
  std::vector<std::string> wrong() const;
};

/// The other backend on which the function is significantly faster than on the base; null: the base.
const OffloadRow* best_choice(const ComparedFunction& function);

}  // namespace baton
