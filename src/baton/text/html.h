#pragma once
// Programs as HTML fragments for notebooks: highlighted text, collapsible functions and constants.
#include <string>
#include <string_view>

#include "baton/ir/module.h"

namespace baton {

/// `text` with <, >, &, " and ' as entities.
std::string html_escaped(std::string_view text);

/// One <div>, style included. Constants show their type and expand to their first values; long parameter
/// lists are collapsed; external compilers' functions, and their calls, have a colour per compiler. Lines
/// beyond 5,000 are only counted.
std::string html(const IRModuleNode& module);
std::string html(const Expr& expr);

/// The CSS colour of the `index`-th compiler.
std::string html_colour(size_t index);

/// The <style> for everything inside <div class="baton">. Legible on light and dark pages.
const std::string& html_style();

/// "1 parameter", "3 parameters".
std::string counted(size_t count, const std::string& what);

}  // namespace baton
