#pragma once
// What a worker measured as measurements for the store.
#include <memory>
#include <string>
#include <vector>

#include "baton/campaign/design.h"
#include "baton/campaign/subjects.h"
#include "baton/driver/build_result.h"
#include "baton/farm/job/worker.h"

namespace baton {

/// A program to measure, and how.
struct Configuration {
  std::string key;     ///< by content: 32 hexadecimal digits
  size_t subject = 0;  ///< index
  std::string backend;
  int threads = 1;
};

/// The key of a configuration: of what is measured, on which backend, with how many threads, and what the
/// design says of all: the level of the builds, the states of the caches.
std::string configuration_key(const Subject& subject, const std::string& backend, int threads,
                              const Design& design);

/// What all rows of one job share.
struct RowSource {
  const Subject* subject = nullptr;
  const BuildResult* built = nullptr;
  const Configuration* configuration = nullptr;
  const BuildContext* context = nullptr;  ///< of the build: its level, sheets of its devices
  std::string campaign, visit;            ///< visit: behind the configuration's key; empty: the first
  double reference_us = 0;
  std::string unreliable;  ///< why no row of this job is reliable; empty: each for itself
  int64_t begun_s = 0;
};

/// Rows of the whole program, of models only; of its kernels with their origins; of its copies. Throws Error
/// for a node that the program does not have.
std::vector<Measurement> measurements_of_job(const JobResult& result, const RowSource& source);

/// The one row of a configuration that could not be built or measured: without samples, unreliable, and that
/// with `why`.
Measurement failed_measurement(const RowSource& source, const std::string& why);

std::vector<double> samples_without(const std::vector<double>& samples,
                                    const std::vector<uint32_t>& left_out);

}  // namespace baton
