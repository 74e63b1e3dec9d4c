#pragma once
// One golden file: `// RUN: ...`, an input, and below `// EXPECT` what must come out.
#include <functional>
#include <string>
#include <vector>

#include "baton/pass/pass.h"

namespace baton::golden {

struct Case {
  std::string path;    ///< as shown, relative to where the program runs
  std::string passes;  ///< run one after another: `Name, Name(key=value)`; may be empty
  std::string target;  ///< `target llvm -mcpu=skylake`: what passes choose for; empty: none is entered
  int opt_level = 3;   ///< `level 4`: of the context that passes run under
  std::vector<std::string> flags;  ///< of the print at the end: "--types", "--meta", ...
  std::string form;                ///< "print", "str", "astext", "parse"
  std::string text;  ///< the file up to `// EXPECT`: what is parsed, so that lines are the file's own
  std::string expected;
  bool must_fail = false;  ///< its name begins with `fail_`
};

/// Reads a file. Throws baton::Error when it is no golden file.
Case read_case(const std::string& path);

/// What comes out: the printed text, or the rendered error.
struct Outcome {
  std::string text;
  bool failed = false;
};
/// Runs the last pass of a case, to do something else around it.
using RunPass = std::function<IRModule(const Pass&, const IRModule&, const BuildContext&)>;
Outcome run(const Case& which, const RunPass& run_last = {});

/// A case run with the handling of origins broken: as if a pass forgot, mixed up or overstated what one of
/// its nodes stands for (each node in turn, then all), or did not say what it drops.
struct Mutants {
  std::string pass;  ///< the last one
  int made = 0;      ///< those that change what a node of the result stands for, or what is retired
  std::vector<std::string>
      survivors;  ///< neither the verifier nor the expected text noticed: "swap at node 3"
};
/// `which` must pass as it is, and run passes.
Mutants mutate(const Case& which);

/// The lines that differ, with a few around them.
std::string difference(const std::string& expected, const std::string& actual);

/// Rewrites what stands below `// EXPECT`.
void update(const Case& which, const std::string& text);

}  // namespace baton::golden
