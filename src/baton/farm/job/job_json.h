#pragma once
// Jobs, results and a runner's greeting as lines of JSON: what baton, runners and the farm tell each other
// (docs/design/0037).
#include <string>
#include <string_view>

#include "baton/farm/job/worker.h"

namespace baton {

std::string job_line(const Job& job);
/// Throws Error for a line that is not a job.
Job read_job(std::string_view line);

std::string result_line(const JobResult& result);
/// Throws Error for a line that is not a result.
JobResult read_result(std::string_view line);

/// What a runner says first: the machine, and the version of this format.
std::string greeting_line(const WorkerMachine& machine);
/// Throws Error for another version, or a line that is not a greeting.
WorkerMachine read_greeting(std::string_view line);

}  // namespace baton
