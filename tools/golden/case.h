#pragma once
// One golden file: `// RUN: ...`, an input, and below `// EXPECT` what must come out.
#include <string>
#include <vector>

namespace baton::golden {

/// A pass of a RUN line: `Name` or `Name(key=value, key=value)`.
struct Step {
  std::string name;
  std::string args;  ///< what stands between the parentheses
};

struct Case {
  std::string path;                ///< as shown, relative to where the program runs
  std::vector<Step> passes;        ///< run one after another
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
Outcome run(const Case& which);

/// The lines that differ, with a few around them.
std::string difference(const std::string& expected, const std::string& actual);

/// Rewrites what stands below `// EXPECT`.
void update(const Case& which, const std::string& text);

}  // namespace baton::golden
