#include "baton/codegen/evaluate/index_form.h"

#include <algorithm>
#include <tuple>

namespace baton {
namespace {

/// Sorts the terms, adds those with equal digits, and merges adjacent digits.
void normalise(std::vector<IndexForm::Term>& terms) {
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return std::tie(a.var, a.div, a.mod) < std::tie(b.var, b.div, b.mod);
  });
  std::vector<IndexForm::Term> result;
  for (const IndexForm::Term& term : terms) {
    if (!result.empty()) {
      IndexForm::Term& last = result.back();
      if (last.var == term.var && last.div == term.div && last.mod == term.mod) {
        last.coef += term.coef;
        if (last.coef == 0) result.pop_back();
        continue;
      }
      if (last.var == term.var && last.div * last.mod == term.div && last.coef * last.mod == term.coef) {
        last.mod *= term.mod;
        continue;
      }
    }
    if (term.coef != 0 && term.mod > 1) result.push_back(term);
  }
  terms = std::move(result);
}

int64_t floor_division(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

IndexForm IndexForm::variable(int var, int64_t extent) {
  IndexForm form;
  if (extent > 1) form.terms.push_back({var, 1, extent, 1});
  return form;
}

int64_t IndexForm::min() const {
  int64_t value = constant;
  for (const Term& term : terms) value += std::min<int64_t>(0, term.coef * (term.mod - 1));
  return value;
}

int64_t IndexForm::max() const {
  int64_t value = constant;
  for (const Term& term : terms) value += std::max<int64_t>(0, term.coef * (term.mod - 1));
  return value;
}

IndexForm add(const IndexForm& a, const IndexForm& b, int64_t factor) {
  IndexForm sum = a;
  sum.constant += factor * b.constant;
  for (IndexForm::Term term : b.terms) {
    term.coef *= factor;
    sum.terms.push_back(term);
  }
  normalise(sum.terms);
  return sum;
}

IndexForm scale(const IndexForm& a, int64_t factor) { return add({}, a, factor); }

std::optional<Division> divide(const IndexForm& a, int64_t divisor) {
  Division result;
  result.quotient.constant = floor_division(a.constant, divisor);
  result.rest.constant = a.constant - divisor * result.quotient.constant;
  for (IndexForm::Term term : a.terms) {
    if (term.coef % divisor != 0 && term.coef > 0 && divisor % term.coef == 0) {
      // Splits the digit in two: the remainder below the divisor, and the quotient.
      const int64_t low = divisor / term.coef;
      if (term.mod > low) {
        if (term.mod % low != 0) return std::nullopt;
        result.rest.terms.push_back({term.var, term.div, low, term.coef});
        term = {term.var, term.div * low, term.mod / low, divisor};
      }
    }
    if (term.coef % divisor == 0) {
      term.coef /= divisor;
      result.quotient.terms.push_back(term);
    } else {
      result.rest.terms.push_back(term);
    }
  }
  normalise(result.quotient.terms);
  normalise(result.rest.terms);
  if (result.rest.min() < 0 || result.rest.max() >= divisor) return std::nullopt;
  return result;
}

}  // namespace baton
