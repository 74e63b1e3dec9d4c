#include "baton/predict/model/predicted_device.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/predict/device_match.h"
#include "baton/predict/predictor_file.h"
#include "baton/profile/report/peaks.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"
#include "baton/support/program_folders.h"
#include "baton/target/processor_sheet.h"

namespace baton {

namespace {

namespace fs = std::filesystem;

const DeviceSheet* processor_of(const TrainedMachine& machine) {
  for (const auto& [backend, sheet] : machine.sheets)
    if (sheet.device_type == 1) return &sheet;
  return nullptr;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// With rates, as many threads as the other sheet's are of; without where the machine is too busy.
DeviceSheet with_rates(const DeviceSheet& here, const DeviceSheet& other) {
  if (!other.peaks) return here;
  std::string why;
  return measured_sheet(here, other.peaks->threads, KernelCache::shared(), why).value_or(here);
}

/// Why times of that machine are not those of `here`; empty: it is the same.
std::string why_not_here(const TrainedMachine& machine, const DeviceSheet& here) {
  const DeviceSheet* trained = processor_of(machine);
  if (!trained) return "";  // of other devices only, which are named by their kind
  DeviceSheet facts = here;
  // Facts differ more often than rates, which take time.
  DeviceSheet without = *trained;
  without.peaks.reset();
  if (without.processor.empty() || facts.processor.empty()) without.processor = facts.processor = "?";
  facts.peaks.reset();
  if (const std::string why = why_other_device(without, facts); !why.empty()) return why;
  return why_other_device(*trained, with_rates(here, *trained));
}

std::string title_of(const TrainedMachine& machine) {
  const DeviceSheet* sheet = processor_of(machine);
  return sheet                    ? device_title(*sheet)
         : machine.sheets.empty() ? machine.name
                                  : device_title(machine.sheets.begin()->second);
}

[[noreturn]] void refuse(const Predictor& predictor, const std::string& shown, const DeviceSheet& here) {
  std::string text = shown + " does not predict for this machine, " + device_title(here) + ":";
  for (const TrainedMachine& machine : predictor.machines)
    text += "\n  it was trained on " + machine.name + ", " + title_of(machine) + ": " +
            why_not_here(machine, here);
  const auto names = predictor.device_names();
  if (!names.empty())
    text += "\n  --for-device " + names.front() +
            " predicts the times of that device (in Python for_device=\"" + names.front() +
            "\"); `baton measure` and `baton train` make a predictor of this one, or `baton train --from " +
            shown + "` from few measurements";
  throw Error(text);
}

std::vector<fs::path> predictor_folders() {
  if (const std::string given = environment()->predictors; !given.empty()) return {given};
  std::vector<fs::path> folders;
  for (const fs::path& folder : program_folders())  // of a wheel and of a clone
    for (const fs::path& each : {folder / "predictors", folder / "python" / "baton" / "predictors"}) {
      std::error_code ignored;
      if (fs::is_directory(each, ignored)) folders.push_back(each);
    }
  return folders;
}

std::vector<std::string> predictor_files() {
  std::vector<std::string> files;
  for (const fs::path& folder : predictor_folders()) {
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
      if (entry.path().extension() == ".predictor") files.push_back(entry.path().string());
    if (!files.empty()) break;
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

PredictedDevice predicted_device(const Predictor& predictor, const std::string& shown,
                                 const DeviceSheet& here, const std::string& asked) {
  if (asked.empty()) {
    for (const TrainedMachine& machine : predictor.machines)
      if (why_not_here(machine, here).empty()) return {machine.sheets, title_of(machine), true};
    refuse(predictor, shown, here);
  }
  const TrainedMachine* machine = predictor.machine_named(asked);
  if (!machine)
    throw Error(shown + " is not of a device `" + asked + "`: --for-device takes " +
                joined(predictor.device_names()));
  const bool is_here = why_not_here(*machine, here).empty();
  return {machine->sheets, is_here ? title_of(*machine) : asked + ": " + title_of(*machine), is_here};
}

BuildContext context_of_device(const PredictedDevice& device, BuildContext context) {
  const bool named =
      std::ranges::any_of(context.targets, [](const TargetRef& target) { return names_processor(*target); });
  for (DeviceSheet& sheet : context.sheets)
    for (const auto& [backend, trained] : device.sheets) {
      if (trained.kind != sheet.kind || (backend != sheet.kind && device.sheets.count(sheet.kind))) continue;
      if (named && sheet.device_type == 1 && trained.code_target != sheet.code_target) {
        if (device.is_here)
          throw Error("the target asks for code of " + sheet.code_target + ", and times are predicted of " +
                      device.title + ", which runs " + trained.code_target +
                      ": leave the target out, or take a predictor of that processor");
        continue;
      }
      // Another device of its kind beside the same processor: refused when a kernel is predicted on it.
      if (sheet.device_type != 1 && device.is_here && !why_other_device(trained, sheet).empty()) continue;
      sheet = trained;
    }
  return context;
}

FoundPredictor find_predictor(const DeviceSheet& here, const std::string& asked) {
  std::string there;
  for (const std::string& path : predictor_files()) {
    FoundPredictor found{path, load_predictor(path)};
    const std::vector<std::string> names = found.predictor.device_names();
    for (const TrainedMachine& machine : found.predictor.machines) {
      const std::string why = asked.empty() ? why_not_here(machine, here) : "";
      if (asked.empty() ? why.empty() : std::ranges::count(names, asked) > 0) return found;
      there += "\n  " + (names.empty() ? machine.name : names.front()) + ", " + title_of(machine) +
               (why.empty() ? "" : ": " + why);
    }
  }
  if (there.empty())
    throw Error("no predictor comes with this Baton: give --predictor FILE, which `baton train` writes");
  if (!asked.empty())
    throw Error("no predictor that comes with Baton is of a device `" + asked + "`; there are" + there);
  throw Error("no predictor that comes with Baton is of this machine, " + device_title(here) + "; there are" +
              there +
              "\n  --for-device NAME (in Python for_device=NAME) predicts the times of one of these; `baton "
              "measure` and `baton train` make a predictor of this machine, for --predictor FILE");
}

}  // namespace baton
