#include "baton/campaign/in_process_worker.h"

#include "baton/campaign/measure_job.h"
#include "baton/driver/build.h"
#include "baton/driver/cut/cut_values.h"
#include "baton/pass/interrupt.h"
#include "baton/store/machine.h"
#include "baton/support/error.h"

namespace baton {

std::optional<JobResult> InProcessWorker::next(double) {
  if (jobs_.empty()) return std::nullopt;
  if (!lock_)
    lock_ = std::make_unique<MachineLock>(machine_lock_path(), [&](double waited_s) {
      stop_if_asked(options_.interrupt);
      if (options_.waiting) options_.waiting(waited_s);
      return true;
    });
  const Job job = jobs_.front();
  jobs_.pop_front();
  JobResult result;
  result.id = job.id;
  result.device = DeviceSheet::host();
  result.machine = machine_name();
  const auto program = programs_.find(job.bundle);
  if (program == programs_.end()) {
    result.error = "there is no program " + job.bundle;
    return result;
  }
  try {
    const std::unique_ptr<Executor> executor = make_executor(*program->second);
    executor->set_threads(job.threads);
    set_model_inputs(*executor, {});
    JobConditions conditions;
    conditions.interrupt = options_.interrupt;
    result.rows = measure_job(*executor, job.protocol, conditions);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace baton
