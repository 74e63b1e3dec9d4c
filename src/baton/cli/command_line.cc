// The only file that includes CLI11: its headers take longer to compile than all verbs together.
#include "baton/cli/command_line.h"

#include <cmath>
#include <cstdlib>

#include <CLI/CLI.hpp>

namespace baton::cli {

namespace {

constexpr int kWrongUsage = 2;

/// "o,output" -> "-o,--output".
std::string dashed(const Flag& flag) {
  if (flag.kind == Flag::Kind::kPositional) return flag.name;
  const size_t comma = flag.name.find(',');
  const std::string text = comma == std::string::npos
                               ? "--" + flag.name
                               : "-" + flag.name.substr(0, comma) + ",--" + flag.name.substr(comma + 1);
  return flag.kind == Flag::Kind::kFlagOrValue ? text + "{" + flag.implied + "}" : text;
}

CLI::Option* add_list(CLI::App& app, const Flag& flag) {
  return app.add_option_function<std::string>(
      dashed(flag),
      [&flag](const std::string& text) {
        if (const std::string wrong = flag.set_items(text); !wrong.empty())
          throw CLI::ValidationError(dashed(flag), wrong);
      },
      flag.doc);
}

CLI::Option* add_one(CLI::App& app, const Flag& flag) {
  const std::string name = dashed(flag);
  switch (flag.kind) {
    case Flag::Kind::kList:
      return add_list(app, flag);
    case Flag::Kind::kNegated:
      return app.add_flag_function(
          name, [to = std::get<bool*>(flag.value)](int64_t count) { *to = count <= 0; }, flag.doc);
    case Flag::Kind::kFlag:
      return app.add_flag(name, *std::get<bool*>(flag.value), flag.doc);
    case Flag::Kind::kFlagOrValue:
      return app.add_flag(name, *std::get<double*>(flag.value), flag.doc);
    case Flag::Kind::kFiles:
      // One value per occurrence: a second one would consume the model's name after it.
      return app.add_option(name, *std::get<std::vector<std::string>*>(flag.value), flag.doc)
          ->type_name(flag.placeholder)
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
    case Flag::Kind::kPositional:
    case Flag::Kind::kOption:
      break;
  }
  return std::visit([&](auto* value) { return app.add_option(name, *value, flag.doc); }, flag.value);
}

/// "nan" lies within every range of CLI11.
std::string is_number(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not a number" : "";
}

void add_all(CLI::App& app, const Flags& flags) {
  for (const Flag& flag : flags.all()) {
    CLI::Option* option = add_one(app, flag);
    option->required(flag.is_required);
    if (flag.limits && flag.is_whole())
      option->check(CLI::Range(static_cast<int>(flag.limits->first), static_cast<int>(flag.limits->second)));
    else if (flag.limits)
      option->check(CLI::Range(flag.limits->first, flag.limits->second))->check(is_number);
    if (!flag.members.empty()) option->check(CLI::IsMember(flag.members));
    if (flag.shows_default) option->capture_default_str();
    if (!flag.needed.empty()) option->needs(app.get_option("--" + flag.needed));
  }
  for (const Flags& group : flags.groups()) {
    CLI::App* section = app.add_option_group(group.name(), group.doc());
    add_all(*section, group);
    section->require_option(0, 1);
  }
}

/// `verbs`: in the order of `line.verbs`.
std::unique_ptr<CLI::App> app_of(const CommandLine& line, std::vector<CLI::App*>& verbs) {
  auto app = std::make_unique<CLI::App>(line.doc, line.name);
  app->set_version_flag("--version", line.version);
  app->require_subcommand(1);
  app->footer(line.footer);
  for (const VerbEntry& verb : line.verbs) {
    verbs.push_back(app->add_subcommand(verb.name, verb.doc));
    add_all(*verbs.back(), verb.flags);
  }
  return app;
}

/// The long names of the options that `app` has met, those of its groups included.
void add_given(const CLI::App& app, std::set<std::string>& given) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0)
      for (const std::string& name : option->get_lnames()) given.insert(name);
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    add_given(*group, given);
}

}  // namespace

std::string help(const CommandLine& line) {
  std::vector<CLI::App*> verbs;
  return app_of(line, verbs)->help();
}

Parsed parse(const CommandLine& line, int argc, const char* const* argv, Io& io) {
  std::vector<CLI::App*> verbs;
  const std::unique_ptr<CLI::App> app = app_of(line, verbs);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {-1, app->exit(error, io.out, io.err)};  // --help, --version
    const CLI::App* verb = app->get_subcommands().empty() ? nullptr : app->get_subcommands().front();
    const std::string name = verb ? line.name + " " + verb->get_name() : line.name;
    io.err << name << ": " << error.what() << "\n  see: " << name << " --help\n";
    return {-1, kWrongUsage};
  }
  for (size_t i = 0; i < verbs.size(); ++i)
    if (verbs[i]->parsed()) {
      Parsed parsed{static_cast<int>(i), 0};
      add_given(*verbs[i], parsed.given);
      return parsed;
    }
  return {-1, kWrongUsage};
}

ParsedText parse_text(const Flags& flags, const std::string& text) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  add_all(app, flags);
  try {
    app.parse(text);
  } catch (const CLI::ParseError& error) {
    return {error.what(), {}};
  }
  return {"", app.remaining()};
}

}  // namespace baton::cli
