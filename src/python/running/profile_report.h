#pragma once
// A report as held by Python; writing and comparing are bound in another file.
#include "baton/profile/report/report.h"

#include "python/bind.h"

namespace baton::python {

struct Report {
  ProfileReport report;
  IRModule module = {};  ///< the program; null: only what the report knows of it
  bool live = false;     ///< measured in this process, not loaded
};

void bind_profile_files(nb::module_& m, nb::class_<Report>& report);

}  // namespace baton::python
