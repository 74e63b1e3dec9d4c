#include <algorithm>
#include <new>

#include "baton/cli/command_line.h"
#include "baton/cli/laboratory.h"
#include "baton/cli/verb.h"
#include "baton/codegen/compiler.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/plugin.h"
#include "baton/support/clone.h"
#include "baton/support/diagnostic.h"
#include "baton/support/environment_complaints.h"
#include "baton/support/version.h"
#include "baton/target/target.h"

namespace baton::cli {

#define BATON_VERB(function) std::unique_ptr<Verb> function();
#include "baton/cli/verbs.def"
#undef BATON_VERB

namespace {

constexpr int kUserError = 1, kUsageError = 2, kOurBug = 3,
              kInterrupted = 130;  // 130: the shells' exit code for SIGINT

/// A verb of the laboratory. Its flags are known once that is loaded: when it is called, not when it is
/// listed.
class LabVerb final : public Verb {
 public:
  using Verb::Verb;
  void flags(Flags& flags) override {
    if (loaded_) loaded_->flags(flags);
  }
  int run(Io& io) override { return loaded_->run(io); }
  void load() { loaded_ = laboratory().verb(name()); }

 private:
  std::unique_ptr<Verb> loaded_;
};

/// What `work` returns, or the exit code of the error that it threw, which is written to `io.err`.
template <class Work>
int guarded(const std::string& verb, Io& io, Work work) {
  try {
    return work();
  } catch (const DiagnosticError& error) {
    io.err << error.what();
    return kUserError;
  } catch (const UsageError& error) {
    io.err << "baton " << verb << ": " << error.what() << "\n  see: baton " << verb << " --help\n";
    return kUsageError;
  } catch (const Interrupted& error) {
    io.err << "baton " << verb << ": " << error.what() << std::endl;
    return kInterrupted;
  } catch (const Error& error) {
    io.err << "baton " << verb << ": " << error.what() << '\n';
    return kUserError;
  } catch (const std::bad_alloc&) {
    io.err << "baton " << verb << ": out of memory\n";
    return kUserError;
  } catch (const std::exception& error) {
    io.err << "baton " << verb << ": a bug in Baton: " << error.what()
           << "\n  please report it with the command and the model that showed it\n";
    return kOurBug;
  }
}

int run(Verb& verb, Io& io) {
  Plugin::set_builder(build_part);
  for (const EnvironmentComplaint& each : environment_complaints()) {
    if (each.is_error) throw UsageError(each.text);
    io.err << "baton: warning: " << each.text << '\n';
  }
  if (!io.device_alias.empty()) {
    initialize();  // registers the kinds that it may name
    set_device_aliases(io.device_alias);
  }
  return verb.run(io);
}

std::string unknown_verb(const std::string& given, const std::vector<std::unique_ptr<Verb>>& verbs) {
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.push_back(verb->name());
  const std::string near = did_you_mean(given, names);
  std::string text =
      "baton: there is no verb `" + given + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?");
  text += "\n  verbs:";
  for (const std::string& name : names) text += " " + name;
  return text + "\n  see: baton --help\n";
}

}  // namespace

int run(int argc, const char* const* argv, Io& io) {
  std::vector<std::unique_ptr<Verb>> verbs;
#define BATON_VERB(function) verbs.push_back(function());
#include "baton/cli/verbs.def"
#undef BATON_VERB
  LabVerb* called = nullptr;
  const auto add_lab_verb = [&](const char* name, const char* doc) {
    auto verb = std::make_unique<LabVerb>(name, doc);
    if (argc > 1 && verb->name() == argv[1]) called = verb.get();
    verbs.push_back(std::move(verb));
  };
#define BATON_LAB_VERB(function, name, doc) add_lab_verb(name, doc);
#include "baton/cli/lab_verbs.def"
#undef BATON_LAB_VERB
  std::ranges::sort(verbs, {}, [](const auto& verb) { return verb->name(); });
  if (called)
    if (const int failed = guarded(called->name(), io, [&] { return called->load(), 0; })) return failed;
  CommandLine line{
      "baton",
      "Compiles Relay and says what every operator costs.",
      "baton " + std::string(version()),
      "MODEL is the name of a workload (resnet-18, vgg-11, mobilenet, ...: baton models lists them), a "
      "file (ONNX, Relay text, TVM's JSON), or - for Relay text on standard input.\n"
      "In a clone, ./baton test runs all tests, ./baton python ARGS is Python with the package, and ./baton "
      "setup installs and builds.",
      {}};
  for (const auto& verb : verbs)
    verb->flags(line.verbs.emplace_back(VerbEntry{verb->name(), verb->doc(), {}}).flags);
  if (argc < 2) {
    io.err << help(line);
    return kUsageError;
  }
  if (const std::string first = argv[1];
      first[0] != '-' &&
      std::ranges::none_of(verbs, [&](const auto& verb) { return verb->name() == first; })) {
    io.err << unknown_verb(first, verbs);
    return kUsageError;
  }
  const Parsed parsed = parse(line, argc, argv, io);
  io.given = parsed.given;
  if (parsed.verb < 0) return parsed.exit_code;
  Verb& verb = *verbs[parsed.verb];
  return guarded(verb.name(), io, [&] { return run(verb, io); });
}

}  // namespace baton::cli
