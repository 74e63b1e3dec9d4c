#pragma once
// The laboratory: the verbs that measure campaigns, train, predict, tune and map, and what `profile` needs of
// them. It is a library of its own (src/baton/cli/lab/ and what only that includes), which is loaded when it
// is first asked for, and in a clone built then: whoever compiles and profiles does not wait for it.
#include <memory>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/profile/report/run_profile.h"

namespace baton::cli {

/// What was profiled. Of an artifact there is no build and no module.
struct ProfiledModel {
  const BuildResult* build = nullptr;
  IRModule module = {};                    ///< before optimisation
  const ProgramSource* program = nullptr;  ///< of a program
};

/// The other backends of `profile --compare`.
class ComparedProfile {
 public:
  virtual ~ComparedProfile() = default;
  /// The build for the first backend, of which the profile is made.
  virtual BuildResult build(const IRModule& module, const BuildOptions& options) const = 0;
  /// As run_compare().
  virtual ProfileReport profile(const BuiltModel& built, const ProfileCommand& command,
                                const MeasuringBegins& begins) const = 0;
};

/// The store of measurements of `profile --store`.
class ProfileStore {
 public:
  virtual ~ProfileStore() = default;
  /// Adds a profile's times. `model`: as given on the command line; `begun_s`: when it began, Unix time.
  virtual void add(const ProfileReport& report, const ProfiledModel& profiled, const BuildContext& context,
                   const std::string& model, int64_t begun_s) = 0;
  virtual const std::string& path() const = 0;
  virtual int64_t added() const = 0;  ///< rows that were new
};

class Laboratory {
 public:
  virtual ~Laboratory() = default;
  /// A verb of lab_verbs.def.
  virtual std::unique_ptr<Verb> verb(const std::string& name) const = 0;
  /// Throws for backends that are unknown or not here.
  virtual std::unique_ptr<ComparedProfile> compare(const std::vector<std::string>& backends,
                                                   const BuildContext& context) const = 0;
  /// Opens the store, or makes it. `path`: a file, or "default"; `family`: of the models; empty: that of a
  /// workload by its name.
  virtual std::unique_ptr<ProfileStore> store(const std::string& path, const std::string& family) const = 0;
};

/// Loads it, and builds it before that in a clone that has not. Throws Error, which says what to do.
const Laboratory& laboratory();

/// --store FILE of verbs that add rows.
void add_store_flag(Flags& flags, std::string* path);

}  // namespace baton::cli
