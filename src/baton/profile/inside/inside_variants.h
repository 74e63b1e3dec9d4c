#pragma once
// The builds of one kernel that are compared: for .cc files of profile only.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baton/driver/build_result.h"
#include "baton/profile/inside/inside_split.h"

namespace baton {

/// One build of a kernel, loaded.
struct Variant {
  KernelRequest request;
  KernelRef kernel;
  KernelFunction function = nullptr;
  std::shared_ptr<const KernelLibrary> library;  ///< the library that contains it
};

/// All variants of one kernel: plain, twin, marked, doubled, then one per group of `ablated`. A kernel of one
/// operator and one stage has only the first, unless thread loads are measured.
struct MeasuredKernel : InsideSubject {
  const BuiltKernel* built = nullptr;
  uint32_t node = 0;  ///< the first plan node that calls it
  std::vector<Variant> variants;
  bool within = true;            ///< also mark the result's own stages (KernelVariant::within)
  std::set<std::string> merged;  ///< stages that are not marked

  /// Whether there is nothing to split.
  bool whole() const { return blocks.size() < 2 && marks.size() < 2; }
};
enum : size_t { kPlain, kTwin, kMarked, kDoubled, kFirstAblated };

/// The kernels of `built`, each with all its variants compiled and loaded.
std::vector<std::unique_ptr<MeasuredKernel>> make_variants(const BuildResult& built, bool watch_threads,
                                                           const BuildContext& context);

/// Rebuilds the marked variants of these kernels, each with its current `within` and `merged`.
void mark_again(const std::vector<MeasuredKernel*>& kernels, const BuildContext& context);

}  // namespace baton
