// Sums of products named by index letters. Terms are multiplied from left to right. A letter is summed as soon as
// neither a later term nor the result needs it.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ir/contains.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/diagonals.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// A letter, or kEllipsis + n for an axis of "...": n counts from its last axis.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

struct EinsumTerm {
  UOp x;
  Labels labels;
};

std::string name_of(Label l) { return l < kEllipsis ? std::string(1, static_cast<char>(l)) : "..."; }

/// The labels of one operand or of the result. "..." stands for `ellipsis` axes.
Labels parse(std::string_view text, std::string_view formula, size_t ellipsis) {
  Labels out;
  bool open = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (std::exchange(open, true))
        usage_error("\"{}\" has 2 times \"...\" in \"{}\"; at most 1 can stand for the axes not named", formula, text);
      for (size_t n = ellipsis; n-- > 0;) out.push_back(kEllipsis + static_cast<Label>(n));
      i += 2;
      continue;
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      usage_error("'{}' in \"{}\" is no index letter; use letters, \"...\", ',' and \"->\"", c, formula);
    out.push_back(c);
  }
  return out;
}

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma == text.npos ? comma : comma - begin));
    if (comma == text.npos) return parts;
    begin = comma + 1;
  }
}

/// A label that occurs twice in a term: keeps the diagonal of its two axes.
void take_diagonals(EinsumTerm& term) {
  for (size_t b = 1; b < term.labels.size(); ++b) {
    const size_t a = static_cast<size_t>(std::ranges::find(term.labels, term.labels[b]) - term.labels.begin());
    if (a == b) continue;
    UOp x = term.x;
    if (!(x->shape[a] == x->shape[b]))
      usage_error("letter '{}' stands for {} and {} in {}; {}", name_of(term.labels[b]), to_string(x->shape[a]),
                  to_string(x->shape[b]), describe(x),
                  mismatch_hint(x->shape[a], x->shape[b], "a repeated letter needs equal sizes"));
    const int64_t at = static_cast<int64_t>(b);
    term.x = take_diagonal(x, static_cast<int64_t>(a), at);
    term.labels.erase(term.labels.begin() + at);
    --b;
  }
}

/// Sums over the labels that are not in `needed`.
void sum_unneeded(EinsumTerm& term, const Labels& needed) {
  Ints axes;
  for (size_t i = 0; i < term.labels.size(); ++i)
    if (!contains(needed, term.labels[i])) axes.push_back(static_cast<int64_t>(i));
  if (axes.empty()) return;
  term.x = reduce(addition_of(term.x->dtype), term.x, axes);
  std::erase_if(term.labels, [&](Label l) { return !contains(needed, l); });
}

/// The term permuted to `order` and broadcast along the labels that it lacks.
UOp broadcast_term(const EinsumTerm& term, const Labels& order, const Shape& shape) {
  Ints own, lacked;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = std::ranges::find(term.labels, order[i]);
    if (at == term.labels.end())
      lacked.push_back(static_cast<int64_t>(i));
    else
      own.push_back(at - term.labels.begin());
  }
  return broadcast_to(permute(term.x, own), shape, lacked);
}

/// The product of two terms. Sizes of a common letter are equal or 1.
EinsumTerm multiply(EinsumTerm a, EinsumTerm b) {
  as_factors(a.x, b.x);
  Labels order = a.labels;
  Shape shape = a.x->shape;
  for (size_t i = 0; i < b.labels.size(); ++i) {
    const size_t at = static_cast<size_t>(std::ranges::find(order, b.labels[i]) - order.begin());
    const Dim& size = b.x->shape[i];
    if (at == order.size())
      order.push_back(b.labels[i]), shape.push_back(size);
    else if (shape[at] == 1)
      shape[at] = size;
  }
  check_shape(shape);
  return {broadcast_term(a, order, shape) * broadcast_term(b, order, shape), order};
}

/// The result labels without "->": the axes of "...", then letters that occur once, in alphabetical order.
Labels implicit_result(std::string_view inputs, size_t ellipsis) {
  std::map<Label, int> uses;
  for (char c : inputs)
    if (c != ' ' && c != ',' && c != '.') ++uses[c];
  Labels out;
  for (size_t n = ellipsis; n-- > 0;) out.push_back(kEllipsis + static_cast<Label>(n));
  for (auto [label, count] : uses)
    if (count == 1) out.push_back(label);
  return out;
}

/// The common dtype of the operands.
DType type_of(const std::vector<Tensor>& operands) {
  DType type = autocast_type(node_of(operands[0])->dtype);
  for (const Tensor& t : operands) type = promote(type, autocast_type(node_of(t)->dtype));
  return type;
}

/// The operands in the compute dtype of `type`, with their labels. `ellipsis` becomes the largest number of axes that
/// "..." stands for.
std::vector<EinsumTerm> parse_terms(std::string_view inputs, std::string_view formula,
                                    const std::vector<Tensor>& operands, DType type, size_t& ellipsis) {
  std::vector<std::string_view> parts = split_commas(inputs);
  if (parts.size() != operands.size())
    usage_error("\"{}\" names {} operands, {} are given; write one list of letters for each", formula, parts.size(),
                operands.size());
  std::vector<UOp> nodes;
  for (const Tensor& t : operands) nodes.push_back(to_compute_type(cast(node_of(t), type)));
  unify_devices(nodes);
  std::vector<EinsumTerm> terms;
  for (size_t i = 0; i < parts.size(); ++i) {
    UOp x = nodes[i];
    const size_t letters = parse(parts[i], formula, 0).size();
    const bool open = parts[i].find("...") != parts[i].npos;
    if (letters > x->rank() || (!open && letters != x->rank()))
      usage_error("\"{}\" gives operand {} {} letters, but it is {} with {} axes; write one letter per axis", formula,
                  i, letters, describe(x), x->rank());
    ellipsis = std::max(ellipsis, x->rank() - letters);
    terms.push_back({x, parse(parts[i], formula, x->rank() - letters)});
    take_diagonals(terms.back());
  }
  return terms;
}

void check_sizes(const std::vector<EinsumTerm>& terms, std::string_view formula) {
  std::map<Label, Dim> sizes;
  for (const EinsumTerm& t : terms)
    for (size_t i = 0; i < t.labels.size(); ++i) {
      const Dim& d = t.x->shape[i];
      auto [seen, first] = sizes.try_emplace(t.labels[i], d);
      if (first || seen->second == d || d == 1) continue;
      if (!(seen->second == 1))
        usage_error("index '{}' of \"{}\" stands for {} and for {}; {}", name_of(t.labels[i]), formula,
                    to_string(seen->second), to_string(d),
                    mismatch_hint(seen->second, d, "sizes of one letter must be equal"));
      seen->second = d;
    }
}

}  // namespace

Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Loc where) {
  Call call("einsum", where);
  if (operands.empty()) usage_error("\"{}\" with 0 operands; give at least 1", formula);
  const size_t arrow = formula.find("->");
  size_t ellipsis = 0;
  const DType type = type_of(operands);
  std::vector<EinsumTerm> terms = parse_terms(formula.substr(0, arrow), formula, operands, type, ellipsis);
  const Labels result =
      arrow == formula.npos ? implicit_result(formula, ellipsis) : parse(formula.substr(arrow + 2), formula, ellipsis);
  for (size_t i = 0; i < result.size(); ++i) {
    bool known = std::ranges::any_of(terms, [&](const EinsumTerm& t) { return contains(t.labels, result[i]); });
    bool once = std::ranges::count(result, result[i]) == 1;
    if (!known || !once)
      usage_error("letter '{}' of the result of \"{}\" stands {}; each must stand once there and in an operand",
                  name_of(result[i]), formula, known ? "there twice" : "in no operand");
  }
  check_sizes(terms, formula);
  // The labels still needed: those of the result and of later terms.
  auto needed_from = [&](size_t first, size_t skip) {
    Labels needed = result;
    for (size_t i = first; i < terms.size(); ++i)
      if (i != skip) needed.insert(needed.end(), terms[i].labels.begin(), terms[i].labels.end());
    return needed;
  };
  for (size_t i = 0; i < terms.size(); ++i) sum_unneeded(terms[i], needed_from(0, i));
  EinsumTerm product = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    product = multiply(product, terms[i]);
    sum_unneeded(product, needed_from(i + 1, i));
  }
  Ints places;
  for (Label l : result) places.push_back(std::ranges::find(product.labels, l) - product.labels.begin());
  return wrap(cast(permute(product.x, places), type));
}

}  // namespace sinter::inline v0
