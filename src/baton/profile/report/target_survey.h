#pragma once
// What this machine can run: every backend with its device, or the reason why not, and what was measured of
// them: the contents of `baton targets`.
#include <atomic>
#include <functional>
#include <string>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/pass/build_context.h"
#include "baton/support/json.h"

namespace baton {

struct SurveyOptions {
  bool measure = true;  ///< false: only what is there
  bool again = false;   ///< measures anew, whatever the cache has
  int threads = 1;      ///< of the processor's peaks
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const std::string& what, int done, int total)> progress = {};
};

/// JSON, of which design note 0030 has the schema. Measurements are kept in the cache for a day, with when
/// and by which version they were made. Interrupted when asked to stop.
Json survey_targets(const BuildContext& context, KernelCache& cache, const SurveyOptions& options);

/// The same for people: one line per target, then the links, in `width` columns.
std::string survey_text(const Json& survey, int width);

}  // namespace baton
