#pragma once
// The passes an instrument sees during a build, compared with those in TVM 0.11.1.
#include <string>
#include <utility>
#include <vector>

#include "baton/pass/pass.h"
#include "baton/support/json.h"

namespace baton {

/// The depth and name of each pass, in the order in which they started.
using PassTree = std::vector<std::pair<int, std::string>>;

class PassTreeRecorder final : public PassInstrument {
 public:
  std::string name() const override { return "PassTreeRecorder"; }
  void run_before_pass(const IRModule&, const PassInfo& info) override {
    tree_.emplace_back(depth_++, info.name);
  }
  void run_after_pass(const IRModule&, const PassInfo&) override { --depth_; }
  const PassTree& tree() const { return tree_; }

 private:
  int depth_ = 0;
  PassTree tree_;
};

/// One line per pass, indented by two blanks per depth, without TIR passes and those of the code generator
/// (Baton's kernels come from Halide; its LowerTE represents them), and without groups that contain nothing
/// else.
std::string pass_tree_text(const PassTree& tree);
/// The same for a case of build.jsonl.gz.
PassTree reference_pass_tree(const Json& golden);
/// The passes before the group that generates kernels.
PassTree before_kernels(PassTree tree);

}  // namespace baton
