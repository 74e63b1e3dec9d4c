// What libbaton_lab_verbs.so gives to the program.
#include "baton/cli/laboratory.h"

#include "baton/cli/lab/query_flags.h"
#include "baton/cli/outputs.h"
#include "baton/driver/initialize.h"
#include "baton/profile/compare/compare.h"
#include "baton/profile/record/record.h"
#include "baton/store/store.h"
#include "baton/support/error.h"
#include "baton/target/machine_name.h"

namespace baton::cli {

#define BATON_LAB_VERB(function, name, doc) std::unique_ptr<Verb> function(std::string, std::string);
#include "baton/cli/lab_verbs.def"
#undef BATON_LAB_VERB

namespace {

class Compared final : public ComparedProfile {
 public:
  explicit Compared(std::vector<ComparedBackend> backends) : backends_(std::move(backends)) {}

  BuildResult build(const IRModule& module, const BuildOptions& options) const override {
    return build_for(backends_.front(), module, options);
  }

  ProfileReport profile(const BuiltModel& built, const ProfileCommand& command,
                        const MeasuringBegins& begins) const override {
    const BuildOptions how{.params = built.params, .context = command.options.context};
    return run_compare(built.model.module, built.build, backends_, command, how, {}, begins);
  }

 private:
  std::vector<ComparedBackend> backends_;
};

class OpenedStore final : public ProfileStore {
 public:
  OpenedStore(const std::string& path, std::string family)
      : path_(store_path(path)), family_(std::move(family)) {
    Store::open(path_, Store::Mode::kWrite);
  }

  void add(const ProfileReport& report, const ProfiledModel& profiled, const BuildContext& context,
           const std::string& model, int64_t begun_s) override {
    RecordSource source{profiled.build, profiled.program, profiled.module, &context};
    source.machine = machine_name();
    source.family = family_.empty() ? family_of_workload(model) : family_;
    source.begun_s = begun_s;
    const std::vector<Measurement> rows = measurements_of(report, source);
    // Opened for each profile: other processes write meanwhile.
    added_ += Store::open(path_, Store::Mode::kWrite).insert(rows);
  }

  const std::string& path() const override { return path_; }
  int64_t added() const override { return added_; }

 private:
  std::string path_, family_;
  int64_t added_ = 0;
};

class Loaded final : public Laboratory {
 public:
  std::unique_ptr<Verb> verb(const std::string& name) const override {
#define BATON_LAB_VERB(function, its_name, doc) \
  if (name == its_name) return function(its_name, doc);
#include "baton/cli/lab_verbs.def"
#undef BATON_LAB_VERB
    throw Error("the laboratory has no verb `" + name +
                "`: it was built from other sources than the program");
  }

  std::unique_ptr<ComparedProfile> compare(const std::vector<std::string>& backends,
                                           const BuildContext& context) const override {
    initialize();
    return std::make_unique<Compared>(compared_backends(backends, context));
  }

  std::unique_ptr<ProfileStore> store(const std::string& path, const std::string& family) const override {
    return std::make_unique<OpenedStore>(path, family);
  }
};

}  // namespace

extern "C" const Laboratory* baton_laboratory() {
  static const Loaded loaded;
  return &loaded;
}

}  // namespace baton::cli
