// Losses.
#include "sinter/losses.h"

#include <cmath>

#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/normalization.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::indices;
using surface::Input;
using surface::Row;
using surface::Tensors;
using surface::within;

constexpr Reduction kNone = Reduction::None, kSum = Reduction::Sum;

Tensor ones_of(Shape shape) { return ones(shape); }
Tensor class_weights(int64_t count) { return from(std::vector<double>{0.5, 1, 2, 0.25}).slice(0, {0, count}); }
/// Targets 1 and -1 of indices below 2.
Tensor signs(const Tensor& index) { return index * 2 - 1; }

const std::vector<std::vector<Input>> kPairs = {{{2, 3}, {2, 3}}, {{5}, {5}}, {{1, 1}, {1, 1}}, {{}, {}}};
const std::vector<std::vector<Input>> kClasses = {{{3, 4}, indices({3}, 4)},
                                                  {{4}, indices({}, 4)},
                                                  {{2, 4, 3}, indices({2, 3}, 4)},
                                                  {{1, 4, 1, 2}, indices({1, 1, 2}, 4)}};

const surface::Family kLosses(
    "losses",
    {
        {"cross_entropy",
         [](const Tensors& x) -> Tensors {
           const Tensor w = class_weights(4), p = softmax(x[0].flip() * 2, x[0].rank() == 1 ? 0 : 1);
           return {cross_entropy(x[0], x[1]),
                   cross_entropy(x[0], x[1], {.reduction = kNone, .ignore_index = 3, .weight = w}),
                   cross_entropy(x[0], x[1], {.ignore_index = 2, .label_smoothing = 0.1}),
                   cross_entropy(x[0], x[1], {.ignore_index = 2, .weight = w, .label_smoothing = 0.1}),
                   cross_entropy(x[0], x[1], {.reduction = kSum, .weight = w, .label_smoothing = 1}),
                   cross_entropy(x[0], p),
                   cross_entropy(x[0], p, {.weight = w, .label_smoothing = 0.2})};
         },
         "(lambda w, p: (F.cross_entropy(x, y), F.cross_entropy(x, y, w, ignore_index=3, reduction='none'),"
         " F.cross_entropy(x, y, ignore_index=2, label_smoothing=0.1),"
         " F.cross_entropy(x, y, w, ignore_index=2, label_smoothing=0.1),"
         " F.cross_entropy(x, y, w, reduction='sum', label_smoothing=1.), F.cross_entropy(x, p),"
         " F.cross_entropy(x, p, w, label_smoothing=0.2)))"
         "(torch.tensor([0.5, 1, 2, 0.25]),"
         " F.softmax(x.flip(list(range(x.dim()))) * 2, 0 if x.dim() == 1 else 1))",
         kClasses},
        {"nll_loss",
         [](const Tensors& x) -> Tensors {
           return {nll_loss(x[0], x[1]), nll_loss(x[0], x[1], {.ignore_index = 2, .weight = class_weights(4)}),
                   nll_loss(x[0], x[1], {.reduction = kNone, .weight = class_weights(4)})};
         },
         "(lambda w: (F.nll_loss(x, y), F.nll_loss(x, y, w, ignore_index=2), F.nll_loss(x, y, w, reduction='none')))"
         "(torch.tensor([0.5, 1, 2, 0.25]))",
         kClasses},
        {"multi_margin_loss",
         [](const Tensors& x) -> Tensors {
           return {multi_margin_loss(x[0], x[1]),
                   multi_margin_loss(x[0], x[1], {.p = 2, .margin = 0.5, .weight = class_weights(4)}),
                   multi_margin_loss(x[0], x[1], {.reduction = kNone})};
         },
         "(F.multi_margin_loss(x, y), F.multi_margin_loss(x, y, 2, 0.5, torch.tensor([0.5, 1, 2, 0.25])),"
         " F.multi_margin_loss(x, y, reduction='none'))",
         {{{3, 4}, indices({3}, 4)}, {{4}, indices({}, 4)}}},
        {"multilabel_soft_margin_loss",
         [](const Tensors& x) -> Tensors {
           return {multilabel_soft_margin_loss(x[0], x[1]),
                   multilabel_soft_margin_loss(x[0], x[1], {.weight = class_weights(4), .reduction = kNone})};
         },
         "(F.multilabel_soft_margin_loss(x, y.float()),"
         " F.multilabel_soft_margin_loss(x, y.float(), torch.tensor([0.5, 1, 2, 0.25]), reduction='none'))",
         {{{3, 4}, indices({3, 4}, 2)}, {{4}, indices({4}, 2)}}},
        {"mse_loss",
         [](const Tensors& x) -> Tensors {
           return {mse_loss(x[0], x[1]), mse_loss(x[0], x[1], kSum), mse_loss(x[0], x[1], kNone)};
         },
         "(F.mse_loss(x, y), F.mse_loss(x, y, reduction='sum'), F.mse_loss(x, y, reduction='none'))", kPairs},
        {"l1_loss",
         [](const Tensors& x) -> Tensors {
           return {l1_loss(x[0], x[1]), l1_loss(x[0], x[1], kSum), l1_loss(x[0], x[1], kNone)};
         },
         "(F.l1_loss(x, y), F.l1_loss(x, y, reduction='sum'), F.l1_loss(x, y, reduction='none'))", kPairs},
        {"smooth_l1_loss",
         [](const Tensors& x) -> Tensors {
           return {smooth_l1_loss(x[0], x[1]), smooth_l1_loss(x[0], x[1], {.beta = 0.3, .reduction = kNone}),
                   smooth_l1_loss(x[0], x[1], {.beta = 0, .reduction = kSum})};
         },
         "(F.smooth_l1_loss(x, y), F.smooth_l1_loss(x, y, beta=0.3, reduction='none'),"
         " F.smooth_l1_loss(x, y, beta=0., reduction='sum'))",
         kPairs},
        {"huber_loss",
         [](const Tensors& x) -> Tensors {
           return {huber_loss(x[0], x[1]), huber_loss(x[0], x[1], {.delta = 0.3, .reduction = kNone})};
         },
         "(F.huber_loss(x, y), F.huber_loss(x, y, delta=0.3, reduction='none'))", kPairs},
        within({"poisson_nll_loss",
                [](const Tensors& x) -> Tensors {
                  return {poisson_nll_loss(x[0], x[1]), poisson_nll_loss(x[0], x[1], {.full = true}),
                          poisson_nll_loss(x[0], x[1], {.log_input = false, .reduction = kNone})};
                },
                "(F.poisson_nll_loss(x, y), F.poisson_nll_loss(x, y, full=True),"
                " F.poisson_nll_loss(x, y, log_input=False, reduction='none'))",
                kPairs},
               0.2, 3),
        within({"gaussian_nll_loss",
                [](const Tensors& x) -> Tensors {
                  return {gaussian_nll_loss(x[0], x[1], x[2]),
                          gaussian_nll_loss(x[0], x[1], x[2], {.full = true, .eps = 0.1, .reduction = kNone})};
                },
                "(F.gaussian_nll_loss(x, y, z), F.gaussian_nll_loss(x, y, z, True, 0.1, 'none'))",
                {{{2, 3}, {2, 3}, {2, 3}}, {{2, 3}, {2, 3}, {2}}, {{2, 3}, {2, 3}, {2, 1}}, {{4}, {4}, {4}}}},
               0.2, 3),
        within({"binary_cross_entropy",
                [](const Tensors& x) -> Tensors {
                  return {binary_cross_entropy(x[0], x[1]),
                          binary_cross_entropy(x[0], x[1], {.reduction = kNone, .weight = from({0.5, 1.0, 2.0})})};
                },
                "(F.binary_cross_entropy(x, y), F.binary_cross_entropy(x, y, torch.tensor([0.5, 1, 2]), "
                "reduction='none'))",
                {{{2, 3}, {2, 3}}, {{3}, {3}}}},
               0.05, 0.95),
        {"binary_cross_entropy_with_logits",
         [](const Tensors& x) -> Tensors {
           const Tensor w = from({0.5, 1.0, 2.0}), t = x[1] * 0.5 + 0.5;
           return {binary_cross_entropy_with_logits(x[0], t), binary_cross_entropy_with_logits(x[0], t, kSum),
                   binary_cross_entropy_with_logits(x[0], t, {.reduction = kNone, .weight = w, .pos_weight = w * 3})};
         },
         "(lambda w, t: (F.binary_cross_entropy_with_logits(x, t),"
         " F.binary_cross_entropy_with_logits(x, t, reduction='sum'),"
         " F.binary_cross_entropy_with_logits(x, t, w, reduction='none', pos_weight=w * 3)))"
         "(torch.tensor([0.5, 1, 2]), y * 0.5 + 0.5)",
         {{{2, 3}, {2, 3}}, {{3}, {3}}}},
        within({"kl_div",
                [](const Tensors& x) -> Tensors {
                  return {kl_div(x[0], x[1]), kl_div(x[0], x[1], {.log_target = true}),
                          kl_div(x[0], x[1], {.batchmean = true}), kl_div(x[0], x[1], {.reduction = kNone})};
                },
                "(F.kl_div(x, y), F.kl_div(x, y, log_target=True), F.kl_div(x, y, reduction='batchmean'),"
                " F.kl_div(x, y, reduction='none'))",
                {{{2, 3}, {2, 3}}, {{5}, {5}}, {{1, 1}, {1, 1}}}},
               0.05, 0.95),
        {"soft_margin_loss",
         [](const Tensors& x) -> Tensors {
           return {soft_margin_loss(x[0], signs(x[1])), soft_margin_loss(x[0], signs(x[1]), kNone)};
         },
         "(F.soft_margin_loss(x, y * 2 - 1), F.soft_margin_loss(x, y * 2 - 1, reduction='none'))",
         {{{2, 3}, indices({2, 3}, 2)}, {{4}, indices({4}, 2)}}},
        {"hinge_embedding_loss",
         [](const Tensors& x) -> Tensors {
           return {hinge_embedding_loss(x[0], signs(x[1])),
                   hinge_embedding_loss(x[0], signs(x[1]), {.margin = 0.2, .reduction = kNone})};
         },
         "(F.hinge_embedding_loss(x, y * 2 - 1), F.hinge_embedding_loss(x, y * 2 - 1, 0.2, reduction='none'))",
         {{{2, 3}, indices({2, 3}, 2)}, {{4}, indices({4}, 2)}}},
        {"margin_ranking_loss",
         [](const Tensors& x) -> Tensors {
           return {margin_ranking_loss(x[0], x[1], signs(x[2])),
                   margin_ranking_loss(x[0], x[1], signs(x[2]), {.margin = 0.4, .reduction = kNone})};
         },
         "(F.margin_ranking_loss(x, y, z * 2 - 1), F.margin_ranking_loss(x, y, z * 2 - 1, 0.4, reduction='none'))",
         {{{5}, {5}, indices({5}, 2)}, {{1}, {1}, indices({1}, 2)}}},
        {"cosine_embedding_loss",
         [](const Tensors& x) -> Tensors {
           return {cosine_embedding_loss(x[0], x[1], signs(x[2])),
                   cosine_embedding_loss(x[0], x[1], signs(x[2]), {.margin = -0.5, .reduction = kNone})};
         },
         "(F.cosine_embedding_loss(x, y, z * 2 - 1), F.cosine_embedding_loss(x, y, z * 2 - 1, -0.5, reduction='none'))",
         {{{3, 4}, {3, 4}, indices({3}, 2)}, {{5}, {5}, indices({}, 2)}}},
        {"triplet_margin_loss",
         [](const Tensors& x) -> Tensors {
           return {triplet_margin_loss(x[0], x[1], x[2]),
                   triplet_margin_loss(x[0], x[1], x[2], {.margin = 2, .p = 1, .swap = true, .reduction = kNone}),
                   triplet_margin_loss(x[0], x[1], x[2], {.p = 3}),
                   triplet_margin_loss(x[0], x[1], x[2], {.p = INFINITY})};
         },
         "(F.triplet_margin_loss(x, y, z), F.triplet_margin_loss(x, y, z, 2, 1, swap=True, reduction='none'),"
         " F.triplet_margin_loss(x, y, z, p=3), F.triplet_margin_loss(x, y, z, p=math.inf))",
         {{{3, 4}, {3, 4}, {3, 4}}, {{5}, {5}, {5}}}},
        {"ctc_loss",
         [](const Tensors& x) -> Tensors {
           const Tensor p = log_softmax(x[0], -1), joined = from({2, 2, 3, 1});
           const std::vector<int64_t> steps{6, 4}, one_step{2, 6};
           return {ctc_loss(p, x[1] + 1, steps, {2, 1}),
                   ctc_loss(p, from({{2, 2}, {3, -9}}), from({6, 5}), from({2, 0})),
                   ctc_loss(p, joined, steps, {3, 1}, {.reduction = kNone}),
                   ctc_loss(p, joined - 1, one_step, {2, 2}, {.blank = 3, .zero_infinity = true}),
                   ctc_loss(p[0].slice(0, {0, 1}).expand({4, 4}), from({2, 2}), from(3), from(2), {.reduction = kSum})};
         },
         "(lambda p, j, t: (F.ctc_loss(p, y + 1, t([6, 4]), t([2, 1])),"
         " F.ctc_loss(p, t([[2, 2], [3, 0]]), t([6, 5]), t([2, 0])),"
         " F.ctc_loss(p, j, t([6, 4]), t([3, 1]), reduction='none'),"
         " F.ctc_loss(p, j - 1, t([2, 6]), t([2, 2]), 3, zero_infinity=True),"
         " F.ctc_loss(p[0][:1].expand(4, 4), t([2, 2]), t(3), t(2), reduction='sum')))"
         "(F.log_softmax(x, -1), torch.tensor([2, 2, 3, 1]), torch.tensor)",
         {{{6, 2, 4}, indices({2, 2}, 3)}}},
    },
    {
        SURFACE_BAD("kl_div", kl_div(ones({}), ones({}), {.batchmean = true}), "batchmean", "0 axes"),
        SURFACE_BAD("kl_div", kl_div(ones({2}), ones({2}), {.batchmean = true, .reduction = Reduction::Sum}),
                    "batchmean", "Reduction::Sum"),
        SURFACE_BAD("cross_entropy", cross_entropy(ones_of({2, 3}), from({0, 1}), {.weight = ones_of({4})}), "[4]",
                    "[3]"),
        SURFACE_BAD("cross_entropy", cross_entropy(ones_of({2, 3}), from(1)), "[2, 3]", "[2]"),
        SURFACE_BAD("cross_entropy", cross_entropy(ones_of({2, 3}), from({0, 1}), {.label_smoothing = 2}), "2",
                    "[0, 1]"),
        SURFACE_BAD("nll_loss", nll_loss(ones_of({2, 3}), from({0, 1}), {.label_smoothing = 0.5}), "0.5", "0"),
        SURFACE_BAD("multi_margin_loss", multi_margin_loss(ones_of({2, 3}), from({0, 1}), {.p = 3}), "3", "1 or 2"),
        SURFACE_BAD("mse_loss", mse_loss(ones_of({2}), ones_of({3})), "[2]", "[3]"),
        SURFACE_BAD("huber_loss", huber_loss(ones_of({2}), ones_of({2}), {.delta = 0}), "delta is 0", "above 0"),
        SURFACE_BAD("smooth_l1_loss", smooth_l1_loss(ones_of({2}), ones_of({2}), {.beta = -1}), "-1", "0"),
        SURFACE_BAD("gaussian_nll_loss", gaussian_nll_loss(ones_of({2, 3}), ones_of({2, 3}), ones_of({3})), "[3]",
                    "[2, 3]"),
        SURFACE_BAD("binary_cross_entropy", binary_cross_entropy(ones_of({2}), ones_of({2}), {.weight = ones_of({3})}),
                    "[3]", "[2]"),
        SURFACE_BAD("margin_ranking_loss", margin_ranking_loss(ones_of({2}), ones_of({2}), ones_of({3})), "[2]", "[3]"),
        SURFACE_BAD("cosine_embedding_loss", cosine_embedding_loss(ones_of({2, 3}), ones_of({2, 3}), ones_of({3})),
                    "[2]", "[3]"),
        SURFACE_BAD("triplet_margin_loss", triplet_margin_loss(ones_of({2}), ones_of({2}), ones_of({2}), {.p = 0}),
                    "p is 0", "above 0"),
        SURFACE_BAD("ctc_loss", ctc_loss(ones_of({4, 2, 3}), from({{1}, {2}}), {5, 4}, {1, 1}), "5", "4"),
        SURFACE_BAD("ctc_loss", ctc_loss(ones_of({4, 2, 3}), from({{1}, {2}}), {4, 4}, {1, 1}, {.blank = 3}),
                    "blank is 3", "3 classes"),
        SURFACE_BAD("ctc_loss", ctc_loss(ones_of({4, 2, 3}), from({1, 2, 1}), {4, 4}, {1, 1}), "3 labels", "2"),
    });

}  // namespace
