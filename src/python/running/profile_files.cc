// Reports as files and tables, and differences of two.
#include <sstream>

#include "baton/profile/report/diff.h"
#include "baton/profile/write/files.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/tables.h"
#include "baton/support/json.h"

#include "python/running/profile_report.h"

namespace baton::python {

namespace {

/// With the compared reports, for kernel names in its table.
struct Difference {
  ProfileReport a, b;
  ProfileDiff diff;
};

std::string difference_table(const Difference& self) {
  std::ostringstream out;
  write_table(out, self.diff, self.a, self.b);
  return out.str();
}

std::string names_of(const std::vector<FileKind>& kinds) {
  std::string text;
  for (const FileKind& kind : kinds) text += (text.empty() ? "" : ", ") + kind.suffix;
  return text;
}

}  // namespace

void bind_profile_files(nb::module_& m, nb::class_<Report>& report) {
  report
      .def_static(
          "from_json",
          [](const std::string& text) { return Report{read_report(text, "the text"), {}, false}; },
          nb::arg("text"),
          "The inverse of json(). Raises TVMError for another text, a damaged one, or one of another schema.")
      .def_static(
          "load", [](const std::string& path) { return Report{load_report(path), {}, false}; },
          nb::arg("path"),
          "A profile that save() or `baton profile -o NAME.json` wrote. Raises TVMError when it is none.")
      .def(
          "_table",
          [](const Report& r, const std::string& name) { return table_json(report_table(r.report, name)); },
          nb::arg("name"))
      .def(
          "_bytes",
          [](const Report& r, const std::string& path, const std::string& suffix, const std::string& part,
             int runs) {
            const std::string bytes = report_bytes(r.report, {path, suffix, part}, runs);
            return nb::bytes(bytes.data(), bytes.size());
          },
          nb::arg("path"), nb::arg("suffix"), nb::arg("part"), nb::arg("runs"));
  m.def(
      "report_files",
      [](const std::string& path, bool comparison) {
        std::vector<std::tuple<std::string, std::string, std::string>> files;
        for (const WantedFile& file : wanted_files(path, comparison ? comparison_kinds() : report_kinds()))
          files.emplace_back(file.path, file.suffix, file.part);
        return files;
      },
      nb::arg("path"), nb::arg("comparison") = false,
      ("(path, suffix, part) of the files a name stands for; kinds: " + names_of(report_kinds())).c_str());
  m.def(
      "write_file",
      [](const std::string& path, nb::bytes bytes) {
        write_file(path, std::string(bytes.c_str(), bytes.size()));
      },
      nb::arg("path"), nb::arg("bytes"), "Writes a file whole or not at all.");
  nb::class_<Difference>(m, "ProfileDiff", nb::dynamic_attr(),
                         "Two profiles of one model, compared operator by operator.")
      .def("_values", [](const Difference& d) { return to_json(d.diff, d.a, d.b); })
      .def(
          "json", [](const Difference& d) { return to_json(d.diff, d.a, d.b).dump(); },
          "All of it: docs/design/0010-diff-json.md.")
      .def("__str__", &difference_table)
      .def("__repr__", &difference_table);
  m.def(
      "profile_diff",
      [](const Report& a, const Report& b, const std::string& a_label, const std::string& b_label) {
        return Difference{a.report, b.report, diff(a.report, b.report, a_label, b_label)};
      },
      nb::arg("a"), nb::arg("b"), nb::arg("a_label"), nb::arg("b_label"));
}

}  // namespace baton::python
