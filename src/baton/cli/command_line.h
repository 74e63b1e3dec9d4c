#pragma once
// Reads a command line into the values that flags name.
#include <string>
#include <vector>

#include "baton/cli/flags.h"
#include "baton/cli/verb.h"

namespace baton::cli {

/// A verb as the command line sees it.
struct VerbEntry {
  std::string name, doc;
  Flags flags;
};

struct CommandLine {
  std::string name, doc, version, footer;
  std::vector<VerbEntry> verbs;
};

/// What `--help` of the whole program shows.
std::string help(const CommandLine& line);

struct Parsed {
  int verb = -1;      ///< which one is to be run; -1: none, everything was said
  int exit_code = 0;  ///< where none is
};

/// Sets the values of the verb that is named. Writes what --help and --version ask for to `io.out`, what is
/// wrong to `io.err`.
Parsed parse(const CommandLine& line, int argc, const char* const* argv, Io& io);

/// One text, split as a shell would; what is no flag of `flags` is handed back.
struct ParsedText {
  std::string error;  ///< empty: none
  std::vector<std::string> rest;
};
ParsedText parse_text(const Flags& flags, const std::string& text);

}  // namespace baton::cli
