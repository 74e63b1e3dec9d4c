#pragma once

namespace baton {

/// Registers all operators and passes and sets the default evaluator (constant folding). Idempotent. Every
/// program calls it first: command line, Python module, tests.
void initialize();

}  // namespace baton
