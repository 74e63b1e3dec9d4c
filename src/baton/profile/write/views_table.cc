#include "baton/profile/write/views_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "baton/ir/rules/brief.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/views/module_tree.h"
#include "baton/profile/views/source_times.h"
#include "baton/profile/write/table_format.h"
#include "baton/support/source.h"

namespace baton {

namespace {

constexpr int kNumbers = 31;  // columns of numbers behind a name
constexpr int kLeast = 75;
constexpr double kSmall = 0.003;  // of the whole: modules below it share a row
constexpr double kNothing = 1e-9;

constexpr char kRest[] = "load, store, loop";
constexpr char kAdded[] = "added by the compiler";

double whole_us(const ProfileReport& report) {
  return report.end_to_end_us > 0 ? report.end_to_end_us : report.sum_us;
}

/// A name, a count and a time, with a bar as far as there is room.
class ViewRows {
 public:
  ViewRows(std::ostream& out, const ProfileReport& report, const TableOptions& options)
      : out_(out), report_(report), colour_(options.colour) {
    const int width = std::max(options.width, kLeast);
    name_ = std::clamp(width - kNumbers - 34, 34, 64);
    bar_ = std::max(0, width - name_ - kNumbers - 2);
  }

  void head(const char* name, const char* count) {
    out_ << '\n'
         << in_style(Style::kHead, colour_, formatted("%-*s %9s %11s %8s", name_, name, count, "us", "share"))
         << '\n';
  }

  /// `timed`: there is a kernel; without one there is no time to be too small.
  void row(const std::string& name, const std::string& count, double us, bool estimated = false,
           bool timed = true) {
    const double share = whole_us(report_) > 0 ? us / whole_us(report_) : 0;
    const std::string time =
        us == 0 ? (timed ? "< noise" : "")
                : (us < 0 ? "-" : "") + std::string(estimated ? "~" : "") + us_text(std::abs(us));
    const std::string numbers =
        formatted("%-*s %9s %11s %8s  ", name_, clipped_title(name, static_cast<size_t>(name_)).c_str(),
                  count.c_str(), time.c_str(), formatted("%.1f %%", share * 100).c_str());
    const double length = share * bar_ + 0.5;  // damaged reports may hold any number
    const bool has_bar = length >= 1 && length <= bar_ + 1;
    estimated_ |= estimated;
    out_ << in_style(style_of_share(share), colour_,
                     table_line(numbers + std::string(has_bar ? static_cast<size_t>(length) : 0, '#'), false))
         << '\n';
  }

  /// What is in no kernel, and the whole run.
  void end(int width) {
    row("outside kernels", "", whole_us(report_) - report_.sum_us);
    row("end to end", "", whole_us(report_));
    if (estimated_)
      out_ << wrapped("~ with kernels whose inside was not measured: their operators count alike", 7, width);
  }

 private:
  std::ostream& out_;
  const ProfileReport& report_;
  bool colour_, estimated_ = false;
  int name_, bar_;
};

/// `within_module`: of the names of its source, which begin with the module's, the last.
std::string described(const OperatorRow& row, bool within_module) {
  std::string place = row.place();
  if (within_module && !row.line) place.erase(0, place.rfind('/') + 1);
  return (row.brief.empty() ? brief_name(row.op) : row.brief) + ", " + place;
}

// ---- Modules.

class ModuleTable {
 public:
  ModuleTable(std::ostream& out, const ProfileReport& report, const TableOptions& options)
      : report_(report),
        options_(options),
        tree_(module_tree(report)),
        times_(operator_times(report)),
        rows_(out, report, options) {}

  void write() {
    rows_.head("module", "operators");
    group({0}, 0);
    rows_.end(options_.width);
  }

 private:
  /// Modules that one row stands for: one, or all of the same structure.
  using Group = std::vector<size_t>;

  template <class Value>
  Value total(const Group& group, Value ModuleRow::* member) const {
    return std::accumulate(group.begin(), group.end(), Value(),
                           [&](Value sum, size_t at) { return sum + tree_[at].*member; });
  }
  bool estimated(const Group& group) const {
    return std::ranges::any_of(group, [&](size_t at) { return tree_[at].estimated; });
  }

  /// Modules of one structure may differ in what was folded, but for that this is for a time of 0 only.
  bool timed(size_t at) const {
    const ModuleRow& row = tree_[at];
    return std::ranges::any_of(row.operators, [&](uint32_t id) { return times_[id].has_kernel; }) ||
           std::ranges::any_of(row.children, [&](size_t child) { return timed(child); });
  }

  static std::string indented(int depth, const std::string& text) {
    return std::string(2 * static_cast<size_t>(depth), ' ') + text;
  }

  std::string name_of(const Group& group) const {
    const ModuleRow& first = tree_[group.front()];
    if (group.front() == 0) return report_.model;
    std::string name = first.name;
    const auto siblings =
        std::ranges::count_if(group, [&](size_t at) { return tree_[at].parent == first.parent; });
    if (siblings > 1) name += " .. " + tree_[group[static_cast<size_t>(siblings) - 1]].name;
    const size_t alike = options_.all ? first.alike : static_cast<size_t>(siblings);
    return alike > 1 ? name + "  x" + std::to_string(alike) + " alike" : name;
  }

  void group(const Group& group, int depth) {
    const ModuleRow& first = tree_[group.front()];
    rows_.row(indented(depth, name_of(group)), std::to_string(total(group, &ModuleRow::operator_count)),
              total(group, &ModuleRow::us), estimated(group), timed(group.front()));
    if (!first.children.empty() || options_.all) inside(group, depth + 1);
  }

  /// Groups of children, in order.
  std::vector<Group> children_of(const Group& group) const {
    const std::vector<size_t>& children = tree_[group.front()].children;
    std::vector<Group> groups;
    for (size_t i = 0; i < children.size(); ++i) {
      const size_t alike = tree_[children[i]].first_alike;
      if (!options_.all && alike != children[i]) continue;  // with the first of its kind
      Group& children_here = groups.emplace_back();
      for (const size_t parent : group)
        for (size_t k = i; k < children.size(); ++k)
          if (k == i || (!options_.all && tree_[children[k]].first_alike == alike))
            children_here.push_back(tree_[parent].children[k]);
    }
    return groups;
  }

  void inside(const Group& group, int depth) {
    Group small;
    for (const Group& children : children_of(group)) {
      if (options_.all || total(children, &ModuleRow::us) >= kSmall * whole_us(report_))
        this->group(children, depth);
      else
        small.insert(small.end(), children.begin(), children.end());
    }
    if (!small.empty())
      rows_.row(indented(depth, small.size() == 1 ? name_of(small)
                                                  : std::to_string(small.size()) + " small ones (--all)"),
                std::to_string(total(small, &ModuleRow::operator_count)), total(small, &ModuleRow::us),
                estimated(small));
    own(group, depth);
  }

  /// What belongs to the module and to none of its children.
  void own(const Group& group, int depth) {
    size_t count = 0;
    bool estimated = false, timed = false;
    for (const size_t at : group)
      for (const uint32_t id : tree_[at].operators) {
        ++count;
        estimated |= times_[id].by == PortionBy::kEqual;
        timed |= times_[id].has_kernel;
      }
    if (options_.all)
      operators(tree_[group.front()], depth);
    else if (count > 0)
      rows_.row(indented(depth, group.front() == 0 ? "in no module" : "its own operators"),
                std::to_string(count), total(group, &ModuleRow::own_us), estimated, timed);
    for (const auto& [name, member] :
         {std::pair{kRest, &ModuleRow::rest_us}, std::pair{kAdded, &ModuleRow::added_us}})
      if (const double us = total(group, member); us > kNothing) rows_.row(indented(depth, name), "", us);
  }

  void operators(const ModuleRow& row, int depth) {
    for (const uint32_t id : row.operators)
      if (times_[id].has_kernel)
        rows_.row(indented(depth, described(report_.operators[id], true)), "", times_[id].us,
                  times_[id].by == PortionBy::kEqual);
  }

  const ProfileReport& report_;
  const TableOptions& options_;
  const std::vector<ModuleRow> tree_;
  const std::vector<OperatorTime> times_;
  ViewRows rows_;
};

// ---- Lines of source.

class SourceTable {
 public:
  SourceTable(std::ostream& out, const ProfileReport& report, const TableOptions& options)
      : out_(out), report_(report), options_(options), times_(source_times(report)) {
    for (const SourceRow& row : times_.rows) longest_ = std::max(longest_, row.us);
  }

  void write() {
    for (size_t at = 0; at < times_.rows.size();) {
      size_t end = at;
      while (end < times_.rows.size() && times_.rows[end].where.file == times_.rows[at].where.file) ++end;
      file({times_.rows.data() + at, end - at});
      at = end;
    }
    ViewRows rest(out_, report_, options_);
    out_ << '\n';
    if (times_.rest_us > kNothing) rest.row("load, store, loop of several lines", "", times_.rest_us);
    if (times_.unplaced_us > kNothing) rest.row("of no line that is known", "", times_.unplaced_us);
    rest.end(options_.width);
  }

 private:
  static constexpr uint32_t kNear = 1;  // lines around one that takes time

  void file(std::span<const SourceRow> rows) {
    const std::string& name = rows.front().where.file;
    double us = 0;
    for (const SourceRow& row : rows) us += row.us;
    out_ << '\n'
         << in_style(Style::kHead, options_.colour,
                     formatted("%6s %11s %8s   %s", "line", "us", "share",
                               clipped(name.empty() ? relay_name() : name, 80).c_str()))
         << '\n';
    if (const std::string* text = source_text(report_, name))
      listing(rows, Source(name, *text));
    else
      for (const SourceRow& row : rows) line(row.where.line, &row, of_record(row));
    out_ << table_line(formatted("%6s %11s %8s", "sum", us_text(us).c_str(), share_text(us).c_str()));
  }

  std::string relay_name() const { return report_.source.empty() ? report_.model : report_.source; }

  std::string of_record(const SourceRow& row) const {
    const std::string in = row.where.function.empty() ? "" : "  (in " + row.where.function + ")";
    if (!row.where.text.empty()) return row.where.text + in;
    std::string text;  // what it computes, where the line is not known
    for (const uint32_t id : row.operators)
      text += (text.empty() ? "" : " + ") + brief_name(report_.operators[id].op);
    return text + in;
  }

  void listing(std::span<const SourceRow> rows, const Source& source) {
    const auto lines =
        static_cast<uint32_t>(std::ranges::count(source.text(), '\n') + !source.text().ends_with('\n'));
    auto next = rows.begin();
    bool skipped = false;
    for (uint32_t number = 1; number <= lines; ++number) {
      const bool here = next != rows.end() && next->where.line == number;
      const bool near = here || (next != rows.end() && next->where.line <= number + kNear) ||
                        (next != rows.begin() && std::prev(next)->where.line + kNear >= number);
      if (options_.all || near) {
        if (skipped) out_ << "   ...\n";
        line(number, here ? &*next : nullptr, std::string(source.line(number)));
      }
      skipped = !options_.all && !near;
      if (here) ++next;
    }
    for (; next != rows.end(); ++next) line(next->where.line, &*next, of_record(*next));  // of another text
  }

  std::string share_text(double us) const {
    return whole_us(report_) > 0 ? formatted("%.1f %%", us / whole_us(report_) * 100) : "";
  }

  void line(uint32_t number, const SourceRow* row, const std::string& text) {
    constexpr int kBar = 10, kBefore = 6 + 1 + 11 + 1 + 8 + 2 + kBar + 2;
    const double share = row && whole_us(report_) > 0 ? row->us / whole_us(report_) : 0;
    const double length = row && longest_ > 0 ? row->us / longest_ * kBar : 0;
    const int bar = static_cast<int>(std::clamp(length, 0.0, double{kBar}) + 0.5);
    const auto room = static_cast<size_t>(std::max(options_.width, kLeast) - kBefore);
    const std::string time = !row           ? ""
                             : row->us == 0 ? "< noise"
                                            : (row->estimated ? "~" : "") + us_text(row->us);
    const std::string numbers =
        formatted("%6u %11s %8s  %-*s  ", number, time.c_str(), row ? share_text(row->us).c_str() : "", kBar,
                  std::string(static_cast<size_t>(bar), '#').c_str());
    out_ << in_style(row ? style_of_share(share) : Style::kPlain, options_.colour,
                     table_line(numbers + clipped(text, room), false))
         << '\n';
  }

  std::ostream& out_;
  const ProfileReport& report_;
  const TableOptions& options_;
  const SourceTimes times_;
  double longest_ = 0;
};

}  // namespace

void write_by_module(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  ModuleTable(out, report, options).write();
  if (!has_modules(report))
    out << wrapped(
        "no operator has a module: those of ONNX files have one where the exporter says it, those of a "
        "function of a Relay module, and those called in Python's `with baton.module(...)`",
        7, options.width);
}

void write_by_module(std::ostream& out, const ProfileReport& a, const ProfileReport& b, int width) {
  const int name = std::clamp(width - 42, 33, 64);
  out << formatted("%-*s %10s %10s %11s %7s\n", name, "module", "A us", "B us", "B - A", "B/A");
  const auto row = [&](const std::string& text, double us_a, double us_b) {
    const double delta = us_b - us_a;
    const std::string ratio = us_a > 0 && us_b > 0 ? formatted("%.2fx", us_b / us_a) : "";
    out << table_line(formatted("%-*s %10s %10s %11s %7s", name,
                                clipped(text, static_cast<size_t>(name)).c_str(), us_text(us_a).c_str(),
                                us_text(us_b).c_str(),
                                ((delta < 0 ? "-" : "+") + us_text(std::abs(delta))).c_str(), ratio.c_str()));
  };
  for (const ModulePair& each : module_pairs(a, b)) {
    const auto depth = static_cast<size_t>(std::ranges::count(each.path, '/') + !each.path.empty());
    const std::string name_of = each.path.substr(each.path.rfind('/') + 1);
    row(std::string(2 * depth, ' ') + (each.path.empty() ? a.model : name_of), each.a_us, each.b_us);
  }
  row("outside kernels", a.residual_us(), b.residual_us());
  row("end to end", a.end_to_end_us, b.end_to_end_us);
}

void write_by_source(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  SourceTable(out, report, options).write();
}

void write_by_operator(std::ostream& out, const ProfileReport& report, const TableOptions& options) {
  const std::vector<OperatorTime> times = operator_times(report);
  std::vector<uint32_t> ids;
  double rest = report.sum_us, added = 0;
  for (const KernelRow& kernel : report.kernels)
    if (kernel.origins.empty()) added += kernel.median_us;
  for (uint32_t id = 0; id < times.size(); ++id) {
    if (times[id].has_kernel) ids.push_back(id);
    rest -= times[id].us;
  }
  std::ranges::stable_sort(ids, [&](uint32_t a, uint32_t b) { return times[a].us > times[b].us; });
  ViewRows rows(out, report, options);
  rows.head("operator", "in node");
  const size_t shown =
      options.all || options.top <= 0 ? ids.size() : std::min(ids.size(), static_cast<size_t>(options.top));
  double others = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const OperatorRow& row = report.operators[ids[i]];
    if (i >= shown) {
      others += times[ids[i]].us;
      continue;
    }
    const std::string more = row.nodes.size() > 1 ? " ..." : "";
    rows.row(described(row, false), row.nodes.empty() ? "" : std::to_string(row.nodes.front()) + more,
             times[ids[i]].us, times[ids[i]].by == PortionBy::kEqual);
  }
  if (shown < ids.size()) rows.row(std::to_string(ids.size() - shown) + " more (--top N)", "", others);
  if (rest - added > kNothing) rows.row(kRest, "", rest - added);
  if (added > kNothing) rows.row(kAdded, "", added);
  rows.end(options.width);
}

}  // namespace baton
