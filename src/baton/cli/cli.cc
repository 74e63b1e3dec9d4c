#include <new>

#include "baton/cli/verb.h"
#include "baton/support/diagnostic.h"
#include "baton/support/version.h"

namespace baton::cli {

#define BATON_VERB(function) std::unique_ptr<Verb> function();
#include "baton/cli/verbs.def"
#undef BATON_VERB

namespace {

constexpr int kUserError = 1, kUsageError = 2, kOurBug = 3;

int guarded(Verb& verb, Io& io) {
  try {
    return verb.run(io);
  } catch (const DiagnosticError& error) {
    io.err << error.what();
    return kUserError;
  } catch (const UsageError& error) {
    io.err << "baton " << verb.name() << ": " << error.what() << "\n  see: baton " << verb.name() << " --help\n";
    return kUsageError;
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

}  // namespace

int run(int argc, const char* const* argv, Io& io) {
  std::vector<std::unique_ptr<Verb>> verbs;
#define BATON_VERB(function) verbs.push_back(function());
#include "baton/cli/verbs.def"
#undef BATON_VERB
  CLI::App app("Compiles Relay and says what every operator costs.", "baton");
  app.set_version_flag("--version", "baton " + std::string(version()));
  app.require_subcommand(1);
  app.footer("MODEL is the name of a workload (resnet-18, vgg-11, mobilenet, ...) or a .relay file.\n"
             "In a clone, ./baton test runs all tests, and ./baton setup installs and builds.");
  std::vector<CLI::App*> apps;
  for (auto& verb : verbs) {
    apps.push_back(app.add_subcommand(verb->name(), verb->doc()));
    verb->flags(*apps.back());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, io.out, io.err) == 0 ? 0 : kUsageError;
  }
  for (size_t i = 0; i < verbs.size(); ++i)
    if (apps[i]->parsed()) return guarded(*verbs[i], io);
  return kUsageError;
}

}  // namespace baton::cli
