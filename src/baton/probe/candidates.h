#pragma once
// What a probe chooses from: small networks of all families, and kernels like those in models, each with what
// a predictor says of its kernels before anything is measured.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/campaign/subjects.h"
#include "baton/pass/build_context.h"
#include "baton/predict/predictor.h"
#include "baton/probe/choose.h"

namespace baton {

struct ProbeCandidates {
  std::vector<Subject> subjects;
  std::vector<DoubtedProgram> programs;  ///< by subject; without kernels: it cannot be planned
  std::vector<DoubtedKernel> kernels;
};

/// `backend`: of the kernels; the predictor has some of it. `context`: of the builds, with the sheet and the
/// rates of the machine to measure. `seed`: of what is drawn. Throws Interrupted.
ProbeCandidates probe_candidates(const Predictor& predictor, const std::string& backend,
                                 const BuildContext& context, uint64_t seed);

}  // namespace baton
