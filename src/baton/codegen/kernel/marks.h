#pragma once
// Timestamps at stage boundaries (design D4, method S): a Halide lowering pass, for .cc files of codegen
// only.
#include <set>
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// Stamps `baton_mark_fenced(id)` on entry and exit of every stage, and around and inside parallel loops,
/// whose iterations may run on any thread. A Func's stage is encoded in its name,
/// `<prefix>_b<block>_<op>__<stage>`. Funcs without such a name are attributed to the enclosing stage, and so
/// are stages nested in one of the same operator: the operator's total is the same, and a timestamp among a
/// tile's accumulators would spill them (a Winograd product took twice its time). With `within`, those in the
/// outermost stage are marked too: the reductions of a softmax, the transforms of a convolution that has a
/// kernel for itself.
class MarkPass final : public Halide::Internal::IRMutator {
 public:
  /// `sites`: of the same stages in another schedule of the kernel, which keep their marks.
  MarkPass(std::string prefix, const KernelVariant& variant, std::vector<MarkSite> sites = {})
      : prefix_(std::move(prefix)), variant_(variant), sites_(std::move(sites)) {}
  /// The marks, ascending by id.
  const std::vector<MarkSite>& sites() const { return sites_; }

  /// The stage that a Func belongs to; `name` is empty when it has none. The id is not set.
  static MarkSite site_of(const std::string& func, const std::string& prefix);

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;
  Halide::Internal::Stmt mark(int id) const;
  /// Whether a stage of `block` gets marks of its own in the current context.
  bool opens(int block) const;
  int id_of(const MarkSite& site);
  /// Records in the enclosing stage that `stage` is attributed to it.
  void hold(const HeldStage& stage);

  std::string prefix_;
  const KernelVariant& variant_;
  std::vector<MarkSite> sites_;
  std::vector<int> enclosing_ = {0};  // ids: stages that time is attributed to
  std::vector<int> within_ = {-1};    // blocks: enclosing operators, marked or not
};

}  // namespace baton
