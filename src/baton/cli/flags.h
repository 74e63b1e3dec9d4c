#pragma once
// What a verb takes on the command line, as a list of plain records: names, documentation, and where each
// value goes. Only command_line.cc knows the library that parses it.
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace baton::cli {

/// One thing that a verb takes. The setters return the flag, to be written one behind the other.
struct Flag {
  enum class Kind {
    kPositional,   ///< MODEL
    kOption,       ///< --name VALUE; of a vector: --name VALUE VALUE ...
    kFlag,         ///< --name
    kFlagOrValue,  ///< --name (means `implied`), or --name=VALUE
    kFiles,        ///< --name FILE, as often as wanted
  };
  using Value = std::variant<bool*, int*, double*, std::string*, std::optional<std::string>*,
                             std::vector<std::string>*>;

  Kind kind = Kind::kOption;
  std::string name;  ///< "output", with a short form "o,output"; of a positional as it is shown: "MODEL"
  Value value = static_cast<bool*>(nullptr);
  std::string doc;

  bool is_required = false, shows_default = false;
  std::optional<std::pair<double, double>> limits{};  ///< both included
  std::vector<std::string> members{};                 ///< not empty: the value is one of these
  std::string implied{};                              ///< of kFlagOrValue
  std::string needed{};                               ///< a flag that has to be given too

  Flag& required(bool is = true) { return is_required = is, *this; }
  /// --help shows the value that is there before parsing.
  Flag& show_default() { return shows_default = true, *this; }
  Flag& range(double least, double most) { return limits = {least, most}, *this; }
  Flag& choices(std::vector<std::string> all) { return members = std::move(all), *this; }
  Flag& needs(std::string other) { return needed = std::move(other), *this; }
};

/// The flags of a verb, in the order of --help. A value that is not given keeps what it holds; values have to
/// outlive the parsing.
class Flags {
 public:
  Flag& positional(std::string name, std::string* value, std::string doc);
  Flag& option(std::string name, Flag::Value value, std::string doc);
  Flag& flag(std::string name, bool* value, std::string doc);
  Flag& flag_or_value(std::string name, double* value, std::string implied, std::string doc);
  Flag& files(std::string name, std::vector<std::string>* value, std::string doc);
  /// A section of --help of which one flag may be given at most.
  Flags& one_of(std::string name, std::string doc);

  /// The flag of that name; it is there.
  Flag& at(const std::string& name);

  const std::deque<Flag>& list() const { return list_; }
  const std::deque<Flags>& groups() const { return groups_; }
  const std::string& name() const { return name_; }  ///< of a group
  const std::string& doc() const { return doc_; }    ///< of a group

 private:
  std::string name_, doc_;
  std::deque<Flag> list_;  // a deque: what was returned stays where it is
  std::deque<Flags> groups_;
};

}  // namespace baton::cli
