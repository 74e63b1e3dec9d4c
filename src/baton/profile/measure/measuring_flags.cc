#include "baton/profile/measure/measuring_flags.h"

namespace baton {

Flag& add_threads(Flags& flags, int* threads) {
  return flags
      .option(
          "threads", threads,
          "threads of the runs; 0: as many as $TVM_NUM_THREADS says, else one per processor, as in Python")
      .show_default()
      .range(0, 256);
}

Flag& add_wait(Flags& flags, double* seconds) {
  return flags
      .flag_or_value(
          "wait", seconds, "60",
          "wait until other programs leave the machine alone, at most a minute; --wait=SECONDS: at "
          "most so long")
      .range(1.0, 1e6);
}

}  // namespace baton
