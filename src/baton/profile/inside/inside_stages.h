#pragma once
// Blocks and stages of a kernel whose inside is measured: which stage whose time is in. No times.
#include <map>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// A kernel that was measured.
struct InsideSubject {
  std::vector<KernelBlock> blocks;
  std::vector<std::vector<std::string>> stages;  ///< per block: its stages, in the order made
  std::vector<MarkSite> marks;                   ///< of the marked variant
  std::vector<std::vector<int>> ablated;         ///< blocks that were left out together, one variant each
};

/// The stage that the kernel's results are stored in. It is never merged.
bool is_root(const InsideSubject& subject, const MarkSite& site);

/// What is worth ablating: blocks without a stage of their own, for they live in the registers of the stage
/// that consumes them; and the last one, when it shares its stage with others. Only what refuses_ablation()
/// has nothing against. Blocks of one operator in one stage (the multiply and the add of a batch_norm) are
/// left out together.
std::vector<std::vector<int>> ablatable(const InsideSubject& subject);

/// Indices of the sites by operator, so that the operators' order is that of the program; stages of one
/// operator as they were made.
std::vector<size_t> in_order(const InsideSubject& subject);

/// The stage that a block sits in: its own operator's last, where its value is made; for one that lives in
/// registers its nearest consumer's first (pad, in_xf), where it is read. An index of `marks`; -1: none.
int stage_of(const InsideSubject& subject, int block);

/// "out_xf, relu": what was too short to be marked stands before what it was billed to.
std::string stage_text(const MarkSite& site);

/// Whose time a site's is: its own operator's, and that of what was merged into it.
std::vector<int> blocks_of(const MarkSite& site);

/// By stage: blocks that live in its registers and could not be left out.
std::map<int, std::vector<int>> left_in(const InsideSubject& subject);

}  // namespace baton
