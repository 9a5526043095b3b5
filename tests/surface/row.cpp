#include "surface/row.h"

#include <cmath>

#include "sinter/create.h"

namespace surface {

static std::vector<const Family*>& registered() {
  static std::vector<const Family*> families;
  return families;
}

Family::Family(std::string name, std::vector<Row> rows, std::vector<Refusal> refusals)
    : name_(std::move(name)), rows_(std::move(rows)), refusals_(std::move(refusals)) {
  registered().push_back(this);
}

const std::vector<const Family*>& Family::all() { return registered(); }

Row unary(std::string name, Tensor (*f)(sinter::Arg), std::string torch) {
  Row row{std::move(name), [f](const Tensors& x) { return f(x[0]); }, std::move(torch), {{{2, 3}}}};
  row.elementwise = true;
  return row;
}

Row binary(std::string name, Tensor (*f)(sinter::Arg, sinter::Arg), std::string torch) {
  Row row{std::move(name),
          [f](const Tensors& x) { return f(x[0], x[1]); },
          std::move(torch),
          {{{2, 3}, {2, 3}}, {{3, 1}, {2}}}};
  row.elementwise = true;
  return row;
}

Row within(Row row, double low, double high) {
  row.low = low;
  row.high = high;
  return row;
}
Row without_gradients(Row row) {
  row.gradients = Gradients::None;
  return row;
}
Row differentiable_once(Row row) {
  row.gradients = Gradients::First;
  return row;
}
Row of_types(Row row, Types types) {
  row.types = types;
  return row;
}

bool takes(Types types, DType dtype) {
  switch (types) {
    case Types::All: return true;
    case Types::Numbers: return !sinter::is_bool(dtype);
    case Types::Integers: return !sinter::is_bool(dtype) && !sinter::is_float(dtype);
    case Types::IntegersAndBool: return !sinter::is_float(dtype);
    case Types::Floats: return sinter::is_float(dtype);
  }
  return false;
}

DType main_type(const Row& row) { return takes(row.types, sinter::float32) ? sinter::float32 : sinter::int32; }

std::vector<int64_t> sizes_of(const Shape& shape) {
  std::vector<int64_t> out;
  for (const sinter::Dim& d : shape) out.push_back(d.value());
  return out;
}

std::vector<double> numbers_of(const Row& row, const Input& input, int which) {
  std::vector<double> out;
  for (int64_t i = 0; i < input.shape.numel(); ++i) {
    switch (input.kind) {
      case Input::Kind::Numbers:
        out.push_back(row.low +
                      (row.high - row.low) * (0.5 + 0.5 * std::sin(1.7 * static_cast<double>(i) + 0.9 * which + 0.3)));
        break;
      case Input::Kind::Indices: out.push_back(static_cast<double>((7 * i + 3 * which) % input.below)); break;
      case Input::Kind::Mask: out.push_back((5 * i + which) % 3 == 0); break;
    }
  }
  return out;
}

Tensors inputs_of(const Row& row, const std::vector<Input>& given, DType dtype) {
  Tensors out;
  for (size_t k = 0; k < given.size(); ++k) {
    const Tensor x = sinter::from(numbers_of(row, given[k], static_cast<int>(k)), given[k].shape);
    out.push_back(x.to(given[k].kind == Input::Kind::Numbers   ? dtype
                       : given[k].kind == Input::Kind::Indices ? sinter::int64
                                                               : sinter::boolean));
  }
  return out;
}

}  // namespace surface
