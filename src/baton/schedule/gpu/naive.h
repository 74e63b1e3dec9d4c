#pragma once
// The fallback schedule of GPUs, of which other GPU templates use parts. For .cc files of schedule only.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "baton/schedule/common.h"

namespace baton {

/// Threads per block: a multiple of the vector width of every current GPU.
inline constexpr int kThreadsPerBlock = 64;

/// How many threads a kernel should have, for the device to hide the latency of its memory. 1 where threads
/// are loops, as OpenCL devices may be processors, and where the sheet has no cores.
int64_t wanted_threads(const DeviceSheet& sheet);

/// Gives each definition of `func` a launch: one thread per element of its pure loops, which runs the
/// reduction loops; one thread in all for a definition without pure loops, whose order must be kept. The
/// loops are called "block" and "thread".
void one_thread_per_element(Halide::Func func);

/// Names of the stages and results of the blocks that the anchor reads, directly or indirectly.
std::set<std::string> read_by_anchor(const LoweredKernel& kernel);

/// Whether partial results of the update are the whole result when they are joined in any order.
bool can_be_split(const Halide::Func& func, int update);

/// Launches for Funcs that the fallback stores: one thread per element. Sums are in a register until they are
/// complete, and long sums of few elements are computed in parts, by threads of their own.
class StoredLaunches {
 public:
  /// `kernel` must outlive this.
  StoredLaunches(const LoweredKernel& kernel, const DeviceSheet& sheet);
  /// Schedules those of stored_funcs() that are named.
  void store(const std::set<std::string>& names) const;

 private:
  /// An element that a stored Func reads of another one, or of a parameter.
  struct Read {
    std::string of;
    std::vector<Halide::Expr> at;
    bool summed_in_place = false;  ///< it has sums of its own, and no memory
  };
  class Reads;

  void find_readers(const std::vector<StoredFunc>& all);
  bool is_computed_in_place(const Halide::Func& func) const;
  std::vector<Read> reads_of(const Halide::Internal::Definition& definition, const std::string& self) const;
  int64_t elements_of(const std::string& name) const;
  const Halide::Func* only_reader(const Halide::Func& func, const std::vector<Halide::Func>& launched,
                                  int parts) const;
  int lanes_for(const Halide::Func& func, int64_t terms) const;
  int split(Halide::Func func, int update) const;
  bool reads_along_sum(const Halide::Func& func, int update) const;

  const LoweredKernel& kernel_;
  const DeviceSheet& sheet_;
  std::set<std::string> stored_, outputs_;
  std::map<std::string, int64_t> elements_;  ///< without those that data determine
  struct Reader {
    std::string name;
    std::vector<Halide::Expr> at;
    int64_t times;  ///< how often, for all elements and terms; 0: not known
  };
  std::map<std::string, std::vector<Reader>> readers_;  ///< of stored Funcs
};

}  // namespace baton
