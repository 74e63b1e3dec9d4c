#include "baton/predict/model/predicted_device.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
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

constexpr double kRatesS = 2;  // of measuring this machine's rates beside other programs
// What a move cost where it was measured, errors of logarithms in the mean: 342 models and 7,371 kernels of
// bench/dataset/zen3 by the predictor of zen5, and 2,514 and 48,456 the other way (medians 16 and 27 %).
constexpr double kMovedModel = 0.23, kMovedKernel = 0.38;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The machine that this runs on, compared with those of predictors. Its rates are measured when they are
/// first asked for: facts differ more often, and take no time.
class ThisMachine {
 public:
  explicit ThisMachine(const DeviceSheet& sheet) : sheet_(sheet) {}

  const DeviceSheet& sheet() const { return sheet_; }
  const std::string& busy() const { return rated_.busy; }

  DeviceMatch match(const TrainedMachine& machine) {
    const DeviceSheet* trained = processor_of(machine);
    if (!trained) return {};  // of other devices only, which are named by their kind
    DeviceSheet facts = sheet_, without = *trained;
    facts.peaks.reset();
    without.peaks.reset();
    if (without.processor.empty() || facts.processor.empty()) without.processor = facts.processor = "?";
    if (trained->code_target != facts.code_target || !trained->peaks) {
      const DeviceMatch other = match_of(without, facts);
      return other.why.empty() ? match_of(*trained, sheet_) : other;
    }
    const DeviceSheet& rated = with_rates(trained->peaks->threads);
    if (busy().empty()) return match_of(*trained, rated);
    // Rates from beside other programs do not tell whether it is the same one.
    DeviceMatch match = match_of(*trained, sheet_);
    if (match.likeness != Likeness::kSame && match_of(*trained, rated).likeness != Likeness::kOther)
      match.likeness = Likeness::kLike;
    return match;
  }

  const DeviceSheet& with_rates(int threads) {
    if (threads_ != threads) rated_ = rated_sheet(sheet_, threads, KernelCache::shared(), kRatesS);
    threads_ = threads;
    return rated_.sheet;
  }

 private:
  const DeviceSheet& sheet_;
  RatedSheet rated_;
  int threads_ = 0;  ///< of the rates; 0: they are not measured yet
};

std::string title_of(const TrainedMachine& machine) {
  const DeviceSheet* sheet = processor_of(machine);
  return sheet                    ? device_title(*sheet)
         : machine.sheets.empty() ? machine.name
                                  : device_title(machine.sheets.begin()->second);
}

[[noreturn]] void refuse(const Predictor& predictor, const std::string& shown, ThisMachine& here) {
  std::string text = shown + " does not predict for this machine, " + device_title(here.sheet()) + ":";
  for (const TrainedMachine& machine : predictor.machines)
    text +=
        "\n  it was trained on " + machine.name + ", " + title_of(machine) + ": " + here.match(machine).why;
  text += "\n  `baton probe --from " + shown + "` carries it over to this machine in five minutes";
  const auto names = predictor.device_names();
  if (!names.empty())
    text += "; --for-device " + names.front() +
            " predicts the times of that device (in Python for_device=\"" + names.front() + "\")";
  throw Error(text);
}

std::vector<std::string> predictors_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".predictor") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

PredictedDevice device_here(const TrainedMachine& machine, const DeviceMatch& match, ThisMachine& here) {
  PredictedDevice device{machine.sheets, title_of(machine), true};
  device.busy = here.busy();
  if (match.likeness == Likeness::kSame) return device;
  device.rescaled = match.why;
  device.title = device_title(here.sheet()) + ", by " + device.title + " rescaled";
  for (auto& [backend, sheet] : device.sheets)
    if (sheet.device_type == 1) sheet = here.with_rates(sheet.peaks->threads);
  return device;
}

}  // namespace

const DeviceSheet* processor_of(const TrainedMachine& machine) {
  for (const auto& [backend, sheet] : machine.sheets)
    if (sheet.device_type == 1) return &sheet;
  return nullptr;
}

double moved_half(bool whole_model, double level) {
  return -(whole_model ? kMovedModel : kMovedKernel) * std::log(1 - level);
}

std::string user_predictors() {
  const std::string cache = KernelCache::default_directory();
  return cache.empty() ? "" : cache + "/predictors";
}

std::vector<std::string> shipped_predictors() {
  if (const std::string given = environment()->predictors; !given.empty()) return predictors_in(given);
  for (const fs::path& folder : program_folders())  // of a wheel and of a clone
    for (const fs::path& each : {folder / "predictors", folder / "python" / "baton" / "predictors"})
      if (std::vector<std::string> files = predictors_in(each); !files.empty()) return files;
  return {};
}

PredictedDevice predicted_device(const Predictor& predictor, const std::string& shown,
                                 const DeviceSheet& here, const std::string& asked) {
  ThisMachine machine_here(here);
  if (asked.empty()) {
    for (const Likeness wanted : {Likeness::kSame, Likeness::kLike})
      for (const TrainedMachine& machine : predictor.machines)
        if (const DeviceMatch match = machine_here.match(machine); match.likeness == wanted)
          return device_here(machine, match, machine_here);
    refuse(predictor, shown, machine_here);
  }
  const TrainedMachine* machine = predictor.machine_named(asked);
  if (!machine)
    throw Error(shown + " is not of a device `" + asked + "`: --for-device takes " +
                joined(predictor.device_names()));
  const bool is_here = machine_here.match(*machine).likeness == Likeness::kSame;
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
  std::vector<std::string> files;
  if (environment()->predictors.empty() && !user_predictors().empty())
    files = predictors_in(user_predictors());
  for (std::string& path : shipped_predictors()) files.push_back(std::move(path));
  ThisMachine machine_here(here);
  std::optional<FoundPredictor> like;
  std::string there;
  for (const std::string& path : files) {
    FoundPredictor found{path, {}};
    try {
      found.predictor = load_predictor(path);
    } catch (const Error& error) {  // of an older Baton: `baton probe` makes it anew
      there += "\n  " + std::string(error.what());
      continue;
    }
    const std::vector<std::string> names = found.predictor.device_names();
    if (std::ranges::count(names, asked)) return found;
    for (const TrainedMachine& machine : found.predictor.machines) {
      const DeviceMatch match = asked.empty() ? machine_here.match(machine) : DeviceMatch();
      if (asked.empty() && match.likeness == Likeness::kSame) return found;
      if (match.likeness == Likeness::kLike && !like) like = found;
      there += "\n  " + (names.empty() ? machine.name : names.front()) + ", " + title_of(machine) +
               (match.why.empty() ? "" : ": " + match.why);
    }
  }
  if (like) return std::move(*like);
  if (there.empty())
    throw Error(
        "no predictor comes with this Baton: `baton train` writes one, for --predictor FILE, and `baton "
        "probe "
        "--from FILE` carries one over to this machine");
  if (!asked.empty()) throw Error("no predictor is of a device `" + asked + "`; there are" + there);
  throw Error("no predictor is of this machine, " + device_title(here) +
              ": `baton probe` makes one in five minutes\n  there are" + there +
              "\n  --for-device NAME (in Python for_device=NAME) predicts the times of one of these; `baton "
              "measure` and `baton train` make a predictor from nothing, for --predictor FILE");
}

}  // namespace baton
