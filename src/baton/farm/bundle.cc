#include "baton/farm/bundle.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <unistd.h>

#include "baton/driver/build.h"
#include "baton/farm/job/bundle_files.h"
#include "baton/farm/job/expectations.h"
#include "baton/farm/job/sha256.h"
#include "baton/support/base/files.h"
#include "baton/support/require.h"
#include "baton/support/version.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArtifact = "model.baton";
constexpr const char* kExpectations = "outputs.params";

/// A folder under a temporary name beside its own, removed unless it is kept.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    std::error_code failed;
    if (fs::exists(fs::symlink_status(path_)))
      throw Error("cannot write the bundle `" + path_ + "`: it exists already");
    temporary_ = path_ + ".new." + std::to_string(getpid());
    fs::remove_all(temporary_, failed);
    if (!fs::create_directories(temporary_, failed) || failed)
      throw Error("cannot write the bundle `" + path_ + "`: " + failed.message());
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  std::string file(const std::string& name) const { return temporary_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    if (const Status status = replace_file(file(name), {text}); !status.ok())
      throw Error("cannot write the bundle `" + path_ + "`: " + status.message);
  }
  void keep() {
    std::error_code failed;
    fs::rename(temporary_, path_, failed);
    if (failed) throw Error("cannot write the bundle `" + path_ + "`: " + failed.message());
    temporary_.clear();
  }

 private:
  std::string path_, temporary_;
};

std::vector<BundleInput> inputs_of(const BuildResult& result, const BundleOptions& options) {
  const Plan& plan = *result.plan.graph;
  std::vector<BundleInput> inputs;
  for (const uint32_t node : plan.arg_nodes) {
    const PlanNode& argument = plan.nodes[node];
    const bool constant =
        std::ranges::any_of(result.params(), [&](const auto& param) { return param.first == argument.name; });
    if (constant) continue;
    const PlanEntry& entry = plan.entries[argument.first_entry];
    BundleInput& input =
        inputs.emplace_back(BundleInput{argument.name, entry.shape, entry.dtype, default_range(entry.dtype)});
    for (const auto& [name, range] : options.ranges)
      if (name == input.name) input.range = range;
  }
  return inputs;
}

Tolerance tolerance_of(const std::vector<BundleOutput>& outputs) {
  Tolerance tolerance;
  for (const BundleOutput& output : outputs) {
    const bool real = output.dtype.is_float() || output.dtype.is_bfloat();
    const double scale = !real ? 0 : output.dtype.bits <= 16 ? 10 : 1;
    tolerance.relative = std::max(tolerance.relative, 1e-3 * scale);
    tolerance.absolute = std::max(tolerance.absolute, 1e-4 * scale);
  }
  return tolerance;
}

BundleFile file_of(std::string_view bytes) { return {static_cast<int64_t>(bytes.size()), sha256_hex(bytes)}; }

}  // namespace

std::vector<NDArray> reference_outputs(const BuildResult& result, const BundleOptions& options) {
  const std::unique_ptr<Executor> executor = make_executor(result);
  executor->set_threads(options.threads);
  set_bundle_inputs(*executor, inputs_of(result, options));
  require(executor->run());
  std::vector<NDArray> outputs;
  for (const NDArray& output : outputs_of(*executor)) outputs.push_back(output.copy());
  return outputs;
}

std::string write_bundle(const BuildResult& result, const std::string& folder, const BundleOptions& options) {
  NewFolder files(folder);
  BundleManifest manifest;
  manifest.baton = version();
  manifest.created_s =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  manifest.model = options.model;
  manifest.target = targets_text(result.targets);
  manifest.code_target = result.host_code().target;
  for (const BackendCode& code : result.device_code())
    if (std::ranges::find(manifest.plugins, code.plugin) == manifest.plugins.end())
      manifest.plugins.push_back(code.plugin);
  manifest.threads = options.threads;
  manifest.artifact = kArtifact;
  manifest.expectations = kExpectations;
  manifest.inputs = inputs_of(result, options);

  write_artifact(result, files.file(kArtifact), /*origins=*/false);
  const Expectations expected =
      expect(options.reference.empty() ? reference_outputs(result, options) : options.reference);
  manifest.outputs = expected.outputs;
  manifest.tolerance = options.tolerance.value_or(tolerance_of(expected.outputs));
  files.write(kExpectations, write_params_blob(expected.sampled));
  for (const char* name : {kArtifact, kExpectations}) {
    const Result<std::string> bytes = read_file(files.file(name));
    if (!bytes.ok()) throw Error("cannot read what was written to the bundle: " + bytes.status().message);
    manifest.files[name] = file_of(*bytes);
  }
  const std::string text = manifest.text();
  files.write(kManifestFile, text);
  if (!options.secret_key.empty()) files.write(kSignatureFile, signature_text(text, options.secret_key));
  files.keep();
  return sha256_hex(text);
}

void sign_bundle(const std::string& folder, const std::string& secret_key) {
  read_bundle(folder, {});  // nobody signs what is damaged
  const Result<std::string> text = read_file(folder + "/" + kManifestFile);
  if (!text.ok()) throw Error("cannot read the manifest of `" + folder + "`: " + text.status().message);
  const Status written = replace_file(folder + "/" + kSignatureFile, {signature_text(*text, secret_key)});
  if (!written.ok()) throw Error("cannot write the signature of `" + folder + "`: " + written.message);
}

}  // namespace baton
