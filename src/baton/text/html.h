#pragma once
// Programs as pieces of HTML, for notebooks: coloured text, functions and constants that unfold.
#include <string>
#include <string_view>

#include "baton/ir/module.h"

namespace baton {

/// `text` with <, >, &, " and ' written as entities.
std::string html_escaped(std::string_view text);

/// One <div>, style included. Constants show their type and unfold to their first values; a long list of
/// parameters is folded; functions that another compiler is to build, and their calls, have a colour per
/// compiler. Of more than 5,000 lines the rest is counted only.
std::string html(const IRModuleNode& module);
std::string html(const Expr& expr);

/// The colour of the `index`-th compiler, as CSS has it.
std::string html_colour(size_t index);

/// The <style> of all that is ours in a notebook: what stands inside <div class="baton">. Legible on a light
/// and on a dark page.
const std::string& html_style();

/// "1 parameter", "3 parameters".
std::string counted(size_t count, const std::string& what);

}  // namespace baton
