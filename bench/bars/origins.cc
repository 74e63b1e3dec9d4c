// Bars of the map from operators to kernels: how much of an artifact without weights it takes, and that every
// operator is in it. Prints `bar, measured, ok` and exits with 1 when one does not hold.
#include <cstdlib>
#include <filesystem>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/load_model.h"

#include "bars/bar.h"

namespace baton {
namespace {

struct Sizes {
  double origins = 0, all = 0;  // bytes, without weights
};

Sizes sizes_of(const BuildResult& built) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("baton-origins-" + std::to_string(std::rand()) + ".baton"))
          .string();
  write_artifact(built, path);
  const auto artifact = Artifact::open(path);
  std::filesystem::remove(path);
  if (!artifact.ok()) throw Error(artifact.status().message);
  Sizes sizes;
  for (const std::string& name : (*artifact)->names())
    if (name != section::kParams) sizes.all += static_cast<double>((*artifact)->bytes(name).size());
  sizes.origins = static_cast<double>((*artifact)->bytes(section::kOrigins).size());
  return sizes;
}

double found_percent(const OperatorMap& map) {
  double found = 0;
  for (const OperatorRecord& entry : map.operators())
    found += !entry.nodes.empty() || !entry.folded_into.empty() || !entry.retired_why.empty();
  return 100 * found / static_cast<double>(map.operators().size());
}

}  // namespace
}  // namespace baton

int main() {
  using namespace baton;
  for (const char* name : {"resnet-18", "mobilenet", "squeezenet-1.1"}) {
    const LoadedModel model = load_model(name);
    BuildOptions options{.context = host_context()};
    options.params = load_params(model, "");
    options.context.passes->opt_level = 3;
    const BuildResult built = build(model.module, options);
    const std::string of = std::string(" of ") + name;
    bars::report_least(("operators found in the map" + of).c_str(), 100, found_percent(operator_map(built)),
                       "%");
    if (model.name != "resnet-18") continue;
    const Sizes sizes = sizes_of(built);
    bars::report(("origins in the artifact without weights" + of).c_str(), 5, 100 * sizes.origins / sizes.all,
                 "%");
  }
  return bars::all_hold ? 0 : 1;
}
