#include "baton/map/machine_changes.h"

#include "baton/support/error.h"

namespace baton {

namespace {

/// Multiplies the price of conversions; `which(from, to)`: of devices.
template <class Which>
void scale_conversions(MappingProblem& problem, double by, Which&& which) {
  for (size_t f = 0; f < problem.formats.size(); ++f)
    for (size_t g = 0; g < problem.formats.size(); ++g)
      if (auto& way = problem.conversions[f][g];
          way && which(problem.formats[f].device, problem.formats[g].device)) {
        way->fixed_us *= by;
        way->us_per_byte *= by;
      }
}

}  // namespace

MappingProblem with_links(const MappingProblem& problem, double factor) {
  MappingProblem changed = problem;
  scale_conversions(changed, 1 / factor, [](int from, int to) { return from != to; });
  return changed;
}

MappingProblem with_memory(const MappingProblem& problem, double factor) {
  MappingProblem changed = problem;
  for (double& limit : changed.memory_limits) limit *= factor;
  return changed;
}

MappingProblem with_compute(const MappingProblem& problem, double factor) {
  MappingProblem changed = problem;
  for (MappingCandidate& candidate : changed.candidates)
    if (candidate.device > 0) candidate.us /= factor;
  scale_conversions(changed, 1 / factor, [](int from, int to) { return from == to && from > 0; });
  return changed;
}

MultipliedProblem with_devices(const MappingProblem& problem, int count) {
  BATON_CHECK(count >= 1, "a machine with no device of a kind");
  MultipliedProblem many{problem, {}};
  MappingProblem& changed = many.problem;
  const auto devices = static_cast<int>(problem.memory_limits.size());
  const auto formats = static_cast<int>(problem.formats.size());
  for (size_t c = 0; c < problem.candidates.size(); ++c) many.original.push_back(static_cast<int>(c));
  std::vector<int> original_format;
  std::vector<int> copy_of_format;
  for (int f = 0; f < formats; ++f) {
    original_format.push_back(f);
    copy_of_format.push_back(0);
  }
  for (int copy = 1; copy < count; ++copy) {
    std::vector<int> device_of(static_cast<size_t>(devices), 0);
    for (int d = 1; d < devices; ++d) {
      device_of[static_cast<size_t>(d)] = static_cast<int>(changed.memory_limits.size());
      changed.memory_limits.push_back(problem.memory_limits[static_cast<size_t>(d)]);
    }
    std::vector<int> format_of;  // there, of each format of the given problem
    for (int f = 0; f < formats; ++f) {
      const MappingFormat& format = problem.formats[static_cast<size_t>(f)];
      format_of.push_back(format.device == 0 ? f : static_cast<int>(changed.formats.size()));
      if (format.device == 0) continue;
      changed.formats.push_back(
          {format.name + " " + std::to_string(copy + 1), device_of[static_cast<size_t>(format.device)]});
      original_format.push_back(f);
      copy_of_format.push_back(copy);
    }
    for (size_t c = 0; c < problem.candidates.size(); ++c) {
      MappingCandidate candidate = problem.candidates[c];
      if (candidate.device == 0) continue;
      candidate.device = device_of[static_cast<size_t>(candidate.device)];
      for (int& format : candidate.input_formats) format = format_of[static_cast<size_t>(format)];
      for (int& format : candidate.output_formats) format = format_of[static_cast<size_t>(format)];
      changed.candidates.push_back(std::move(candidate));
      many.original.push_back(static_cast<int>(c));
    }
  }
  const size_t all = changed.formats.size();
  changed.conversions.assign(all, std::vector<std::optional<MappingConversion>>(all));
  for (size_t f = 0; f < all; ++f)
    for (size_t g = 0; g < all; ++g) {
      const auto from = static_cast<size_t>(original_format[f]), to = static_cast<size_t>(original_format[g]);
      // Within one device nothing leads to another of its kind.
      const bool one_device = problem.formats[from].device == problem.formats[to].device;
      if (!one_device || copy_of_format[f] == copy_of_format[g])
        changed.conversions[f][g] = problem.conversions[from][to];
    }
  return many;
}

MappingProblem in_turns(const MappingProblem& problem, int count) {
  BATON_CHECK(count >= 1, "a machine with no device of a kind");
  MappingProblem changed = problem;
  for (MappingCandidate& candidate : changed.candidates)
    if (candidate.device > 0) candidate.us /= count;
  scale_conversions(changed, 1.0 / count, [](int from, int to) { return from > 0 || to > 0; });
  return changed;
}

}  // namespace baton
