#pragma once
// Where in a Python program an operator is called.
#include <string>

#include "baton/support/source.h"

namespace baton::python {

struct CallerPlace {
  /// The line of the innermost frame outside this package (frames of relay.testing, whose networks are
  /// programs too, count): its file as the source's name, column 0 for a whole line. No line where there is
  /// no such frame.
  Span span;
  /// The lines that called the function of that line, the outermost first: "net.py:50 > net.py:31"; empty at
  /// the top level. Without installed packages and what called them, and only the nearest ones.
  std::string callers;
};
/// Requires the GIL.
CallerPlace caller_place();

}  // namespace baton::python
