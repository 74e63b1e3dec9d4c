#pragma once
// What an instrument sees during a build, beside what it sees in TVM 0.11.1.
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "baton/pass/pass.h"

namespace baton {

/// The depth and name of each pass, in the order in which they began.
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

/// A line per pass, two blanks per depth, without the passes over TIR and those of the code generator
/// (Baton's kernels come from Halide; its LowerTE stands for them), and without groups that hold nothing
/// else.
std::string pass_tree_text(const PassTree& tree);
/// The same of a case of build.jsonl.gz.
PassTree reference_pass_tree(const nlohmann::json& golden);
/// Up to the group that makes kernels.
PassTree before_kernels(PassTree tree);

}  // namespace baton
