#pragma once

namespace baton {

/// Enters all operators and passes into their tables and sets the default evaluator (constant folding). Once;
/// further calls do nothing. Every program calls it before anything else: command line, Python module, tests.
void initialize();

}  // namespace baton
