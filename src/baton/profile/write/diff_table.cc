#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "baton/profile/report/diff.h"
#include "baton/profile/report/report_text.h"

namespace baton {
namespace {

constexpr size_t kLeft = 66, kIndent = 8;

std::string padded(std::string text, size_t width) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  text.resize(width, ' ');
  return text;
}

std::string right(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string time_of(double us, bool there) { return right(there ? us_text(us) : "-", 10); }

std::string delta_of(double us) {
  const std::string text = us_text(std::fabs(us));
  return right((us < 0 ? "-" : "+") + text, 11);
}

std::string ratio_of(const Compared& us) {
  if (us.a <= 0 || us.b <= 0) return right("", 8);
  char text[40];
  std::snprintf(text, sizeof text, us.b / us.a < 99.95 ? "%.2fx" : "%.0fx", us.b / us.a);
  return right(text, 8);
}

std::string verdict_of(const Compared& us) {
  if (!us.interval) return "  ?";
  if (!us.differs()) return "  within noise";
  return us.delta() < 0 ? "  faster" : "  slower";
}

void write_line(std::ostream& out, std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  out << text << '\n';
}

std::string list(const std::vector<uint32_t>& nodes) {
  std::string text;
  for (uint32_t node : nodes) text += (text.empty() ? "" : ",") + std::to_string(node);
  return text.empty() ? "-" : text;
}

std::string side_text(const DiffSide& side) {
  return side.model + " on " + side.target + ", " + std::to_string(side.threads) +
         (side.threads == 1 ? " thread" : " threads") +
         (side.opt_level < 0 ? "" : ", opt level " + std::to_string(side.opt_level)) +
         (side.precision.empty() ? "" : ", precision " + side.precision) + ", baton " + side.version + ": " +
         side.label;
}

class Table {
 public:
  Table(std::ostream& out, const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b)
      : out_(out), diff_(diff), a_(a) {
    for (const KernelRow& row : a.kernels) of_a_[row.node] = &row;
    for (const KernelRow& row : b.kernels) of_b_[row.node] = &row;
  }

  void write() {
    out_ << "A  " << side_text(diff_.a) << "\nB  " << side_text(diff_.b) << "\n\n";
    write_line(out_, padded("kernels of A | B, and the operators they compute", kLeft) + right("A us", 10) +
                         right("B us", 10) + right("B - A", 11) + right("B/A", 8));
    for (const DiffGroup& group : diff_.groups) write_group(group);
    if (!diff_.own.empty()) write_line(out_, "\nkernels of the compiler's own");
    for (const DiffOwn& own : diff_.own) {
      write_kernels(own.a_nodes, own.b_nodes, own.us);
      write_line(out_, std::string(kIndent, ' ') +
                           padded("made for " + operators_text(a_, own.made_for) + ": " + own.reason, 110));
    }
    write_totals();
    for (const std::string& note : diff_.notes) out_ << "  " << note << '\n';
  }

 private:
  void row(const std::string& left, const Compared& us, bool in_a, bool in_b, bool judged) {
    write_line(out_, padded(left, kLeft) + time_of(us.a, in_a) + time_of(us.b, in_b) + delta_of(us.delta()) +
                         ratio_of(us) + (judged ? verdict_of(us) : ""));
  }

  // One line when the same kernel is used in both; else one per kernel, and one for their sum.
  void write_kernels(const std::vector<uint32_t>& in_a, const std::vector<uint32_t>& in_b,
                     const Compared& us) {
    if (in_a.size() == 1 && in_b.size() == 1 && of_a_.at(in_a[0])->name == of_b_.at(in_b[0])->name) {
      row(list(in_a) + " | " + list(in_b) + "  " + of_a_.at(in_a[0])->title, us, true, true, true);
      return;
    }
    for (uint32_t node : in_a)
      write_line(out_, padded("A " + list({node}) + "  " + of_a_.at(node)->title, kLeft) +
                           time_of(of_a_.at(node)->median_us, true));
    for (uint32_t node : in_b)
      write_line(out_, padded("B " + list({node}) + "  " + of_b_.at(node)->title, kLeft + 10) +
                           time_of(of_b_.at(node)->median_us, true));
    row(list(in_a) + " | " + list(in_b) + "  together", us, !in_a.empty(), !in_b.empty(), true);
  }

  static std::string describe_place(const char* side, const DiffPlace& place) {
    if (!place.has_kernel) return std::string(", ") + side + ": " + place.instead;
    return place.by == PortionBy::kEqual ? std::string(", ") + side + ": equal portion" : "";
  }

  void write_operator(const DiffOperator& each, bool alone) {
    const std::string name = std::string(kIndent, ' ') + operators_text(a_, {each.id}) +
                             describe_place("A", each.a) + describe_place("B", each.b);
    if (alone)
      write_line(out_, name);
    else
      row(name, each.us, each.a.has_kernel, each.b.has_kernel, true);
    for (const auto& [side, ids] : {std::pair("A", &each.only_a), std::pair("B", &each.only_b)})
      if (!ids->empty())
        write_line(out_,
                   std::string(kIndent + 2, ' ') +
                       padded("only in " + std::string(side) + " with " + operators_text(a_, *ids), 108));
  }

  void write_group(const DiffGroup& group) {
    write_kernels(group.a_nodes, group.b_nodes, group.us);
    for (uint32_t id : group.operators) write_operator(diff_.operators.at(id), group.operators.size() == 1);
    if (group.rest.a > 0 || group.rest.b > 0)
      row(std::string(kIndent, ' ') + "load, store, loop", group.rest, group.rest.a > 0, group.rest.b > 0,
          false);
  }

  void write_totals() {
    out_ << '\n';
    const std::string indent(kIndent, ' ');
    row(indent + "operators", diff_.operators_us, true, true, false);
    row(indent + "load, store, loop of kernels of several operators", diff_.rest_us, true, true, false);
    row(indent + "kernels of the compiler's own", diff_.own_us, true, true, false);
    row(indent + "sum of kernels", diff_.sum_us, true, true, true);
    row(indent + "end to end, profiling off", diff_.end_to_end_us, true, true, true);
    const auto nowhere = std::ranges::count_if(
        diff_.operators, [](const DiffOperator& each) { return !each.a.has_kernel && !each.b.has_kernel; });
    out_ << '\n';
    if (nowhere > 0)
      out_ << "  " << nowhere << " of " << diff_.operators.size()
           << " operators have no kernel in either build\n";
    out_ << "  within noise: no larger than what chance makes of so many rows and rounds (95 %); ?: not "
            "measured\n";
  }

  std::ostream& out_;
  const ProfileDiff& diff_;
  const ProfileReport& a_;
  std::map<uint32_t, const KernelRow*> of_a_, of_b_;
};

}  // namespace

void write_table(std::ostream& out, const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b) {
  Table(out, diff, a, b).write();
}

}  // namespace baton
