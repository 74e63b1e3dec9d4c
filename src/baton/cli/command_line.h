#pragma once
// Parses a command line into the variables bound to flags.
#include <set>
#include <string>
#include <vector>

#include "baton/cli/verb.h"
#include "baton/support/options/flags.h"

namespace baton::cli {

/// A verb and its flags.
struct VerbEntry {
  std::string name, doc;
  Flags flags;
};

struct CommandLine {
  std::string name, doc, version, footer;
  std::vector<VerbEntry> verbs;
};

/// The output of `--help` for the whole program.
std::string help(const CommandLine& line);

struct Parsed {
  int verb = -1;                     ///< the verb to run; -1: none, all output is done
  int exit_code = 0;                 ///< if there is no verb to run
  std::set<std::string> given = {};  ///< options that were on the command line, by their long names
};

/// Sets the values of the given verb's flags. Writes --help and --version output to `io.out`, errors to
/// `io.err`.
Parsed parse(const CommandLine& line, int argc, const char* const* argv, Io& io);

/// A text split as by a shell; words that are not in `flags` are returned.
struct ParsedText {
  std::string error;  ///< empty on success
  std::vector<std::string> rest;
};
ParsedText parse_text(const Flags& flags, const std::string& text);

}  // namespace baton::cli
