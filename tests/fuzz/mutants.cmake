# The faults of mutant.h, as edits of the library's sources: the first text, which stands in its file once, becomes the
# second, in which @@ is the first and FAULT(X) says whether X is switched on. test_mutants is linked with the edited copies
# in place of the library's objects (tests/CMakeLists.txt); the library has none of it.

# -- src/runtime/cpu/float_control.cpp
edit(src/runtime/cpu/float_control.cpp [=[
  std::fesetenv(FE_DFL_ENV);]=] [=[
  if (!FAULT(CallersFloats)) std::fesetenv(FE_DFL_ENV);]=])

# -- src/runtime/arena.cpp
edit(src/runtime/arena.cpp [=[
    const PlanBuffer& b = plan.buffers[i];
    const int64_t size]=] [=[
    PlanBuffer b = plan.buffers[i];
    if (FAULT(ArenaOverlap)) b.last = std::max(b.first, b.last - 1);
    const int64_t size]=])

# -- src/gradient/rules_elementwise.cpp
edit(src/gradient/rules_elementwise.cpp [=[
  if (a.wants(0)) a.give(0, where(first, a.g, half));]=] [=[
  if (FAULT(MaxTieToFirst)) first = ~second;
@@]=])

# -- src/schedule/collect/decide.cpp
edit(src/schedule/collect/decide.cpp [=[
if (p.slot >= 0) {
      if (held)]=] [=[
const bool lost = (FAULT(PositionsAreGiven) && p.node->op == Op::Arange) || (FAULT(NumbersAreGiven) && (p.node->op == Op::Const || p.node->op == Op::Num));
    given[i] = lost;
    if (p.slot >= 0) {
      if (held)]=])
edit(src/schedule/collect/decide.cpp [=[
    value[i] |= p.outlives;]=] [=[
    value[i] |= p.outlives && !FAULT(PositionsAreGiven) && !FAULT(NumbersAreGiven);]=])
edit(src/schedule/collect/decide.cpp [=[
given[i] = false;]=] [=[
given[i] = lost;]=])
edit(src/schedule/collect/decide.cpp [=[
if (value[i] && !d.stored[i]) {]=] [=[
if (value[i] && !d.stored[i] && !FAULT(ValueNotKept) && !(plan.lean && FAULT(SpareUnkept))) {]=])
edit(src/schedule/collect/decide.cpp [=[
return bytes_of(plan_.positions[i].node) < behind(i); }]=] [=[
return FAULT(SpareStored) || bytes_of(plan_.positions[i].node) < behind(i); }]=])
edit(src/schedule/collect/decide.cpp [=[
slot >= 0 && kept[i]) taken]=] [=[
slot >= 0 && kept[i] && !FAULT(InPlaceUnderKeptReader)) taken]=])
edit(src/schedule/collect/decide.cpp [=[
taken[h] = true;]=] [=[
taken[h] = !FAULT(StorageWrittenTwice);]=])

# -- src/schedule/collect/canonical.cpp
edit(src/schedule/collect/canonical.cpp [=[
        state(p);
]=] [=[
        if (!FAULT(NarrowKey)) state(p);
]=])
edit(src/schedule/collect/canonical.cpp [=[
          word(static_cast<uint32_t>(plan_.history[edge].source)]=] [=[
          if (!FAULT(NarrowKey)) @@]=])
edit(src/schedule/collect/canonical.cpp [=[
    for (const StorageUse& s : plan_.storages)
      word(]=] [=[
    if (!FAULT(NarrowKey))
      @@]=])

# -- src/schedule/partition/hazards.cpp
edit(src/schedule/partition/hazards.cpp [=[
bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store) {]=] [=[
@@
  if (FAULT(InPlaceOverReads)) return true;]=])

# -- src/schedule/kernels/launches.cpp
edit(src/schedule/kernels/launches.cpp [=[
if (writer != k) wait(writer, k);]=] [=[
if (writer != k && !FAULT(ReaderEdgeDropped)) wait(writer, k);]=])
edit(src/schedule/kernels/launches.cpp [=[
        wait(k, static_cast<size_t>(p.kernel_of[static_cast<size_t>(stage)]));]=] [=[
        if (!FAULT(StoreEdgeDropped)) wait(k, static_cast<size_t>(p.kernel_of[static_cast<size_t>(stage)]));]=])
edit(src/schedule/kernels/launches.cpp [=[
    const bool free = ]=] [=[
    const bool free = FAULT(DependentLaunch) || ]=])
edit(src/schedule/kernels/launches.cpp [=[
    out.back().insert(out.back().end(), kernels]=] [=[
    // Within a launch any order is right: in this one, dependent kernels show.
    out.back().insert(FAULT(DependentLaunch) ? out.back().begin() : out.back().end(), kernels]=])

# -- src/schedule/schedule.cpp
edit(src/schedule/schedule.cpp [=[
    step.buffers = std::move(ranged.buffers);]=] [=[
@@
    if (known && FAULT(WrongBuffers)) {
      const auto first = std::find_if(out_.plan.steps.begin(), out_.plan.steps.end(),
                                      [&](const runtime::Step& s) { return s.program == step.program; });
      for (size_t i = 0; i < step.buffers.size(); ++i)
        if (std::find(ranged.writes.begin(), ranged.writes.end(), step.buffers[i]) == ranged.writes.end())
          step.buffers[i] = first->buffers[i];
    }]=])

# -- src/schedule/collect/reach.cpp
edit(src/schedule/collect/reach.cpp [=[
    for (UOp n : request_.ending) ends(n);]=] [=[
@@
    if (FAULT(CommitCountedTwice))
      for (UOp n : request_.ending) ends(n);]=])

# -- src/schedule/collect/imprint.cpp
edit(src/schedule/collect/imprint.cpp [=[
    if (state_of(n, reached) != met.state || ]=] [=[
    if ((state_of(n, reached) != met.state && !FAULT(BlindImprint)) || ]=])
edit(src/schedule/collect/imprint.cpp [=[
(stored || (a.op == ir::Op::Num && b.op == ir::Op::Num));]=] [=[
(stored || (a.op == ir::Op::Num && b.op == ir::Op::Num) || (FAULT(AnyNumberFits) && a.op == b.op && a.attr.index() == b.attr.index()));]=])
edit(src/schedule/collect/imprint.cpp [=[
slots.number(n->storage()) != met.slot) return false;]=] [=[
(slots.number(n->storage()) != met.slot && !FAULT(AnySlotFits))) return false;]=])

# -- src/schedule/collect/collect.cpp
edit(src/schedule/collect/collect.cpp [=[
      p.outlives |= held;]=] [=[
      if (!(FAULT(FirstDecidesOutlives) && p.node != n)) p.outlives |= held;]=])
edit(src/schedule/collect/collect.cpp [=[
return owners == storage->owners && ]=] [=[
return (owners == storage->owners || FAULT(InPlaceWithOtherOwner)) && ]=])

# -- src/schedule/run/compiled.cpp
edit(src/schedule/run/compiled.cpp [=[
lift(plan, decision, canonical, lifted)]=] [=[
lift(plan, decision, canonical, FAULT(StaleNumber) ? std::vector<uint8_t>(lifted.size()) : lifted)]=])

# -- src/schedule/collect/eval_order.cpp
edit(src/schedule/collect/eval_order.cpp [=[
if (d.in_place[i] < 0) continue;]=] [=[
if (d.in_place[i] < 0 || FAULT(NoReaderOrder)) continue;]=])
edit(src/schedule/collect/eval_order.cpp [=[
if (blocked.empty()) throw]=] [=[
if (blocked.empty() || FAULT(CirclesNotCut)) throw]=])

# -- src/schedule/kernels/places.cpp
edit(src/schedule/kernels/places.cpp [=[
case Op::Arange: return ir::cast(at.index[0], n->dtype);]=] [=[
case Op::Arange:
        return ir::cast(FAULT(ArangeOffByOne) ? math_.add(at.index[0], math_.constant(1)) : at.index[0], n->dtype);]=])
edit(src/schedule/kernels/places.cpp [=[
  UOp negative = m.lt(i, m.constant(0));]=] [=[
@@
  if (FAULT(NegativeIndex)) negative = m.constant(0);]=])

# -- src/schedule/kernels/rangeify.cpp
edit(src/schedule/kernels/rangeify.cpp [=[
    if (!r.gate) return v;]=] [=[
    if (!r.gate || FAULT(GateLost)) return v;]=])
edit(src/schedule/kernels/rangeify.cpp [=[
places_.range(points_along(p_.space, kernel_, a))]=] [=[
places_.range(FAULT(PartMissing) ? Dim(points_along(p_.space, kernel_, a).bound() - 1) : points_along(p_.space, kernel_, a))]=])

edit(src/schedule/kernels/rangeify.cpp [=[
joins_groups(f.of.stage) ?]=] [=[
joins_groups(f.of.stage) && !FAULT(GroupAsBlock) ?]=])

# -- src/codegen/expand/accumulate.cpp
edit(src/codegen/expand/accumulate.cpp [=[
  return emit_.constant(dtype, ir::identity_of(combine, dtype, static_cast<int>(accumulator)));]=] [=[
  const bool second = !registers_.empty() && registers_.begin()->first.first != statement;
  if ((combine == Combine::Max && FAULT(MaxFromZero)) || (combine == Combine::Min && FAULT(MinFromZero)) ||
      (combine == Combine::Mul && FAULT(ProductFromZero)))
    return emit_.constant(dtype, ir::Scalar::of(dtype, 0));
  if (second && FAULT(SecondInitLost)) return emit_.constant(dtype, ir::Scalar::of(dtype, 1));
@@]=])
edit(src/codegen/expand/accumulate.cpp [=[
  // Chains are halved, as Tree says: first whole vectors, then those of the threads, then the lanes of one.]=] [=[
  if (c.width > 1 && statements_.list.size() > 2 && FAULT(CombineInOrder)) {
    State result = lanes_of(parts[0], 0, 1);
    for (int i = 1; i < c.count; ++i)
      result = combined(merge, 1, result, lanes_of(parts[static_cast<size_t>(i / c.width)], i % c.width, 1));
    return values_.finish(s.node, result[0]);
  }
@@]=])

# -- src/codegen/render/c_spelling.cpp
edit(src/codegen/render/c_spelling.cpp [=[
const char* helper_text(std::string_view name) {]=] [=[
/// Helpers as faults would have them.
struct WrongHelper {
  fuzz::Mutant fault;
  Helper helper;
};
constexpr WrongHelper kWrongHelpers[] = {
    {fuzz::Mutant::DivisionTruncates,
     {"idiv", "($S x, $S y) { return y == 0 ? 0 : y == -1 ? ($T)(0 - ($U)x) : x / y; }"}},
    {fuzz::Mutant::RemainderTruncates, {"mod", "($S x, $S y) { return y == 0 || y == -1 ? 0 : x % y; }"}},
    {fuzz::Mutant::NanLost, {"max", "($S x, $S y) { return x >= y ? x : y; }"}},
    {fuzz::Mutant::NanLost,
     {"vmax", "($S x, $S y) {\n  const $I m = ($I)(x >= y);\n  return ($T)((($I)x & m) | (($I)y & ~m));\n}"}},
    {fuzz::Mutant::CastToLowest, {"saturate", "($S x) { return x != x ? 0 : x <= $lo || x >= $hi ? $min : ($T)x; }"}},
    {fuzz::Mutant::CastToLowest,
     {"vsaturate",
      "($S x) {\n  const $I out = ($I)(x <= $lo) | ($I)(x >= $hi), fits = ~(out | ($I)(x != x));\n"
      "  const $T v = __builtin_convertvector(($S)(($I)x & fits), $T);\n"
      "  const $J l = __builtin_convertvector(out, $J);\n"
      "  return ($T)((($J)v & ~l) | (l & ($J)(($T){0} + $min)));\n}"}},
    {fuzz::Mutant::TruthTruncates,
     {"truth", "($S x) { return __builtin_convertvector(($I)(x >= 1) | ($I)(x <= -1), $T) & 1; }"}},
    {fuzz::Mutant::UnsignedCompare,
     {"lt", "($S x, $S y) { return __builtin_convertvector(($I)(($U)x < ($U)y), $T) & 1; }"}},
};

const char* helper_text(std::string_view name, DType on) {
  for (const WrongHelper& w : kWrongHelpers)
    if (fuzz::mutant == w.fault && name == w.helper.name && on != DType::Index &&
        (!is_float(on) || w.fault != fuzz::Mutant::UnsignedCompare))
      return w.helper.text;]=])
edit(src/codegen/render/c_spelling.cpp [=[
helper_text(name)]=] [=[
helper_text(name, source.dtype)]=])
edit(src/codegen/render/c_spelling.cpp [=[
helper_text("splat")]=] [=[
helper_text("splat", t.dtype)]=])
edit(src/codegen/render/c_spelling.cpp [=[
  if (is_bool(result.dtype)) return vector ? "@truth" : "$0 != 0";]=] [=[
  if (is_float(source.dtype) && is_bool(result.dtype) && !vector && FAULT(TruthTruncates))
    return "$0 >= 1 || $0 <= -1";
@@]=])
edit(src/codegen/render/c_spelling.cpp [=[
  text = is_float(on) || plain ? row->floats]=] [=[
  if (op == Op::Lt && is_integer(on) && on != DType::Index && FAULT(UnsignedCompare)) return "($U)$0 < ($U)$1";
@@]=])

# -- src/codegen/expand/values.cpp
edit(src/codegen/expand/values.cpp [=[
  return emit_.alu(n->op, type, std::move(src));]=] [=[
  if (n->op == Op::Sub && n->dtype != DType::Index && FAULT(SubSwapped)) std::swap(src[0], src[1]);
  if (n->op == Op::Add && is_float(n->dtype) && n->src[0]->op == Op::Mul && FAULT(FmaTooMany)) {
    const Id x = use(n->src[0]->src[0], lane), y = use(n->src[0]->src[1], lane);
    if (x == kNone || y == kNone) return kNone;
    return emit_.alu(Op::Fma, type, {emit_.splat(x, type.lanes), emit_.splat(y, type.lanes), src[1]});
  }
@@]=])

# -- src/codegen/expand/stores.cpp
edit(src/codegen/expand/stores.cpp [=[
const bool adds = n->integer() != 0;]=] [=[
const bool adds = n->integer() != 0 && !FAULT(ScatterAssigns);]=])

# -- src/codegen/expand/expand.cpp
edit(src/codegen/expand/expand.cpp [=[
    if (axis.size && rest == 0) return;]=] [=[
    if (axis.size && (rest == 0 || (FAULT(LostTail) && --rest == 0))) return;]=])

# -- src/tensor/flight.cpp
edit(src/tensor/flight.cpp [=[
memory.back()->error = text;]=] [=[
if (!(FAULT(PoisonOnlyCurrent) && home < 0)) memory.back()->error = text;]=])

# -- src/schedule/run/parametrise.cpp and interpreted.cpp
edit(src/schedule/run/parametrise.cpp [=[
plan->spares = spares;]=] [=[
plan->spares = spares && !FAULT(NoSecondTry);]=])
edit(src/schedule/run/interpreted.cpp [=[
if (step.mode == EvalStep::InPlace) memory.read]=] [=[
if (step.mode == EvalStep::InPlace && !FAULT(NotPutBack)) memory.read]=])

# -- src/rewrite/view.cpp
edit(src/rewrite/view.cpp [=[
extent_of(g, result_dims[j])]=] [=[
extent_of(g, result_dims[FAULT(ReshapeExtent) && j > group.to ? j - 1 : j])]=])
edit(src/rewrite/view.cpp [=[
index[source[i]] = flat;]=] [=[
index[source[i]] = FAULT(ReshapeExtent) ? m.mod(flat, size) : flat;]=])
edit(src/rewrite/view.cpp [=[
  switch (movement->op) {]=] [=[
  // Faulty indices stay inside of the value: what they do is seen in numbers.
  auto inside = [&](UOp i, size_t axis) { return minimum(i, m.sub(extent_of(g, from[axis]), m.constant(1))); };
@@]=])
edit(src/rewrite/view.cpp [=[
result.index[static_cast<size_t>(movement->ints()[i])] = at.index[i];]=] [=[
@@
      for (size_t i = 0; i < to.rank() && FAULT(PermuteInverse); ++i)
        result.index[i] = inside(at.index[static_cast<size_t>(movement->ints()[i])], i);]=])
edit(src/rewrite/view.cpp [=[
        result.index[i] = m.sub(m.sub(extent_of(g, to[i]), m.constant(1)), at.index[i]);]=] [=[
@@
        if (FAULT(FlipOffByOne)) result.index[i] = inside(m.add(result.index[i], m.constant(1)), i);]=])
edit(src/rewrite/view.cpp [=[
        if (movement->src.size() == 1 && e.begin == 0 && e.end == to[i]) continue;]=] [=[
@@
        if (FAULT(PadOffByOne)) result.index[i] = m.sub(result.index[i], m.constant(1));]=])
edit(src/rewrite/view.cpp [=[
m.constant(step)]=] [=[
m.constant(FAULT(WindowClose) ? (step < 0 ? -1 : 1) : step)]=])

# -- src/uop/tensor_graph.cpp
edit(src/uop/tensor_graph.cpp [=[
const bool interned = !has(spec.op, kFresh) && !requires_grad;]=] [=[
const bool fresh = has(spec.op, kFresh) && !(spec.op == Op::After && FAULT(VersionsMerged));
  const bool interned = !fresh && (!requires_grad || FAULT(GradInterned));]=])
edit(src/uop/tensor_graph.cpp [=[
if (!n->has_history()) let_go(n);]=] [=[
if (!n->has_history() || FAULT(HistoryLetGo)) let_go(n);]=])

edit(src/uop/tensor_graph.cpp [=[
if (interned && apart &&]=] [=[
@@ !FAULT(NotApart) &&]=])

# -- src/schedule/simplify/tuples.cpp
edit(src/schedule/simplify/tuples.cpp [=[
n->src[1]->ints() != reduce->reduction().axes) return {};]=] [=[
(!FAULT(OtherMaximum) && n->src[1]->ints() != reduce->reduction().axes)) return {};]=])
edit(src/schedule/simplify/tuples.cpp [=[
*count == static_cast<double>(*length)]=] [=[
(@@ || FAULT(AnyCentre))]=])
edit(src/schedule/simplify/tuples.cpp [=[
!same_rows(n, out.maximum, x)]=] [=[
(@@ && !(FAULT(OtherMaximum) && out.maximum->src[0] == x))]=])

# -- src/uop/combine.cpp
edit(src/uop/combine.cpp [=[
off * (off * (a[0] * share));]=] [=[
off * (off * (a[0] * (FAULT(MomentsOfOne) ? like(share, 1.0) / maximum(count, like(count, 1.0)) : share)));]=])
edit(src/uop/combine.cpp [=[
exp(-alu(Op::Abs, {a[0] - b[0]}));]=] [=[
FAULT(ExpSumGrows) ? exp(alu(Op::Abs, {a[0] - b[0]})) : @@]=])
edit(src/uop/combine.cpp [=[
UOp take = beyond | (same & lt(b[1], a[1]));]=] [=[
UOp take = FAULT(TieToLater) ? beyond : beyond | (same & lt(b[1], a[1]));]=])

# -- src/schedule/simplify/sum_blocks.cpp
edit(src/schedule/simplify/sum_blocks.cpp [=[
if (all <= kLongestChain) return tree;]=] [=[
if (all <= kLongestChain || FAULT(ChainUnbroken)) return tree;]=])
edit(src/schedule/simplify/sum_blocks.cpp [=[
else if (blocks > ir::Tree::kJoined)]=] [=[
else if (blocks > ir::Tree::kJoined && !FAULT(NoGroups))]=])

# -- src/schedule/partition/crossing.cpp
edit(src/schedule/partition/crossing.cpp [=[
Dim(k.blocks.count(space.bound(axis)))]=] [=[
Dim(FAULT(LastBlockDropped) ? space.bound(axis) / k.blocks.size : k.blocks.count(space.bound(axis)))]=])
edit(src/schedule/partition/crossing.cpp [=[
std::binary_search(found.begin(), found.end(), src.stage);]=] [=[
(!FAULT(LateUnmarked) && std::binary_search(found.begin(), found.end(), src.stage));]=])
edit(src/schedule/partition/crossing.cpp [=[
blocks.size = fixed ? sizes[0] :]=] [=[
blocks.size = fixed ? (FAULT(BlocksTooLong) ? 2 : 1) * sizes[0] :]=])

# -- src/schedule/partition/merge.cpp
edit(src/schedule/partition/merge.cpp [=[
if (k1.level != k2.level &&]=] [=[
@@ !FAULT(MergeAcrossLevels) &&]=])
edit(src/schedule/partition/merge.cpp [=[
  if (form.swapped) k1.outer]=] [=[
  if (form.swapped && !FAULT(MergeKeepsRanges)) k1.outer]=])

# -- src/tensor/repeated.cpp and rerun.cpp
edit(src/tensor/repeated.cpp [=[
now[s] == versions_[s]]=] [=[
(FAULT(KeptForever) || @@)]=])
edit(src/tensor/rerun.cpp [=[
push_back(source.steady());]=] [=[
push_back(FAULT(KeptOfChanging) || source.steady());]=])
edit(src/tensor/rerun.cpp [=[
const bool known = source.steady()]=] [=[
const bool known = (!source.input && (FAULT(KeptOfChanging) || source.steady()))]=])
edit(src/tensor/rerun.cpp [=[
if (arg >= 0) steady]=] [=[
if (arg >= 0 && !FAULT(KeptRandom)) steady]=])

# -- src/tensor/read.cpp
edit(src/tensor/read.cpp [=[
watching->reads({&n, 1});]=] [=[
watching->reads(FAULT(ReadsUnseen) && n->storage() ? std::span<const ir::UOp>() : std::span<const ir::UOp>(&n, 1));]=])

# -- src/schedule/run/keep.cpp
edit(src/schedule/run/keep.cpp [=[
return first;]=] [=[
for (size_t s = 0; FAULT(KeptApart) && s < first.size(); ++s) first[s] = s;
  @@]=])
