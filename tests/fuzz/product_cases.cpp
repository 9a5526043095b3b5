// Products of 16-bit floats for random programs, of sizes that tensor cores take (F8 of docs/semantics.md).
#include "bounds.h"

namespace fuzz {

using namespace sinter;

namespace {

DType short_float(ProgramBuilder& r) { return r.chance(60) ? bfloat16 : float16; }

/// Half of them whole steps of 16.
int64_t size(ProgramBuilder& r, int64_t least, int64_t most) {
  return r.chance(50) ? 16 * r.pick((least + 15) / 16, most / 16) : r.pick(least, most);
}

/// Of type d: as it lies or transposed, stored or made by the kernel from float32.
Item factor(ProgramBuilder& r, DType d, Shape shape) {
  const bool transposed = r.chance(40), made = r.chance(40);
  if (transposed) std::swap(shape[-1], shape[-2]);
  Item x = r.leaf(made ? float32 : d, shape);
  if (made) {
    x.t = (x.t * 2 + 1).to(d);
    x.magnitude = 2 * x.magnitude + 1;
    x.error = rounding(r, d, x.magnitude);
  }
  if (transposed) x.t = x.t.transpose(-1, -2);
  return x;
}

/// A sum in float32 of `terms` products, rounded to the type of t.
Item summed(ProgramBuilder& r, const Tensor& t, const Item& a, const Item& b, int64_t terms) {
  const auto k = static_cast<double>(terms);
  const double largest = k * a.magnitude * b.magnitude,
               error = k * (a.magnitude * b.error + b.magnitude * a.error + a.error * b.error);
  return finish(r, t, largest, error + k * rounding(r, float32, largest));
}

Item product(ProgramBuilder& r) {
  const DType d = short_float(r);
  const int64_t m = size(r, 16, 48), k = size(r, 16, 96), n = size(r, 8, 48);
  Shape left{m, k}, right{k, n};
  if (r.chance(25)) left = {2, m, k}, right = {2, k, n};
  const Item a = factor(r, d, left), b = factor(r, d, right);
  if (r.chance(30)) {
    const Tensor wide = a.t.to(float32).unsqueeze(-1) * b.t.to(float32).unsqueeze(-3);
    return summed(r, wide.sum(-2), a, b, k);
  }
  const Item c = summed(r, matmul(a.t, b.t), a, b, k);
  if (r.chance(50)) return c;
  const Item bias = r.leaf(c.t.dtype(), {n});
  return finish(r, relu(c.t + bias.t), c.magnitude + bias.magnitude, c.error);
}

Item product_gradient(ProgramBuilder& r) {
  const DType d = short_float(r);
  const int64_t m = size(r, 16, 48), k = size(r, 16, 48), n = size(r, 16, 48);
  Item a = r.leaf(d, {m, k}), b = r.leaf(d, {k, n});
  const Item g = r.leaf(d, {m, n});
  a.t = a.t.clone();
  b.t = b.t.clone();
  const std::vector<Tensor> both = gradient(matmul(a.t.requires_grad(), b.t.requires_grad()), {a.t, b.t}, g.t);
  return r.chance(50) ? summed(r, both[0].detach(), g, b, n) : summed(r, both[1].detach(), a, g, m);
}

Item convolution(ProgramBuilder& r) {
  const DType d = short_float(r);
  const int64_t in = r.chance(70) ? 16 : r.pick(16, 24), out = r.pick(16, 24), window = r.pick(1, 3);
  Item image = r.leaf(d, {r.pick(1, 2), in, r.pick(5, 8), r.pick(5, 8)});
  const Item filter = r.leaf(d, {out, in, window, window});
  if (r.chance(40)) image = {image.t * 2 + 1, 2 * image.magnitude + 1, rounding(r, d, 2 * image.magnitude + 1)};
  const Tensor y = conv2d(image.t, filter.t, {}, {.stride = r.pick(1, 2), .padding = r.pick(0, 1)});
  return summed(r, y, image, filter, in * window * window);
}

/// Results are means of values: what the weights' roundings change is small relative to the largest one.
Item attention(ProgramBuilder& r) {
  const DType d = short_float(r);
  const int64_t heads = r.pick(1, 2), queries = r.pick(16, 40), keys = r.pick(33, 100), features = 16 * r.pick(1, 2);
  const Item q = r.leaf(d, {heads, queries, features}), k = r.leaf(d, {heads, keys, features}),
             v = r.leaf(d, {heads, keys, features});
  const Tensor y = scaled_dot_product_attention(q.t, k.t, v.t, {.is_causal = r.chance(40)});
  return finish(r, y, v.magnitude, 4 * rounding(r, d, v.magnitude));
}

}  // namespace

const std::vector<OpCase>& product_cases() {
  static const std::vector<OpCase> all = {{"16-bit product", true, true, product},
                                          {"16-bit product gradient", true, true, product_gradient},
                                          {"16-bit convolution", true, true, convolution},
                                          {"16-bit attention", false, true, attention}};
  return all;
}

}  // namespace fuzz
