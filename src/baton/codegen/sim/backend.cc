// The compile-time half of `sim`: the processor's code, with the time that each kernel would take on a device
// that a sheet describes. Its runtime half, runtime/plugins/sim, keeps that device's clock.
#include "baton/codegen/sim/backend.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "baton/ir/op.h"
#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugins/sim/sim_blob.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/base/checksum.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton {
namespace {

// Those that ship are numbered in order. Relay text has numbers of devices below 2^20.
constexpr int kFirstOfFiles = BATON_FIRST_SIMULATED_KIND + 64, kLastOfFiles = (1 << 20) - 1;

sim_blob::Device device_of(const SimSheet& sheet, int device_type) {
  return {sheet.name,
          device_type,
          sheet.memory_bytes,
          sheet.memory_gbytes_per_s,
          sheet.link_latency_us * 1e3,
          sheet.link_gbytes_per_s};
}

/// The processor's code runs there, so what decides on code is the processor's.
DeviceSheet device_sheet(const SimSheet& sheet, int device_type, const DeviceSheet& host) {
  DeviceSheet facts = host;
  facts.kind = sheet.backend();
  facts.device_type = device_type;
  facts.name = sheet.name + " (simulated)";
  facts.memory_bytes = sheet.memory_bytes;
  facts.peaks.reset();
  facts.links = {{host.name, sheet.link_gbytes_per_s, sheet.link_latency_us}};
  return facts;
}

Built compile(const SimSheet& sheet, int device_type, std::span<const BackendFunction> functions,
              const BuildContext& context) {
  Built built = backend_of_kind("llvm")->compile(functions, context.host(), context);
  if (built.blob.empty())
    throw NotSupported("simulated devices need a linker, and none was found: install binutils");
  sim_blob::Program program{device_of(sheet, device_type), {}, std::move(built.blob)};
  for (const BackendFunction& each : functions)
    program.kernels.emplace_back(each.func_name, sim_kernel_ns(sheet, *each.function));
  built.blob = sim_blob::written(program);
  built.library = nullptr;  // not to be called beside its clock
  return built;
}

/// A device number that stands for the content of a sheet: models built from two versions of one file are for
/// two devices, in any process.
int device_number(std::string_view json) {
  const uint64_t hash = checksum64(json.data(), json.size());
  return kFirstOfFiles + static_cast<int>(hash % static_cast<uint64_t>(kLastOfFiles - kFirstOfFiles));
}

Backend shipped(std::string_view name) {
  const std::span<const ShippedSheet> all = shipped_sheets();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name)
      return sim_backend(parse_sim_sheet(all[i].json, std::string(name) + " (shipped)"),
                         BATON_FIRST_SIMULATED_KIND + static_cast<int>(i));
  throw InternalError(__FILE__, __LINE__, "no device sheet " + std::string(name) + " is embedded");
}

/// The files whose sheets are registered, by name.
class SheetFiles {
 public:
  static SheetFiles& instance() {
    static auto* const files = new SheetFiles;
    return *files;
  }

  /// The name of the sheet in that file.
  std::string add(const std::string& path) {
    const std::string json = sim_sheet_text(path);
    SimSheet sheet = parse_sim_sheet(json, path);
    for (const ShippedSheet& each : shipped_sheets())
      if (each.name == sheet.name)
        throw UsageError("device sheet " + path + ": a sheet `" + sheet.name +
                         "` ships with Baton; give it another name");
    const std::lock_guard lock(mutex_);
    File& known = by_name_[sheet.name];
    if (!known.path.empty() && known.path != path && known.json != json)
      throw UsageError("device sheet " + path + ": a sheet `" + sheet.name + "` was read from " + known.path +
                       "; give one of them another name");
    if (known.json != json) install_backend(sim_backend(sheet, device_number(json)));
    known = {path, json};
    return sheet.name;
  }

 private:
  struct File {
    std::string path, json;
  };
  std::mutex mutex_;
  std::map<std::string, File> by_name_;
};

}  // namespace

Backend sim_backend(SimSheet given, int device_type) {
  const auto sheet = std::make_shared<const SimSheet>(std::move(given));
  Backend record = {
      .name = sheet->backend(),
      .kind = sheet->backend(),
      .doc = "simulated: " + sheet->doc,
      .device_type = device_type,
      .device = [=](const DeviceSheet& host) { return device_sheet(*sheet, device_type, host); },
      .takes = [=](const FunctionNode& function,
                   const DeviceSheet&) { return sim_refusal(*sheet, function); },
      .layouts = [] { return cost_model_choice(); },
      .compile =
          [=](std::span<const BackendFunction> functions, const DeviceSheet&, const BuildContext& context) {
            return compile(*sheet, device_type, functions, context);
          },
      .known_us = [=](const FunctionNode& function) { return sim_kernel_ns(*sheet, function) / 1e3; },
      .region = fused_region,
      .plugin = "sim",
  };
  if (const auto products = sheet->rates.find("dense"); products != sheet->rates.end())
    record.known_gops.assign(products->second.gops.begin(), products->second.gops.end());
  for (const OpDef* op : all_ops())
    if (op->compute && (sheet->rates.count(op->name) || sheet->rates.count(std::string(cost_class(*op)))))
      record.operators.push_back({op->name, [=](const CallNode& call) { return sim_refusal(*sheet, call); }});
  return record;
}

std::string sim_kind(const std::string& sheet) {
  std::vector<std::string> names;
  for (const ShippedSheet& each : shipped_sheets()) names.emplace_back(each.name);
  if (std::ranges::count(names, sheet)) return "sim_" + sheet;
  if (sheet.ends_with(".json") || sheet.find('/') != std::string::npos)
    return "sim_" + SheetFiles::instance().add(sheet);
  const std::string near = did_you_mean(sheet, names);
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw UsageError(sheet.empty() ? "target \"sim\" needs a device sheet: write sim -sheet=NAME (" + known +
                                       ") or the path of a file"
                                 : "there is no device sheet `" + sheet + "`" +
                                       (near.empty() ? "" : "; did you mean `" + near + "`?") +
                                       " (there are " + known + ", and paths of files that end with .json)");
}

Backend sim_big_core() { return shipped("big_core"); }
Backend sim_dsp() { return shipped("dsp"); }
Backend sim_fast_gpu() { return shipped("fast_gpu"); }
Backend sim_in_memory() { return shipped("in_memory"); }
Backend sim_npu() { return shipped("npu"); }
Backend sim_slow_gpu() { return shipped("slow_gpu"); }

}  // namespace baton
