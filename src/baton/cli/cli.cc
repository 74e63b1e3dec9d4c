#include <algorithm>
#include <new>

#include "baton/cli/verb.h"
#include "baton/codegen/background.h"
#include "baton/codegen/compiler.h"
#include "baton/support/diagnostic.h"
#include "baton/support/version.h"

namespace baton::cli {

#define BATON_VERB(function) std::unique_ptr<Verb> function();
#include "baton/cli/verbs.def"
#undef BATON_VERB

namespace {

constexpr int kUserError = 1, kUsageError = 2, kOurBug = 3,
              kInterrupted = 130;  // 130: as shells say it of SIGINT

int guarded(Verb& verb, Io& io) {
  try {
    return verb.run(io);
  } catch (const DiagnosticError& error) {
    io.err << error.what();
    return kUserError;
  } catch (const UsageError& error) {
    io.err << "baton " << verb.name() << ": " << error.what() << "\n  see: baton " << verb.name()
           << " --help\n";
    return kUsageError;
  } catch (const Interrupted& error) {
    io.err << "baton " << verb.name() << ": " << error.what() << std::endl;
    wait_for_background_work();
    return kInterrupted;
  } catch (const Error& error) {
    io.err << "baton " << verb.name() << ": " << error.what() << '\n';
    return kUserError;
  } catch (const std::bad_alloc&) {
    io.err << "baton " << verb.name() << ": out of memory\n";
    return kUserError;
  } catch (const std::exception& error) {
    io.err << "baton " << verb.name() << ": a bug in Baton: " << error.what()
           << "\n  please report it with the command and the model that showed it\n";
    return kOurBug;
  }
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
  CLI::App app("Compiles Relay and says what every operator costs.", "baton");
  app.set_version_flag("--version", "baton " + std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "MODEL is the name of a workload (resnet-18, vgg-11, mobilenet, ...) or a .relay file.\n"
      "In a clone, ./baton test runs all tests, ./baton python ARGS is Python with the package, and ./baton "
      "setup installs and builds.");
  std::vector<CLI::App*> apps;
  for (auto& verb : verbs) {
    apps.push_back(app.add_subcommand(verb->name(), verb->doc()));
    verb->flags(*apps.back());
  }
  if (argc < 2) {
    io.err << app.help();
    return kUsageError;
  }
  if (const std::string first = argv[1];
      first[0] != '-' &&
      std::ranges::none_of(verbs, [&](const auto& verb) { return verb->name() == first; })) {
    io.err << unknown_verb(first, verbs);
    return kUsageError;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, io.out, io.err);  // --help, --version
    const auto* verb = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
    const std::string name = verb == &app ? "baton" : "baton " + verb->get_name();
    io.err << name << ": " << error.what() << "\n  see: " << name << " --help\n";
    return kUsageError;
  }
  for (size_t i = 0; i < verbs.size(); ++i)
    if (apps[i]->parsed()) return guarded(*verbs[i], io);
  return kUsageError;
}

}  // namespace baton::cli
