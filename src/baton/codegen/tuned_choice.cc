#include "baton/codegen/tuned_choice.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "baton/codegen/kernel/join_axes.h"
#include "baton/codegen/kernel/join_rows.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/lower.h"

namespace baton {

namespace {

constexpr const char* kKind = "tuned";

KernelKey key_of(const Function& function, const DeviceSheet& sheet) {
  return kernel_key({function, {}, {}, {}}, sheet);
}

KernelCache& or_shared(KernelCache* cache) { return cache ? *cache : KernelCache::shared(); }

class TunedChoice final : public KernelChoice {
 public:
  explicit TunedChoice(KernelCache* cache) : cache_(cache) {}

  KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const override {
    const auto kept = kept_tuned(function, sheet, or_shared(cache_));
    return kept ? kept->schedule : KernelSchedule();
  }

 private:
  KernelCache* const cache_;
};

/// How far two sets of parameters are apart: doublings, over all parameters.
double distance(const ScheduleParams& a, const ScheduleParams& b) {
  double sum = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    const int against = other == b.end() ? 1 : other->second;
    sum += std::abs(std::log2(std::max(1, value)) - std::log2(std::max(1, against)));
  }
  return sum;
}

}  // namespace

std::string schedule_text(const KernelSchedule& schedule) {
  std::string text = schedule.template_name;
  for (const auto& [name, value] : schedule.params) text += " " + name + "=" + std::to_string(value);
  return text;
}

std::string TunedSchedule::text() const {
  std::ostringstream out;
  out << "tuned 1\n" << schedule_text(schedule) << "\n" << second << "\n";
  out << us << " " << default_us << " " << second_us << " " << tried << " " << candidates << "\nend\n";
  return out.str();
}

std::optional<TunedSchedule> TunedSchedule::from_text(const std::string& text) {
  std::istringstream in(text);
  std::string head, schedule, end;
  TunedSchedule tuned;
  if (!std::getline(in, head) || head != "tuned 1" || !std::getline(in, schedule) ||
      !std::getline(in, tuned.second))
    return std::nullopt;
  if (!(in >> tuned.us >> tuned.default_us >> tuned.second_us >> tuned.tried >> tuned.candidates >> end) ||
      end != "end")
    return std::nullopt;
  std::istringstream words(schedule);
  words >> tuned.schedule.template_name;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    char* rest = nullptr;
    const long value = equals == std::string::npos ? 0 : std::strtol(word.c_str() + equals + 1, &rest, 10);
    if (!rest || *rest || rest == word.c_str() + equals + 1) return std::nullopt;
    tuned.schedule.params[word.substr(0, equals)] = static_cast<int>(value);
  }
  return tuned;
}

std::optional<TunedSchedule> kept_tuned(const Function& function, const DeviceSheet& sheet,
                                        KernelCache& cache) {
  const auto text = cache.load_bytes(key_of(function, sheet), kKind);
  return text ? TunedSchedule::from_text(*text) : std::nullopt;
}

void keep_tuned(const Function& function, const DeviceSheet& sheet, KernelCache& cache,
                const TunedSchedule& tuned) {
  cache.store_bytes(key_of(function, sheet), kKind, tuned.text());
}

std::shared_ptr<const KernelChoice> tuned_choice(KernelCache* cache) {
  return std::make_shared<const TunedChoice>(cache);
}

std::vector<KernelSchedule> other_schedules(const Function& function, const KernelSchedule& chosen,
                                            const DeviceSheet& sheet) {
  const LoweredKernel kernel = lower(*join_axes(join_rows(function)), {"tuned" + key_of(function, sheet).hex(), {}});
  std::vector<KernelSchedule> own, others;
  for (const ScheduleTemplate* each : schedule_templates()) {
    const bool is_chosen = each->name == chosen.template_name;
    if ((!is_chosen && std::string(each->name) == "trivial") || !each->refuses(kernel, sheet).empty())
      continue;
    for (ScheduleParams& params : each->candidates(kernel, sheet)) {
      KernelSchedule made{each->name, std::move(params)};
      if (is_chosen && made.params == chosen.params) continue;
      (is_chosen ? own : others).push_back(std::move(made));
    }
  }
  std::stable_sort(own.begin(), own.end(), [&](const KernelSchedule& a, const KernelSchedule& b) {
    return distance(a.params, chosen.params) < distance(b.params, chosen.params);
  });
  own.insert(own.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return own;
}

}  // namespace baton
