// Passes over a plan graph that are declared by one function each, in the order in which schedule.cpp runs them.
#pragma once

#include <vector>

#include "runtime/base/target.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Per output: whether it is a version of its home's own value in a box. Then storing the box is enough.
std::vector<bool> box_candidates(const PlanGraph& plan);

/// AFTER(v) becomes v. AFTER(old, v, box) becomes where(inside the box, v, old). Outputs with `boxed` keep their After,
/// with the home's Param as first source. If the new content is a view of the home, it is copied first: the store would
/// overwrite what it reads.
void lower_versions(PlanGraph& plan, const std::vector<bool>& boxed);

/// Every value that may be rounded to tf32 (Op::Tf32) becomes the value itself.
void drop_tf32_marks(PlanGraph& plan);

/// In:  a SHRINK above selects by boxes, `where(pad(true, box), x, y)`: what `cat`, `stack` and versions become, and
///      what their gradients mask.
/// Out: where the slice is inside or outside of the box, a SHRINK of the operand that is selected there. The gradient
///      of the n-th of many joined parts then reads the gradient of the whole, and not the n masks that others have
///      left.
void forward_slices(PlanGraph& plan);

/// A SORT whose positions nothing reads but GATHERs of what it sorts gives the elements themselves. On CPUs: a GPU's
/// network tells equal elements apart by their positions.
void sort_values_alone(PlanGraph& plan, const runtime::Target& target);

/// In:  a reshape that only drops axes of size 1, above elementwise ops above a reshape that only added them:
///      `x - x.sum(1, true) / n` has one around the quotient.
/// Out: the same elementwise ops without those axes, so that later passes recognize the quotient of a sum.
void drop_unit_axes(PlanGraph& plan);

/// In:  REDUCE(Add, view of REDUCE(Add, a * b)) or REDUCE(Add, view of a * b), where the view slides a WINDOW and does
///      not broadcast.
/// Out: one REDUCE(Add, a' * b') over the axes of both: the view moves onto the factors.
/// Otherwise the inner sum would be stored, as large as all taps together, and the outer one would be no matrix
/// product. Not done if a factor is a constant, nor if the view more than doubles the elements: then computing the
/// inner sum once per element is cheaper. Decided on the graph alone: fused and unfused runs add alike (SEMANTICS F2).
void merge_nested_sums(PlanGraph& plan);

/// In: REDUCE(Add, view(e / expand(l)) * y), with e = exp(x - maximum) and l the sum of e. l is constant along the axes
/// of the outer sum.
/// Out: REDUCE(Add, view(e) * y) / l. The weights no longer depend on l, so both sums can share a loop.
/// Safe because x - maximum <= 0: no e is above 1, and l is at least 1. Without the maximum, e * y could overflow where
/// e / l * y does not. Decided on the graph alone: fused and unfused runs round alike (SEMANTICS F2).
void defer_division(PlanGraph& plan);

/// In:  REDUCE(Add, mask * v), where the mask is `label == 0, 1, .. classes - 1` as a float along an axis of the
///      results, v does not vary along that axis, and the label along no other axis of the results:
///      matmul(one_hot(label).T, v), the sums of clusters.
/// Out: a SCATTER that adds each v at its label, in float64, and NaN where v of another label is not finite: 0 * v is
///      NaN then. The sum of a class is finite just if all its elements are, since float64 holds any sum of float32.
/// One addition for each v in place of one per class. On CPUs; few rows or classes stay products.
void sum_by_labels(PlanGraph& plan, const runtime::Target& target);

/// Materializes what the factors of products read through windows if its elements are repeated so that no single stride
/// connects neighbors. Otherwise each tap would gather the same elements again. What is computed from a reduction is
/// materialized below the repeats as well, or it would be computed once for each.
void store_repeats(PlanGraph& plan);

/// In:  products of few rows that share a factor, a stored matrix that the second cache holds: the steps of a recurrent
///      network.
/// Out: the same products over panels of the matrix, which one kernel stores for all of them. On CPUs.
/// No sum changes.
void pack_shared_factors(PlanGraph& plan, const runtime::Target& target);

}  // namespace sinter::schedule
