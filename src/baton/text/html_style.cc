// Shared parts of Baton's HTML output: style, colours, escapes.
#include "baton/text/html.h"

namespace baton {
namespace {

/// The CSS rule of a token class. The page's theme is unknown, so the hue is mixed with its text colour.
/// Browsers before 2023 use the first colour.
std::string hue(const char* kind, const std::string& colour) {
  return ".baton ." + std::string(kind) + "{color:" + colour + ";color:color-mix(in srgb," + colour +
         " 62%,currentColor)}";
}

std::string make_style() {
  return "<style>.baton{overflow-x:auto}.baton pre{margin:0 0 "
         ".5em;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.35}"
         ".baton summary{cursor:pointer}.baton details{margin:0}"
         ".baton .l,.baton .h{display:block}.baton .l{padding-left:8ch;text-indent:-8ch}" +
         hue("k", "#8250df") + hue("o", "#0969da") + hue("v", "#bc4c00") + hue("g", "#1a7f37") +
         hue("s", "#0a7d91") + hue("n", "#0969da") + hue("c", "#808080") + hue("a", "#808080") +
         hue("w", "#808080") +
         ".baton .g{font-weight:600}"
         // Collapsed inside a line of text, which continues after it.
         ".baton .w,.baton .w>summary,.baton .p,.baton .p>summary{display:inline}"
         ".baton .w[open]::details-content,.baton .p[open]::details-content{display:inline}"
         ".baton .w:not([open])::details-content,.baton .p:not([open])::details-content{display:none}"
         ".baton .w>summary,.baton .p>summary{border:1px solid;border-radius:3px;padding:0 3px;margin:0 "
         "1px;font-size:90%;opacity:.8}"
         ".baton .w>summary::before,.baton .p>summary::before{content:'+ '}"
         ".baton .w[open]>summary::before,.baton .p[open]>summary::before{content:'\\2212  '}"
         ".baton .r{border-left:4px solid;padding-left:6px}"
         ".baton .b{padding:0 5px;border-radius:3px;color:#fff;font-size:85%}"
         "</style>";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_colour(size_t index) {
  // Golden angle: adjacent hues differ, for any count. Dark enough for white text.
  return "hsl(" + std::to_string((index * 137 + 210) % 360) + ",55%,38%)";
}

const std::string& html_style() {
  static const std::string style = make_style();
  return style;
}

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace baton
