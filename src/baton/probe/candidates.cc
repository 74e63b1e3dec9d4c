#include "baton/probe/candidates.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "baton/campaign/design.h"
#include "baton/driver/build.h"
#include "baton/frontend/variations/variations.h"
#include "baton/predict/kernel_facts.h"
#include "baton/predict/model/kernel_times.h"
#include "baton/predict/side_by_side.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr int kNetworksOfFamily = 6, kPatterns = 250;
constexpr double kMostNetworkUs = 100000;  // of variations::estimated_us()
// What a kernel is off by on another machine, beside what the predictor's members disagree by.
constexpr double kMovedDoubt = 0.2;
constexpr double kLeastScale = 0.25;  // of a feature that hardly varies

/// The kernels of one program as they will be measured, and how often it calls each.
struct CandidateKernels {
  std::vector<KernelCase> cases;
  std::vector<double> calls;
};

CandidateKernels planned_kernels(const Subject& subject, const BuildContext& context) {
  CandidateKernels found;
  BuildOptions how;
  how.params = weights_of(subject);
  how.context = context;
  how.context.threads = 1;
  const BuildResult planned = plan_build(subject.module, how);
  PredictOptions options;
  options.context = context;
  const PredictedKernels kernels = predict_kernels(planned, options, 1);
  std::vector<double> calls(kernels.kernels.size());
  for (const PlannedNode& node : planned.plan.nodes)
    if (node.kernel >= 0) calls[static_cast<size_t>(node.kernel)] += 1;
  for (size_t i = 0; i < kernels.kernels.size(); ++i) {
    if (!kernels.kernels[i].called || kernels.kernels[i].exact) continue;
    KernelCase& kernel = found.cases.emplace_back(kernels.kernels[i].kernel);
    found.calls.push_back(calls[i]);
    if (subject.kind == Subject::Kind::kModel) continue;
    kernel.cache = CacheState::kHot;  // measured by itself
    kernel.model = {};
  }
  return found;
}

std::vector<Subject> subjects_to_choose_from(const BuildContext& context, uint64_t seed) {
  Design design;
  design.seed = seed;
  design.patterns = kPatterns;
  for (const variations::Family& family : variations::families())
    design.families.push_back({family.name, kNetworksOfFamily, static_cast<int64_t>(seed) * 1000});
  std::vector<Subject> all = subjects_of(design, context, [](const Work&) { return 1.0; });
  std::erase_if(all, [](const Subject& subject) {
    return subject.kind == Subject::Kind::kModel &&
           variations::estimated_us(*subject.module) > kMostNetworkUs;
  });
  return all;
}

/// The features that tell how near kernels are, in standard deviations over all of them.
void set_places(const FeatureSpace& space, const std::vector<const KernelCase*>& cases,
                std::vector<DoubtedKernel>& kernels) {
  std::vector<std::vector<float>> rows;
  for (const KernelCase* each : cases) rows.push_back(space.values(*each));
  const auto n = static_cast<double>(rows.size());
  for (size_t column = 0; column < space.size(); ++column) {
    const FeatureInfo& feature = space.features()[column];
    if (!feature.is_near || feature.name.starts_with("is ")) continue;
    double sum = 0, squares = 0;
    for (std::vector<float>& row : rows) {
      if (!std::isfinite(row[column])) row[column] = 0;
      sum += row[column];
      squares += static_cast<double>(row[column]) * row[column];
    }
    const double scale = std::max(kLeastScale, std::sqrt(std::max(0.0, squares / n - sum / n * sum / n)));
    for (size_t i = 0; i < rows.size(); ++i) kernels[i].place.push_back(rows[i][column] / scale);
  }
}

}  // namespace

ProbeCandidates probe_candidates(const Predictor& predictor, const std::string& backend,
                                 const BuildContext& context, uint64_t seed) {
  ProbeCandidates made;
  made.subjects = subjects_to_choose_from(context, seed);
  std::vector<CandidateKernels> planned(made.subjects.size());
  side_by_side(planned.size(), default_threads(), [&](size_t i) {
    stop_if_asked(context.interrupt);
    try {
      planned[i] = planned_kernels(made.subjects[i], context);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // a kernel that no predictor describes: not chosen
    }
  });
  std::vector<const KernelCase*> cases;
  for (size_t i = 0; i < planned.size(); ++i) {
    DoubtedProgram& program = made.programs.emplace_back();
    program.is_network = made.subjects[i].kind == Subject::Kind::kModel;
    for (const KernelCase& each : planned[i].cases) {
      program.kernels.push_back(static_cast<int>(cases.size()));
      cases.push_back(&each);
    }
  }
  const std::vector<TimePrediction> times = predictor.predict(cases);
  for (size_t i = 0; i < cases.size(); ++i)
    made.kernels.push_back({{},
                            kind_of_kernel(*cases[i]),
                            cases[i]->template_name,
                            kMovedDoubt + times[i].doubts.disagreement,
                            0});
  set_places(predictor.kernels.at(backend).space, cases, made.kernels);
  for (size_t i = 0; i < planned.size(); ++i) {
    if (!made.programs[i].is_network) continue;
    const std::vector<int>& its = made.programs[i].kernels;
    double whole = 0;
    for (size_t k = 0; k < its.size(); ++k)
      whole += planned[i].calls[k] * times[static_cast<size_t>(its[k])].us;
    for (size_t k = 0; k < its.size(); ++k)
      made.kernels[static_cast<size_t>(its[k])].weight =
          planned[i].calls[k] * times[static_cast<size_t>(its[k])].us / whole;
  }
  return made;
}

}  // namespace baton
