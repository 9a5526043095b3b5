// The words of options: PyTorch's, for each value of an enum.
#include "sinter/choice.h"

#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0 {
namespace {

template <class E>
struct Word {
  std::string_view word;
  E value;
};

/// The name of an enum, and its words.
template <class E>
struct Words;

template <>
struct Words<BagMode> {
  static constexpr const char* kName = "BagMode";
  static constexpr Word<BagMode> kAll[] = {{"sum", BagMode::Sum}, {"mean", BagMode::Mean}, {"max", BagMode::Max}};
};
template <>
struct Words<Gelu> {
  static constexpr const char* kName = "Gelu";
  static constexpr Word<Gelu> kAll[] = {{"none", Gelu::Exact}, {"tanh", Gelu::Tanh}};
};
template <>
struct Words<GridOrder> {
  static constexpr const char* kName = "GridOrder";
  static constexpr Word<GridOrder> kAll[] = {{"ij", GridOrder::IJ}, {"xy", GridOrder::XY}};
};
template <>
struct Words<GridPadding> {
  static constexpr const char* kName = "GridPadding";
  static constexpr Word<GridPadding> kAll[] = {
      {"zeros", GridPadding::Zeros}, {"border", GridPadding::Border}, {"reflection", GridPadding::Reflection}};
};
template <>
struct Words<Interpolation> {
  static constexpr const char* kName = "Interpolation";
  static constexpr Word<Interpolation> kAll[] = {{"linear", Interpolation::Linear},
                                                 {"lower", Interpolation::Lower},
                                                 {"higher", Interpolation::Higher},
                                                 {"nearest", Interpolation::Nearest},
                                                 {"midpoint", Interpolation::Midpoint}};
};
template <>
struct Words<PadMode> {
  static constexpr const char* kName = "PadMode";
  static constexpr Word<PadMode> kAll[] = {{"constant", PadMode::Constant},
                                           {"reflect", PadMode::Reflect},
                                           {"replicate", PadMode::Replicate},
                                           {"circular", PadMode::Circular},
                                           {"zeros", PadMode::Constant}};  // of convolutions
};
template <>
struct Words<Reduction> {
  static constexpr const char* kName = "Reduction";
  static constexpr Word<Reduction> kAll[] = {
      {"mean", Reduction::Mean}, {"sum", Reduction::Sum}, {"none", Reduction::None}};
};
template <>
struct Words<ResampleMode> {
  static constexpr const char* kName = "ResampleMode";
  static constexpr Word<ResampleMode> kAll[] = {{"nearest", ResampleMode::Nearest},
                                                {"nearest-exact", ResampleMode::NearestExact},
                                                {"linear", ResampleMode::Linear},
                                                {"bilinear", ResampleMode::Bilinear},
                                                {"trilinear", ResampleMode::Trilinear},
                                                {"bicubic", ResampleMode::Bicubic},
                                                {"area", ResampleMode::Area}};
};
template <>
struct Words<RoundingMode> {
  static constexpr const char* kName = "RoundingMode";
  static constexpr Word<RoundingMode> kAll[] = {{"trunc", RoundingMode::Trunc}, {"floor", RoundingMode::Floor}};
};
template <>
struct Words<ScatterReduce> {
  static constexpr const char* kName = "ScatterReduce";
  static constexpr Word<ScatterReduce> kAll[] = {{"sum", ScatterReduce::Sum},
                                                 {"prod", ScatterReduce::Prod},
                                                 {"mean", ScatterReduce::Mean},
                                                 {"amax", ScatterReduce::Amax},
                                                 {"amin", ScatterReduce::Amin}};
};

}  // namespace

template <class E>
E Choice<E>::value_of(std::string_view word, Loc where) {
  std::string known;
  for (const Word<E>& w : Words<E>::kAll) {
    if (w.word == word) return w.value;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", w.word);
  }
  tensor::usage_error_at(where, "\"{}\" is no {}; give one of {}", word, Words<E>::kName, known);
}

template class Choice<BagMode>;
template class Choice<Gelu>;
template class Choice<GridOrder>;
template class Choice<GridPadding>;
template class Choice<Interpolation>;
template class Choice<PadMode>;
template class Choice<Reduction>;
template class Choice<ResampleMode>;
template class Choice<RoundingMode>;
template class Choice<ScatterReduce>;

}  // namespace sinter::inline v0
