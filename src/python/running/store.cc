// The store of measurements.
#include "baton/store/store.h"

#include <ctime>

#include "baton/profile/record/record.h"
#include "baton/store/measurement_json.h"
#include "baton/target/machine_name.h"

#include "python/door.h"
#include "python/running/profile_report.h"

namespace baton::python {

namespace {

nb::object cell(const StoreCell& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return nb::int_(*number);
  if (const auto* real = std::get_if<double>(&value)) return nb::float_(*real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    PyObject* decoded = PyUnicode_DecodeUTF8(text->data(), static_cast<Py_ssize_t>(text->size()), "replace");
    if (!decoded) throw nb::python_error();
    return nb::steal(decoded);
  }
  return nb::none();
}

/// Name of a column -> the list of its values.
nb::dict columns(const StoreTable& table) {
  nb::dict all;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    nb::list values;
    for (const std::vector<StoreCell>& row : table.rows) values.append(cell(row[i]));
    all[table.columns[i].c_str()] = values;
  }
  return all;
}

/// Answers of a query are computed without Python's lock.
template <class Work>
auto unlocked(Work work) {
  const nb::gil_scoped_release released;
  return work();
}

StoreQuery query_of(const nb::dict& given) {
  StoreQuery query;
  const auto text = [&](const char* name, std::string& to) {
    if (given.contains(name)) to = nb::cast<std::string>(given[name]);
  };
  text("backend", query.backend);
  text("target", query.target);
  text("precision", query.precision);
  text("machine", query.machine);
  text("device", query.device);
  text("sheet", query.sheet);
  text("family", query.family);
  text("model", query.model);
  text("model_id", query.model_id);
  text("campaign", query.campaign);
  text("work_id", query.work_id);
  text("configuration", query.configuration);
  const auto named = [&](const char* name, auto find, auto& to) {
    if (!given.contains(name)) return;
    const std::string value = nb::cast<std::string>(given[name]);
    to = find(value);
    if (!to) throw nb::value_error((std::string(name) + "=" + value + " is not known").c_str());
  };
  named("kind", work_kind_named, query.kind);
  named("cache", cache_state_named, query.cache);
  if (given.contains("threads")) query.threads = nb::cast<int>(given["threads"]);
  if (given.contains("limit")) query.limit = nb::cast<int64_t>(given["limit"]);
  if (given.contains("reliable_only")) query.reliable_only = nb::cast<bool>(given["reliable_only"]);
  if (given.contains("operators")) query.operators = nb::cast<std::vector<std::string>>(given["operators"]);
  if (given.contains("attributes"))
    for (const auto& [op, name, value] :
         nb::cast<std::vector<std::tuple<std::string, std::string, std::string>>>(given["attributes"]))
      query.attributes.push_back({op, name, value});
  return query;
}

int64_t insert_report(Store& store, const Report& report, const std::string& family,
                      const std::string& machine) {
  RecordSource source;
  const BuildContext context = door_context();
  source.context = &context;
  source.module = report.module;
  source.live = report.live;
  source.machine = !machine.empty() ? machine : report.live ? machine_name() : report.report.machine;
  source.family = family;
  source.begun_s = report.live ? std::time(nullptr) : 0;
  return unlocked([&] { return store.insert(measurements_of(report.report, source)); });
}

int64_t insert_lines(Store& store, const std::vector<std::string>& lines) {
  return unlocked([&] {
    std::vector<Measurement> rows;
    for (const std::string& line : lines) rows.push_back(measurement_from_line(line));
    return store.insert(rows);
  });
}

std::vector<std::string> lines(const Store& store, const nb::dict& query) {
  const StoreQuery wanted = query_of(query);
  return unlocked([&] {
    std::vector<std::string> all;
    store.each(wanted, [&](const Measurement& measurement) {
      all.push_back(measurement_line(measurement));
      return true;
    });
    return all;
  });
}

}  // namespace

void bind_store(nb::module_& m) {
  nb::class_<Store>(m, "Store", "An open store of measurements: baton.store.open().")
      .def("insert_report", &insert_report, nb::arg("report"), nb::arg("family"), nb::arg("machine"),
           "Adds the rows of a ProfileReport; returns how many were new.")
      .def("insert_lines", &insert_lines, nb::arg("lines"),
           "Adds measurements, one JSON text each; all or none. Returns how many were new.")
      .def(
          "merge",
          [](Store& store, const std::string& path) {
            return unlocked([&] { return store.merge(Store::open(path, Store::Mode::kRead)); });
          },
          nb::arg("path"), "Adds the rows of another store; returns how many were new.")
      .def("lines", &lines, nb::arg("query"), "The selected measurements as JSON texts, with all samples.")
      .def(
          "table",
          [](const Store& store, const nb::dict& query, const std::vector<std::string>& names) {
            const StoreQuery wanted = query_of(query);
            return columns(unlocked([&] { return store.table(wanted, names); }));
          },
          nb::arg("query"), nb::arg("columns"), "Columns of the view `rows`: docs/design/0036-store.md.")
      .def(
          "sql",
          [](const Store& store, const std::string& statement) {
            return columns(unlocked([&] { return store.sql(statement); }));
          },
          nb::arg("statement"), "The columns that a SELECT gives.")
      .def(
          "places",
          [](const Store& store, const nb::dict& query) {
            std::vector<std::tuple<std::string, std::string, std::string, int64_t>> all;
            for (const StorePlace& place : store.places(query_of(query)))
              all.emplace_back(place.machine, place.device, place.sheet, place.rows);
            return all;
          },
          nb::arg("query"), "(machine, device, id of its sheet, rows) of the selected rows.")
      .def(
          "count", [](const Store& store, const nb::dict& query) { return store.count(query_of(query)); },
          nb::arg("query"))
      .def("damage", &Store::damage, "What is damaged, one line each; reads everything.")
      .def_prop_ro("path", &Store::path);
  m.def(
      "open_store",
      [](const std::string& path, bool write) {
        return unlocked([&] { return Store::open(path, write ? Store::Mode::kWrite : Store::Mode::kRead); });
      },
      nb::arg("path"), nb::arg("write"));
  m.def("default_store_path", [] {
    read_environment();
    return default_store_path();
  });
}

}  // namespace baton::python
