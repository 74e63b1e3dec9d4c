#pragma once
// Attribution of blocks to stages for a kernel being split. No times.
#include <map>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// A kernel being measured.
struct InsideSubject {
  std::vector<KernelBlock> blocks;
  std::vector<std::vector<std::string>> stages;  ///< per block: its stages, in creation order
  std::vector<MarkSite> marks;                   ///< of the marked variant
  std::vector<std::vector<int>> ablated;         ///< groups of blocks ablated together, one variant each
};

/// Whether it is the stage that stores the kernel's results. It is never merged.
bool is_root(const InsideSubject& subject, const MarkSite& site);

/// The groups of blocks to ablate: blocks without a stage of their own, which are in the registers of the
/// consuming stage; and the last one, when it shares its stage. Only blocks accepted by refuses_ablation().
/// Blocks of one operator in one stage (the multiply and the add of a batch_norm) form one group.
std::vector<std::vector<int>> ablatable(const InsideSubject& subject);

/// Indices of the sites by operator in program order; stages of one operator in creation order.
std::vector<size_t> in_order(const InsideSubject& subject);

/// The stage that computes a block: its own operator's last one; for a block in registers the first stage
/// (pad, in_xf) of its nearest consumer. An index into `marks`; -1: none.
int stage_of(const InsideSubject& subject, int block);

/// "out_xf, relu": merged stages first, then the stage their time is attributed to.
std::string stage_text(const MarkSite& site);

/// The blocks a site's time belongs to: its own operator's, and those merged into it. The loop of a reshape
/// or a transposition that stores what another operator computes in it belongs to that operator.
std::vector<int> blocks_of(const InsideSubject& subject, const MarkSite& site);

/// Whether the block is a reshape without a stage of its own: another way to count the elements of its input.
bool moves_nothing(const InsideSubject& subject, int block);

/// The blocks that only move elements, in the loop of another operator: what they cost is how much faster the
/// kernel is without them (without_move()).
std::vector<int> movable(const InsideSubject& subject);

/// By stage: blocks in its registers that could not be ablated.
std::map<int, std::vector<int>> left_in(const InsideSubject& subject);

}  // namespace baton
