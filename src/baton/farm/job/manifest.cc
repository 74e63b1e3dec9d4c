#include "baton/farm/job/manifest.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

Json tensor_json(const Shape& shape, const DType& dtype) {
  return {{"shape", shape}, {"dtype", dtype.str()}};
}

void read_tensor(const Json& json, Shape& shape, DType& dtype) {
  shape = json.at("shape").get<Shape>();
  const std::string name = json.at("dtype").get<std::string>();
  const std::optional<DType> type = DType::parse(name);
  if (!type || type->is_void() || type->is_handle() || !type->is_scalar())
    throw Error("a tensor of type \"" + name + "\"");
  dtype = *type;
  if (shape.size() > 64 || !byte_count(shape, dtype)) throw Error("a tensor whose size overflows");
}

/// Plain names only: nothing of a bundle lies outside its folder, and no file hides.
void check_name(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= 100 && name[0] != '.' && std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
      });
  if (!plain || name == kManifestFile || name == kSignatureFile)
    throw Error("a file called \"" + name + "\": only plain names inside of the bundle's folder are allowed");
}

BundleManifest read(const Json& json) {
  BundleManifest manifest;
  const int format = json.at("format").get<int>();
  if (format != kBundleFormat)
    throw Error("it has format " + std::to_string(format) + ", this Baton reads format " +
                std::to_string(kBundleFormat) +
                (format > kBundleFormat ? ": update Baton on this machine" : ": make the bundle again"));
  manifest.baton = json.at("baton").get<std::string>();
  manifest.created_s = json.at("created_s").get<int64_t>();
  manifest.model = json.at("model").get<std::string>();
  manifest.target = json.at("target").get<std::string>();
  manifest.code_target = json.at("code_target").get<std::string>();
  manifest.plugins = json.at("plugins").get<std::vector<std::string>>();
  manifest.threads = json.at("threads").get<int>();
  manifest.artifact = json.at("artifact").get<std::string>();
  manifest.expectations = json.at("expectations").get<std::string>();
  for (const Json& each : json.at("inputs")) {
    BundleInput& input = manifest.inputs.emplace_back();
    input.name = each.at("name").get<std::string>();
    read_tensor(each, input.shape, input.dtype);
    input.range = {each.at("range").at(0).get<double>(), each.at("range").at(1).get<double>()};
  }
  for (const Json& each : json.at("outputs")) {
    BundleOutput& output = manifest.outputs.emplace_back();
    read_tensor(each, output.shape, output.dtype);
    output.stride = each.at("stride").get<int64_t>();
    output.not_finite = each.at("not_finite").get<int64_t>();
    output.mean = each.at("mean").get<double>();
    if (output.stride < 1) throw Error("a stride below one");
  }
  manifest.tolerance = {json.at("tolerance").at("relative").get<double>(),
                        json.at("tolerance").at("absolute").get<double>()};
  for (const auto& [name, file] : json.at("files").items()) {
    check_name(name);
    manifest.files[name] = {file.at("bytes").get<int64_t>(), file.at("sha256").get<std::string>()};
  }
  for (const std::string& name : {manifest.artifact, manifest.expectations})
    if (!manifest.files.contains(name)) throw Error("no checksum of its file \"" + name + "\"");
  return manifest;
}

}  // namespace

std::string BundleManifest::text() const {
  Json json = {{"format", kBundleFormat}, {"baton", baton},
               {"created_s", created_s},  {"model", model},
               {"target", target},        {"code_target", code_target},
               {"plugins", plugins},      {"threads", threads},
               {"artifact", artifact},    {"expectations", expectations}};
  json["inputs"] = Json::array();
  for (const BundleInput& input : inputs) {
    Json each = {{"name", input.name}};
    each.update(tensor_json(input.shape, input.dtype));
    each["range"] = {input.range.lo, input.range.hi};
    json["inputs"].push_back(std::move(each));
  }
  json["outputs"] = Json::array();
  for (const BundleOutput& output : outputs) {
    Json each = tensor_json(output.shape, output.dtype);
    each["stride"] = output.stride;
    each["not_finite"] = output.not_finite;
    each["mean"] = output.mean;
    json["outputs"].push_back(std::move(each));
  }
  json["tolerance"] = {{"relative", tolerance.relative}, {"absolute", tolerance.absolute}};
  json["files"] = Json::object();
  for (const auto& [name, file] : files)
    json["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  return json.dump(1) + "\n";
}

BundleManifest BundleManifest::parse(std::string_view text) {
  try {
    return read(Json::parse(text));
  } catch (const JsonError& error) {
    throw Error(std::string("its manifest.json cannot be read: ") + error.what());
  } catch (const Error& error) {
    throw Error(std::string("its manifest.json: ") + error.what());
  }
}

}  // namespace baton
