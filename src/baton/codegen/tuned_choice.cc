#include "baton/codegen/tuned_choice.h"

#include <algorithm>
#include <cmath>

#include "baton/codegen/kernel/join_axes.h"
#include "baton/codegen/kernel/join_rows.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/lower.h"
#include "baton/ir/extents/kernel_extents.h"

namespace baton {

namespace {

constexpr const char* kKind = "tuned";
constexpr const char* kUnfitKind = "unfit";  ///< of a shipped schedule: why it cannot be used; empty: it can

KernelKey key_of(const Function& function, const DeviceSheet& sheet) {
  return kernel_key({function, {}, {}, {}}, sheet);
}

KernelCache& or_shared(KernelCache* cache) { return cache ? *cache : KernelCache::shared(); }

class TunedChoice final : public KernelChoice {
 public:
  TunedChoice(KernelCache* cache, const ScheduleTable* table) : cache_(cache), table_(table) {}

  KernelSchedule schedule(const Function& function, const DeviceSheet& sheet) const override {
    if (!kernel_extents(*function).empty()) return {};  // tuned schedules are those of numbers
    KernelCache& cache = or_shared(cache_);
    if (const auto kept = kept_tuned(function, sheet, cache); kept && kept->tried > 0) return kept->schedule;
    const ScheduleTable& table = table_ ? *table_ : shipped_table(processor_family(sheet));
    const auto found = table_schedule(table, function, sheet, cache);
    return found && found->unfit.empty() ? found->tuned.schedule : KernelSchedule();
  }

 private:
  KernelCache* const cache_;
  const ScheduleTable* const table_;
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

std::optional<TunedSchedule> kept_tuned(const Function& function, const DeviceSheet& sheet,
                                        KernelCache& cache) {
  const auto text = cache.load_bytes(key_of(function, sheet), kKind);
  return text ? TunedSchedule::from_text(*text) : std::nullopt;
}

void keep_tuned(const Function& function, const DeviceSheet& sheet, KernelCache& cache,
                const TunedSchedule& tuned) {
  cache.store_bytes(key_of(function, sheet), kKind, tuned.text());
}

std::optional<TableSchedule> table_schedule(const ScheduleTable& table, const Function& function,
                                            const DeviceSheet& sheet, KernelCache& cache) {
  if (table.entries.empty()) return std::nullopt;
  const auto found = table.entries.find(scheduled_layer(*function));
  if (found == table.entries.end()) return std::nullopt;
  TableSchedule shipped{found->second, {}};
  // Lowering a function takes as long as all else that a cached build does for it.
  const KernelSchedule& schedule = shipped.tuned.schedule;
  const KernelKey key = kernel_key({function, {}, schedule.template_name, schedule.params}, sheet);
  if (const auto known = cache.load_bytes(key, kUnfitKind)) {
    shipped.unfit = *known;
  } else {
    shipped.unfit = unfit_schedule(function, schedule, sheet);
    cache.store_bytes(key, kUnfitKind, shipped.unfit);
  }
  return shipped;
}

std::string unfit_schedule(const Function& function, const KernelSchedule& schedule,
                           const DeviceSheet& sheet) {
  const LoweredKernel kernel =
      lower(*join_axes(join_rows(function)), {"fits" + key_of(function, sheet).hex(), {}});
  for (const ScheduleTemplate* each : schedule_templates()) {
    if (each->name != schedule.template_name) continue;
    if (std::string why = each->refuses(kernel, sheet); !why.empty()) return why;
    const std::vector<ScheduleParams> offered = each->candidates(kernel, sheet);
    if (std::ranges::find(offered, schedule.params) != offered.end()) return "";
    return "the template does not offer these parameters";
  }
  return "there is no such template";
}

std::shared_ptr<const KernelChoice> tuned_choice(KernelCache* cache, const ScheduleTable* table) {
  return std::make_shared<const TunedChoice>(cache, table);
}

std::vector<KernelSchedule> other_schedules(const Function& function, const KernelSchedule& chosen,
                                            const DeviceSheet& sheet) {
  const LoweredKernel kernel =
      lower(*join_axes(join_rows(function)), {"tuned" + key_of(function, sheet).hex(), {}});
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
