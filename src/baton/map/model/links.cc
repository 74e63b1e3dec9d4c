#include "baton/map/model/links.h"

#include <algorithm>

#include "baton/codegen/backend.h"
#include "baton/map/frontier.h"
#include "baton/predict/predictor.h"
#include "baton/profile/report/device_rates.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// Sizes that copies are measured at: their latency and their rate.
constexpr size_t kSmallCopy = 4 << 10, kLargeCopy = 1 << 20;

/// Measured by copies of 4 kB and of 1 MB, or what fits.
MappingConversion measured_link(const FoundTarget& from, const FoundTarget& to) {
  const MaybeMeasured few = copy_us(from, to, kSmallCopy);
  MaybeMeasured many;
  size_t bytes = kLargeCopy;
  // Small devices have no room for more.
  for (; few && bytes > kSmallCopy && !(many = copy_us(from, to, bytes)); bytes /= 4) {
  }
  if (!few || !many)
    throw Error("copies from " + from.backend->name + " to " + to.backend->name +
                " cannot be measured: " + (from.why_not.empty() ? to.why_not : from.why_not));
  const double rate = std::max(0.0, many->value - few->value) / static_cast<double>(bytes - kSmallCopy);
  return {std::max(0.0, few->value - rate * static_cast<double>(kSmallCopy)), rate};
}

/// Predicted, or by the link in the device's sheet; null: by the sheet. One of `from` and `to` is "cpu",
/// the other a backend with a device.
MappingConversion predicted_link(const std::string& from, const std::string& to, const BuildContext& context,
                                 const Predictor* predictor) {
  const std::string& device = from == "cpu" ? to : from;
  const DeviceSheet* sheet = context.sheet_of(find_backend(device)->kind);
  if (!sheet) throw Error("nothing is known of the link to " + device);
  static const Predictor nothing_learnt;  // takes the link of the sheet
  const auto us = [&](size_t bytes) {
    return (predictor ? *predictor : nothing_learnt)
        .predict_transfer(from, to, static_cast<double>(bytes), *sheet)
        .us;
  };
  const double rate = (us(kLargeCopy) - us(kSmallCopy)) / static_cast<double>(kLargeCopy - kSmallCopy);
  return {std::max(0.0, us(kSmallCopy) - rate * static_cast<double>(kSmallCopy)), rate};
}

}  // namespace

MapLinks price_links(const MapTask& task, const MapRun& run) {
  const BuildContext& context = run.build.context;
  const std::vector<std::string>& devices = task.machine.devices;
  MapLinks links(devices.size(), std::vector<std::optional<MappingConversion>>(devices.size()));
  if (devices.size() < 2) return links;
  const auto end = [&](const std::string& backend) {
    return task.predicted() ? FoundTarget() : find_target(find_backend(backend), context);
  };
  const auto link = [&](const std::string& from, const FoundTarget& source, const std::string& to,
                        const FoundTarget& target) {
    return task.predicted() ? predicted_link(from, to, context, task.options.prices.predictor)
                            : measured_link(source, target);
  };
  const FoundTarget host = end(task.host);
  for (size_t d = 1; d < devices.size(); ++d) {
    task.show("measuring links", static_cast<int>(d - 1), static_cast<int>(devices.size() - 1));
    const FoundTarget device = end(devices[d]);
    links[0][d] = link(devices[0], host, devices[d], device);
    links[d][0] = link(devices[d], device, devices[0], host);
  }
  return links;
}

double us_without_links(const MappingProblem& problem, const std::atomic<bool>* interrupt) {
  MappingProblem free = problem;
  for (size_t f = 0; f < free.formats.size(); ++f)
    for (size_t g = 0; g < free.formats.size(); ++g)
      if (free.conversions[f][g] && free.formats[f].device != free.formats[g].device)
        free.conversions[f][g] = MappingConversion{};
  const auto found = search_frontier(free, {.interrupt = interrupt});
  const auto cost = found ? price(problem, found->chosen) : std::nullopt;
  return cost ? cost->us : 0;
}

}  // namespace baton
