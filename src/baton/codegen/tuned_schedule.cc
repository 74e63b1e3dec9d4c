#include "baton/codegen/tuned_schedule.h"

#include <cstdlib>
#include <sstream>

namespace baton {

std::string schedule_text(const KernelSchedule& schedule) {
  std::string text = schedule.template_name;
  for (const auto& [name, value] : schedule.params) text += " " + name + "=" + std::to_string(value);
  return text;
}

std::optional<KernelSchedule> schedule_of_text(const std::string& text) {
  KernelSchedule schedule;
  std::istringstream words(text);
  words >> schedule.template_name;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    char* rest = nullptr;
    const long value = equals == std::string::npos ? 0 : std::strtol(word.c_str() + equals + 1, &rest, 10);
    if (!rest || *rest || rest == word.c_str() + equals + 1) return std::nullopt;
    schedule.params[word.substr(0, equals)] = static_cast<int>(value);
  }
  return schedule;
}

std::string TunedSchedule::text() const {
  std::ostringstream out;
  out << "tuned 1\n" << schedule_text(schedule) << "\n" << second << "\n";
  out << us << " " << default_us << " " << second_us << " " << tried << " " << candidates << "\nend\n";
  return out.str();
}

std::optional<TunedSchedule> TunedSchedule::from_text(const std::string& text) {
  std::istringstream in(text);
  std::string head, schedule, end;
  TunedSchedule tuned;
  if (!std::getline(in, head) || head != "tuned 1" || !std::getline(in, schedule) ||
      !std::getline(in, tuned.second))
    return std::nullopt;
  if (!(in >> tuned.us >> tuned.default_us >> tuned.second_us >> tuned.tried >> tuned.candidates >> end) ||
      end != "end")
    return std::nullopt;
  const auto read = schedule_of_text(schedule);
  if (!read) return std::nullopt;
  tuned.schedule = *read;
  return tuned;
}

}  // namespace baton
