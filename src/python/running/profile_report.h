#pragma once
// A report as Python holds it, and what is bound in a file of its own: writing it, comparing two.
#include "baton/profile/report/report.h"

#include "python/bind.h"

namespace baton::python {

struct Report {
  ProfileReport report;
};

void bind_profile_files(nb::module_& m, nb::class_<Report>& report);

}  // namespace baton::python
