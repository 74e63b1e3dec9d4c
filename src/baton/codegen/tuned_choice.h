#pragma once
// Schedules that were found by measuring (`baton tune`), kept in the kernel cache: for the same fused
// function in any model, on the same kind of processor, by the same code generator. No Halide in the
// interface.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/codegen/schedule_table.h"
#include "baton/codegen/tuned_schedule.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {

/// What is kept for a fused function; nullopt: it was not tuned.
std::optional<TunedSchedule> kept_tuned(const Function& function, const DeviceSheet& sheet,
                                        KernelCache& cache);
void keep_tuned(const Function& function, const DeviceSheet& sheet, KernelCache& cache,
                const TunedSchedule& tuned);

/// What a table has for a function.
struct TableSchedule {
  TunedSchedule tuned;
  std::string unfit;  ///< why it cannot be used: templates have changed; empty: it can
};
/// nullopt: the table has no such layer. `cache` remembers what fits.
std::optional<TableSchedule> table_schedule(const ScheduleTable& table, const Function& function,
                                            const DeviceSheet& sheet, KernelCache& cache);
/// Why no template offers `schedule` for a function; empty when one does.
std::string unfit_schedule(const Function& function, const KernelSchedule& schedule,
                           const DeviceSheet& sheet);

/// Takes schedules from `cache` (null: the shared one), else from `table` (null: the one shipped for the
/// family of the processor), else the default. What was tuned holds also where the default was the fastest.
std::shared_ptr<const KernelChoice> tuned_choice(KernelCache* cache, const ScheduleTable* table = nullptr);

/// Every schedule that templates offer for a function but `chosen`, the default: first those nearest to it.
/// "trivial" is offered where it is the default only.
std::vector<KernelSchedule> other_schedules(const Function& function, const KernelSchedule& chosen,
                                            const DeviceSheet& sheet);

}  // namespace baton
