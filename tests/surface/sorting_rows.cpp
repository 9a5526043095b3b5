// Sorting, ranks, quantiles, searches and counts.
#include <cmath>

#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/jit.h"
#include "sinter/movement.h"
#include "sinter/sorting.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::indices;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::unary;
using surface::within;
using surface::without_gradients;

Tensors both(const Ranked& r) { return {r.values, r.indices}; }
Tensors all_of(const Distinct& d) { return {d.values, d.inverse, d.counts}; }
Tensors joined(std::initializer_list<Tensors> parts) {
  Tensors out;
  for (const Tensors& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}

/// A function of one tensor that gives as many elements.
Row along_last(const char* name, surface::Call call, const char* torch) {
  Row row{name, std::move(call), torch, {{{3, 5}}, {{2, 3, 4}}}};
  row.elementwise = true;
  return row;
}

Row of_type(Types types, Row row) {
  row.types = types;
  return row;
}

/// Integers of the argument as a table of few different ones.
Row repeated(Row row) { return within(std::move(row), 0, 4); }

const Tensor kEdges = from(std::vector<float>{-0.5f, 0.0f, 0.25f, 0.25f, 0.75f});

Tensor zeros_of(Shape shape) { return zeros(shape); }

const surface::Family kSorting(
    "sorting",
    {
        along_last(
            "sort", [](const Tensors& x) { return both(sort(x[0])); }, "torch.sort(x, stable=True)"),
        without_gradients(along_last(
            "argsort", [](const Tensors& x) { return argsort(x[0], -1, true); },
            "torch.argsort(x, descending=True, stable=True)")),
        {"msort", [](const Tensors& x) { return msort(x[0]); }, "torch.msort(x)", {{{5}}, {{4, 3}}, {{3, 1, 2}}}},
        {"topk",
         [](const Tensors& x) {
           return joined({both(topk(x[0], 3)), both(topk(x[0], 1, 0, false)), both(topk(x[0], 0, -1))});
         },
         "(*torch.topk(x, 3), *torch.topk(x, 1, 0, False), *torch.topk(x, 0, -1))",
         {{{2, 4}}, {{3, 1, 7}}}},
        {"kthvalue",
         [](const Tensors& x) { return joined({both(kthvalue(x[0], 2)), both(kthvalue(x[0], 3, 0, true))}); },
         "(*torch.kthvalue(x, 2), *torch.kthvalue(x, 3, 0, True))",
         {{{4, 3}}, {{3, 2, 2}}}},
        {"median",
         [](const Tensors& x) { return joined({{median(x[0])}, both(median(x[0], 1)), both(median(x[0], 0, true))}); },
         "(torch.median(x), *torch.median(x, 1), *torch.median(x, 0, True))",
         {{{4, 3}}, {{5, 4, 2}}}},
        {"nanmedian",
         [](const Tensors& x) {
           const Tensor some = where(x[0] > 0.9, NAN, x[0]);
           return joined({{nanmedian(some)}, both(nanmedian(some, 1)), {nanmedian(some, 0, true).values}});
         },
         "(lambda s: (torch.nanmedian(s), *torch.nanmedian(s, 1), torch.nanmedian(s, 0, True)[0]))"
         "(torch.where(x > 0.9, math.nan, x))",
         {{{4, 3}}, {{2, 5}}}},
        {"mode",
         [](const Tensors& x) {
           const Tensor few = x[0].to(int32).to(x[0].dtype());
           return joined({both(mode(few)), both(mode(few, 0, true)), {mode(x[0]).values}});
         },
         "(lambda f: (*torch.mode(f), *torch.mode(f, 0, True), torch.mode(x)[0]))(x.to(torch.int32).to(x.dtype))",
         {{{3, 7}}, {{2, 2, 5}}},
         Types::All,
         surface::Gradients::Second,
         0,
         3},
        of_type(
            Types::Floats,
            {"quantile",
             [](const Tensors& x) {
               const Tensor q = from(std::vector<float>{0.0f, 0.3f, 0.5f, 1.0f});
               return Tensors{quantile(x[0], 0.4),
                              quantile(x[0], 0.7, 1, true),
                              quantile(x[0], q, 0),
                              quantile(x[0], q, {}, true),
                              quantile(x[0], 0.4, 1, false, Interpolation::Lower),
                              quantile(x[0], 0.4, 1, false, Interpolation::Higher),
                              quantile(x[0], 0.4, 1, false, Interpolation::Nearest),
                              quantile(x[0], q, 1, false, Interpolation::Midpoint)};
             },
             "(lambda q: (torch.quantile(x, 0.4), torch.quantile(x, 0.7, 1, True), torch.quantile(x, q, 0), "
             "torch.quantile(x, q, None, True), torch.quantile(x, 0.4, 1, interpolation='lower'), "
             "torch.quantile(x, 0.4, 1, interpolation='higher'), torch.quantile(x, 0.4, 1, interpolation='nearest'), "
             "torch.quantile(x, q, 1, interpolation='midpoint')))(torch.tensor([0.0, 0.3, 0.5, 1.0]))",
             {{{4, 3}}, {{2, 6}}}}),
        of_type(Types::Floats,
                {"nanquantile",
                 [](const Tensors& x) {
                   const Tensor some = where(x[0] > 0.5, NAN, x[0]).to(x[0].dtype());
                   return Tensors{nanquantile(some, 0.4),
                                  nanquantile(some, from(std::vector<float>{0.2f, 0.9f}), 1, true)};
                 },
                 "(lambda s: (torch.nanquantile(s, 0.4), torch.nanquantile(s, torch.tensor([0.2, 0.9]), 1, True)))"
                 "(torch.where(x > 0.5, math.nan, x))",
                 {{{4, 3}}, {{2, 6}}}}),
        without_gradients(
            {"searchsorted",
             [](const Tensors& x) {
               const Tensor rows = sort(x[0]).values;
               return Tensors{searchsorted(rows, x[1]), searchsorted(rows, x[1], false, true),
                              searchsorted(msort(x[0].flatten()), x[1], true, true), searchsorted(rows, x[0])};
             },
             "(lambda s: (torch.searchsorted(s, y), torch.searchsorted(s, y, right=True), "
             "torch.searchsorted(torch.msort(x.flatten()), y, out_int32=True, right=True), torch.searchsorted(s, x)))"
             "(torch.sort(x)[0])",
             {{{2, 5}, {2, 3}}, {{1, 1}, {1, 4}}}}),
        without_gradients({"bucketize",
                           [](const Tensors& x) {
                             return Tensors{bucketize(x[0], kEdges), bucketize(x[0], kEdges, false, true)};
                           },
                           "(lambda b: (torch.bucketize(x, b), torch.bucketize(x, b, right=True)))"
                           "(torch.tensor([-0.5, 0.0, 0.25, 0.25, 0.75]))",
                           {{{2, 5}}, {{3}}}}),
        repeated(without_gradients(
            {"isin",
             [](const Tensors& x) {
               const Tensor a = x[0].to(int32), b = x[1].to(int32);
               return Tensors{isin(a, b), isin(a, b, false, true), isin(x[0], x[0].slice(0, {0, 1})), isin(a, 2)};
             },
             "(lambda a, b: (torch.isin(a, b), torch.isin(a, b, invert=True), torch.isin(x, x[0:1]), torch.isin(a, 2)))"
             "(x.to(torch.int32), y.to(torch.int32))",
             {{{2, 5}, {2}}, {{3}, {0}}}})),
        repeated(
            without_gradients({"unique",
                               [](const Tensors& x) { return all_of(unique(x[0].to(int32).to(x[0].dtype()))); },
                               "torch.unique(x.to(torch.int32).to(x.dtype), return_inverse=True, return_counts=True)",
                               {{{2, 5}}, {{1}}, {{0}}}})),
        repeated(without_gradients(
            {"unique_consecutive",
             [](const Tensors& x) { return all_of(unique_consecutive(x[0].to(int32).to(x[0].dtype()))); },
             "torch.unique_consecutive(x.to(torch.int32).to(x.dtype), return_inverse=True, return_counts=True)",
             {{{2, 5}}, {{1}}}})),
        without_gradients({"bincount",
                           [](const Tensors& x) {
                             return Tensors{bincount(x[0]), bincount(x[0], 9), bincount(x[0], x[1]),
                                            bincount(x[0], x[0], 3)};
                           },
                           "(torch.bincount(x), torch.bincount(x, minlength=9), torch.bincount(x, y), "
                           "torch.bincount(x, x, 3))",
                           {{indices({10}, 6), {10}}, {indices({1}, 2), {1}}}}),
        of_type(Types::Floats,
                without_gradients({"histc",
                                   [](const Tensors& x) {
                                     return Tensors{histc(x[0], 4), histc(x[0], 5, -0.5, 0.7), histc(x[0] * 0.0, 3)};
                                   },
                                   "(torch.histc(x, 4), torch.histc(x, 5, -0.5, 0.7), torch.histc(x * 0.0, 3))",
                                   {{{3, 4}}, {{1}}}})),
        of_type(Types::Floats,
                without_gradients({"histogram",
                                   [](const Tensors& x) {
                                     const Histogram h = histogram(x[0], 4, std::pair(-0.5, 1.0));
                                     return Tensors{h.counts, h.edges, histogram(x[0], 3).edges};
                                   },
                                   "(*torch.histogram(x, 4, range=(-0.5, 1.0)), torch.histogram(x, 3)[1])",
                                   {{{3, 4}}, {{2}}}})),
    },
    {
        SURFACE_BAD("sort", sort(zeros_of({2, 3}), 2), "2", "[2, 3]"),
        SURFACE_BAD("argsort", argsort(zeros_of({2, 3}), -3), "-3", "[2, 3]"),
        SURFACE_BAD("topk", topk(zeros_of({2, 3}), 4), "4", "[2, 3]"),
        SURFACE_BAD("kthvalue", kthvalue(zeros_of({2, 3}), 0), "0", "[2, 3]"),
        SURFACE_BAD("median", median(zeros_of({2, 0}), 1), "0", "[2, 0]"),
        SURFACE_BAD("mode", mode(zeros_of({2, 0}), 1), "0", "[2, 0]"),
        SURFACE_BAD("quantile", quantile(zeros_of({2, 3}), 1.5), "1.5", "[2, 3]"),
        SURFACE_BAD("quantile", quantile(zeros_of({2, 3}), zeros_of({1, 2})), "[1, 2]", "[2, 3]"),
        SURFACE_BAD("searchsorted", searchsorted(zeros_of({2, 3}), zeros_of({3, 3})), "[2, 3]", "[3, 3]"),
        SURFACE_BAD("bucketize", bucketize(zeros_of({2, 3}), zeros_of({2, 3})), "[2, 3]", "float32"),
        SURFACE_BAD("bincount", bincount(zeros_of({3})), "float32", "[3]"),
        SURFACE_BAD("bincount", bincount(zeros_of({3}).to(int64), zeros_of({2})), "[2]", "[3]"),
        SURFACE_BAD("bincount", bincount(zeros_of({3}).to(int64) - 1), "3", "-1"),
        SURFACE_BAD("nanquantile", nanquantile(zeros_of({2, 3}), -0.5), "-0.5", "[2, 3]"),
        SURFACE_BAD("nanmedian", nanmedian(zeros_of({2, 0}), 1), "0", "[2, 0]"),
        SURFACE_BAD("isin", isin(Tensor(), zeros_of({2})), "empty handle", "assign"),
        {"unique", [] { jit([](const Tensor& x) { return unique(x).values; })(zeros_of({2})); }, "depends on the data",
         "use sort"},
        {"unique_consecutive", [] { jit([](const Tensor& x) { return unique_consecutive(x).counts; })(zeros_of({2})); },
         "depends on the data", "use comparisons"},
        SURFACE_BAD("histc", histc(zeros_of({3}), 0), "0", "[3]"),
        SURFACE_BAD("histogram", histogram(zeros_of({3}), 4, std::pair(2.0, 1.0)), "2", "1"),
    });

}  // namespace
