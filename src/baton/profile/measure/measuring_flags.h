#pragma once
// Options that several commands have.
#include "baton/support/options/flags.h"

namespace baton {

/// --threads of a command that runs models; `threads` is 0 unless it is given: the default of all runs.
Flag& add_threads(Flags& flags, int* threads);

/// --wait of a command that measures; `seconds` is 0 unless it is given.
Flag& add_wait(Flags& flags, double* seconds);

}  // namespace baton
