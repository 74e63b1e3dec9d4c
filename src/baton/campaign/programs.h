#pragma once
// Builds the programs of a campaign, several at a time.
#include <memory>
#include <string>
#include <vector>

#include "baton/campaign/rows.h"

namespace baton {

/// A subject built for a backend, and the configurations that run it.
struct Program {
  Program(const Subject& subject, std::string backend) : subject(&subject), backend(std::move(backend)) {}
  const Subject* subject;
  std::string backend;
  std::vector<const Configuration*> configurations = {};
  std::shared_ptr<const BuildResult> built = {};  ///< null: `error`
  std::string error = {};                         ///< why it could not be built
  std::string bundle = {};                        ///< as the worker knows it

  std::string name() const { return subject->work.id() + "-" + backend; }
};

/// Makes the simulated devices among `backends` ("sim_npu") devices of the context. UsageError where there is
/// none of the name.
void add_simulated_devices(BuildContext& context, const std::vector<std::string>& backends);

/// On all processors, each program by one thread. Throws Interrupted.
void build_programs(std::vector<Program>& programs, const BuildContext& context);

}  // namespace baton
