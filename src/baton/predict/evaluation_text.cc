// An evaluation as a table, JSON and a page.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "baton/predict/evaluation.h"
#include "baton/support/json.h"
#include "baton/text/html.h"

namespace baton {

namespace {

constexpr int kPlot = 320, kPlotMargin = 44;
constexpr size_t kMostPoints = 2000, kShownFeatures = 20;

std::string in_form(const char* form, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

std::string percent_or_dash(double fraction) { return fraction < 0 ? "-" : in_form("%.1f", 100 * fraction); }

Json accuracy_json(const Accuracy& a) {
  const auto or_null = [](double value) { return value < 0 ? Json(nullptr) : Json(value); };
  return {{"count", a.count},
          {"median_error", a.median_error},
          {"p90_error", a.p90_error},
          {"within_5", a.within_5},
          {"within_10", a.within_10},
          {"within_20", a.within_20},
          {"kendall_tau", a.kendall_tau},
          {"coverage", or_null(a.coverage)},
          {"width", or_null(a.width)},
          {"flagged", a.flagged},
          {"large_errors", a.large},
          {"large_flagged", a.large_flagged}};
}

/// Columns of the table, in percent but tau.
std::vector<std::string> cells(const AccuracyRow& row) {
  const Accuracy& a = row.accuracy;
  return {
      row.of,
      row.backend,
      row.held_out,
      row.predictor,
      std::to_string(a.count),
      in_form("%.2f", 100 * a.median_error),
      in_form("%.1f", 100 * a.p90_error),
      in_form("%.1f", 100 * a.within_5),
      in_form("%.1f", 100 * a.within_10),
      in_form("%.1f", 100 * a.within_20),
      in_form("%.3f", a.kendall_tau),
      percent_or_dash(a.coverage),
      percent_or_dash(a.width),
      a.coverage < 0 ? "-" : in_form("%.1f", 100 * a.flagged),
      a.coverage < 0 ? "-" : in_form("%.0f of %lld", 100 * a.large_flagged, static_cast<long long>(a.large))};
}

const std::vector<std::string> kHeads{"of",       "backend", "held out", "predictor", "n",
                                      "median %", "p90 %",   "<=5 %",    "<=10 %",    "<=20 %",
                                      "tau",      "cover",   "width %",  "flag %",    "large flagged %"};

/// A square plot: (x, y) in [0, 1], the diagonal, and axis labels.
std::string plot(const std::string& title, const std::string& x, const std::string& y,
                 const std::vector<std::pair<double, double>>& points, bool joined) {
  const int all = kPlot + 2 * kPlotMargin;
  std::string svg =
      in_form("<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">", all, all, all, all);
  svg += "<text x=\"" + std::to_string(kPlotMargin) + "\" y=\"20\" font-weight=\"600\">" +
         html_escaped(title) + "</text>";
  svg += in_form("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>",
                 kPlotMargin, kPlotMargin, kPlot, kPlot);
  svg += in_form("<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>",
                 kPlotMargin, kPlotMargin + kPlot, kPlotMargin + kPlot, kPlotMargin);
  std::string line;
  for (const auto& [px, py] : points) {
    const double at_x = kPlotMargin + kPlot * std::clamp(px, 0.0, 1.0);
    const double at_y = kPlotMargin + kPlot * (1 - std::clamp(py, 0.0, 1.0));
    svg += in_form("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"#2463a8\" fill-opacity=\"0.45\"/>", at_x,
                   at_y, joined ? 4 : 2);
    line += in_form("%.1f,%.1f ", at_x, at_y);
  }
  if (joined) svg += "<polyline fill=\"none\" stroke=\"#2463a8\" points=\"" + line + "\"/>";
  svg += in_form("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", kPlotMargin + kPlot / 2,
                 kPlot + 2 * kPlotMargin - 14) +
         html_escaped(x) + "</text>";
  svg += in_form("<text x=\"16\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 16 %d)\">",
                 kPlotMargin + kPlot / 2, kPlotMargin + kPlot / 2) +
         html_escaped(y) + "</text></svg>";
  return svg;
}

std::string times_plot(const Evaluation::Points& of) {
  double low = 1e300, high = -1e300;
  for (const PredictedTime& each : of.times)
    for (const double us : {each.measured_us, each.predicted.us}) {
      low = std::min(low, std::log10(us));
      high = std::max(high, std::log10(us));
    }
  if (high <= low) high = low + 1;
  std::vector<std::pair<double, double>> points;
  const size_t step = of.times.size() / kMostPoints + 1;
  for (size_t i = 0; i < of.times.size(); i += step)
    points.emplace_back((std::log10(of.times[i].measured_us) - low) / (high - low),
                        (std::log10(of.times[i].predicted.us) - low) / (high - low));
  return plot(of.of + " of " + of.backend + ", held-out " + of.held_out,
              in_form("measured, %.3g to %.3g us, logarithmic", std::pow(10, low), std::pow(10, high)),
              "predicted", points, false);
}

}  // namespace

Json evaluation_json(const Evaluation& evaluation) {
  Json rows = Json::array(), calibration = Json::array();
  for (const AccuracyRow& row : evaluation.rows) {
    Json json{
        {"of", row.of}, {"backend", row.backend}, {"held_out", row.held_out}, {"predictor", row.predictor}};
    json.update(accuracy_json(row.accuracy));
    rows.push_back(std::move(json));
  }
  for (const CalibrationRow& row : evaluation.calibration)
    calibration.push_back({{"of", row.of},
                           {"backend", row.backend},
                           {"held_out", row.held_out},
                           {"level", row.level},
                           {"coverage", row.coverage}});
  return {{"rows", rows}, {"calibration", calibration}};
}

void write_evaluation(std::ostream& out, const Evaluation& evaluation) {
  std::vector<std::vector<std::string>> table{kHeads};
  for (const AccuracyRow& row : evaluation.rows) table.push_back(cells(row));
  std::vector<size_t> widths(kHeads.size());
  for (const auto& line : table)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  for (const auto& line : table) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - line[i].size(), ' ');
      text += (i ? "  " : "") + (i < 4 ? line[i] + pad : pad + line[i]);
    }
    out << text << '\n';
  }
  for (const std::string& each : evaluation.left_out) out << "left out: " << each << '\n';
}

void write_carry_curve(std::ostream& out, std::span<const CarryRow> rows) {
  out << "kernels  carried: median %  <=10 %  from scratch: median %  <=10 %\n";
  for (const CarryRow& row : rows)
    out << in_form("%7d  %17.2f  %6.1f  ", row.kernels, 100 * row.carried.median_error,
                   100 * row.carried.within_10)
        << (row.scratch.count
                ? in_form("%22.2f  %6.1f\n", 100 * row.scratch.median_error, 100 * row.scratch.within_10)
                : in_form("%22s  %6s\n", "-", "-"));
}

std::string evaluation_page(const Evaluation& evaluation, const Predictor& predictor) {
  std::string page =
      "<!doctype html><meta charset=\"utf-8\"><title>Accuracy of a predictor</title><style>body{font:14px "
      "sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:2px 8px;border-bottom:1px solid "
      "#ddd;text-align:right}td:nth-child(-n+4),th:nth-child(-n+4){text-align:left}</style>";
  page += "<h1>Accuracy of a predictor</h1><p>Trained " + html_escaped(predictor.card.date) + " with Baton " +
          html_escaped(predictor.card.version) + " on " + std::to_string(predictor.card.kernels) +
          " kernels of " + std::to_string(predictor.card.models) + " models.</p><table><tr>";
  for (const std::string& head : kHeads) page += "<th>" + html_escaped(head) + "</th>";
  page += "</tr>";
  for (const AccuracyRow& row : evaluation.rows) {
    page += "<tr>";
    for (const std::string& cell : cells(row)) page += "<td>" + html_escaped(cell) + "</td>";
    page += "</tr>";
  }
  page += "</table><h2>Calibration of intervals</h2>";
  std::map<std::string, std::vector<std::pair<double, double>>> curves;
  for (const CalibrationRow& row : evaluation.calibration)
    curves[row.of + " of " + row.backend + ", held-out " + row.held_out].emplace_back(row.level,
                                                                                      row.coverage);
  for (const auto& [title, points] : curves)
    page += plot(title, "level asked", "measured times inside", points, true);
  page += "<h2>Predicted and measured</h2>";
  for (const Evaluation::Points& of : evaluation.points) page += times_plot(of);
  page += "<h2>What the trees ask for</h2>";
  for (const auto& [backend, regressor] : predictor.kernels) {
    page +=
        "<h3>" + html_escaped(backend) + "</h3><table><tr><th>feature</th><th>part of the splits %</th></tr>";
    const auto all = regressor.importance();
    for (size_t i = 0; i < std::min(kShownFeatures, all.size()); ++i)
      page += "<tr><td>" + html_escaped(all[i].first) + "</td><td>" + in_form("%.1f", 100 * all[i].second) +
              "</td></tr>";
    page += "</table>";
  }
  return page;
}

}  // namespace baton
