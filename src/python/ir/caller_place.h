#pragma once
// Where in a Python program an operator is called.
#include "baton/support/source.h"

namespace baton::python {

/// The line of the innermost frame outside this package (frames of relay.testing, whose networks are programs
/// too, count): its file as the source's name, column 0 for a whole line. No line where there is no such
/// frame. Requires the GIL.
Span caller_span();

}  // namespace baton::python
