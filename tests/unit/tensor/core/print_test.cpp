// Printing: the texts are NumPy 2's str() of the same arrays.
#include <numeric>

#include "tensor/core/print.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using runtime::Array;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Array doubles(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Array::of<double>(std::move(shape), values);
}
Array floats(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Array::of<float>(std::move(shape), std::vector<float>(values.begin(), values.end()));
}
Array counted(DType dtype, std::vector<int64_t> shape, int64_t step = 1) {
  Array a(dtype, std::move(shape));
  for (int64_t i = 0; i < a.numel(); ++i) a.set(i, ir::Scalar::of(dtype, i * step));
  return a;
}
std::vector<double> sevenths(int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<float>(i) / 7.0f);
  return out;
}
constexpr uint8_t truths[] = {1, 0, 0, 1};

}  // namespace

TEST_CASE("arrays print as NumPy prints them", "[tensor]") {
  CHECK(tensor::format_array(Array::of<int64_t>({2, 3}, std::vector<int64_t>{-2, -1, 0, 1, 2, 3})) ==
        "[[-2 -1  0]\n"
        " [ 1  2  3]]");
  CHECK(tensor::format_array(floats({3}, {1, 2.5, -3.125})) == "[ 1.     2.5   -3.125]");
  CHECK(tensor::format_array(floats({3}, {0.1, 1 / 3.0, 100})) == "[  0.1          0.33333334 100.        ]");
  CHECK(tensor::format_array(doubles({3}, {0.1, 1 / 3.0, 100})) == "[  0.1          0.33333333 100.        ]");
  CHECK(tensor::format_array(floats({3}, {1e-5, 1.25, 3e10})) == "[1.00e-05 1.25e+00 3.00e+10]");
  CHECK(tensor::format_array(floats({3}, {1.23456788e-05, 0.3, 1e-20})) ==
        "[1.2345678e-05 3.0000001e-01 9.9999997e-21]");
  CHECK(tensor::format_array(doubles({2, 2}, {-1e-5, 1.25, 2, 1e10})) ==
        "[[-1.00e-05  1.25e+00]\n"
        " [ 2.00e+00  1.00e+10]]");
  CHECK(tensor::format_array(floats({3}, {kNan, 1, -kInf})) == "[ nan   1. -inf]");
  CHECK(tensor::format_array(floats({2}, {kNan, kInf})) == "[nan inf]");
  CHECK(tensor::format_array(floats({3}, {-kInf, 1.25, 10})) == "[ -inf  1.25 10.  ]");
  CHECK(tensor::format_array(Array::from_memory(DType::Bool, {2, 2}, std::as_bytes(std::span(truths)))) ==
        "[[ True False]\n"
        " [False  True]]");
  CHECK(tensor::format_array(counted(DType::F32, {2, 2, 3})) ==
        "[[[ 0.  1.  2.]\n"
        "  [ 3.  4.  5.]]\n"
        "\n"
        " [[ 6.  7.  8.]\n"
        "  [ 9. 10. 11.]]]");
  CHECK(tensor::format_array(counted(DType::I64, {30}, 1000)) ==
        "[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n"
        " 12000 13000 14000 15000 16000 17000 18000 19000 20000 21000 22000 23000\n"
        " 24000 25000 26000 27000 28000 29000]");
  CHECK(tensor::format_array(floats({20}, sevenths(20))) ==
        "[0.         0.14285715 0.2857143  0.42857143 0.5714286  0.71428573\n"
        " 0.85714287 1.         1.1428572  1.2857143  1.4285715  1.5714285\n"
        " 1.7142857  1.8571428  2.         2.142857   2.2857144  2.4285715\n"
        " 2.5714285  2.7142856 ]");
  CHECK(tensor::format_array(floats({2, 24}, sevenths(48))) ==
        "[[0.         0.14285715 0.2857143  0.42857143 0.5714286  0.71428573\n"
        "  0.85714287 1.         1.1428572  1.2857143  1.4285715  1.5714285\n"
        "  1.7142857  1.8571428  2.         2.142857   2.2857144  2.4285715\n"
        "  2.5714285  2.7142856  2.857143   3.         3.142857   3.2857144 ]\n"
        " [3.4285715  3.5714285  3.7142856  3.857143   4.         4.142857\n"
        "  4.285714   4.428571   4.571429   4.714286   4.857143   5.\n"
        "  5.142857   5.285714   5.428571   5.571429   5.714286   5.857143\n"
        "  6.         6.142857   6.285714   6.428571   6.571429   6.714286  ]]");
  CHECK(tensor::format_array(counted(DType::I64, {2000})) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(tensor::format_array(counted(DType::F32, {100, 30})) ==
        "[[0.000e+00 1.000e+00 2.000e+00 ... 2.700e+01 2.800e+01 2.900e+01]\n"
        " [3.000e+01 3.100e+01 3.200e+01 ... 5.700e+01 5.800e+01 5.900e+01]\n"
        " [6.000e+01 6.100e+01 6.200e+01 ... 8.700e+01 8.800e+01 8.900e+01]\n"
        " ...\n"
        " [2.910e+03 2.911e+03 2.912e+03 ... 2.937e+03 2.938e+03 2.939e+03]\n"
        " [2.940e+03 2.941e+03 2.942e+03 ... 2.967e+03 2.968e+03 2.969e+03]\n"
        " [2.970e+03 2.971e+03 2.972e+03 ... 2.997e+03 2.998e+03 2.999e+03]]");
  CHECK(tensor::format_array(counted(DType::I64, {8, 5, 50})) ==
        "[[[   0    1    2 ...   47   48   49]\n"
        "  [  50   51   52 ...   97   98   99]\n"
        "  [ 100  101  102 ...  147  148  149]\n"
        "  [ 150  151  152 ...  197  198  199]\n"
        "  [ 200  201  202 ...  247  248  249]]\n"
        "\n"
        " [[ 250  251  252 ...  297  298  299]\n"
        "  [ 300  301  302 ...  347  348  349]\n"
        "  [ 350  351  352 ...  397  398  399]\n"
        "  [ 400  401  402 ...  447  448  449]\n"
        "  [ 450  451  452 ...  497  498  499]]\n"
        "\n"
        " [[ 500  501  502 ...  547  548  549]\n"
        "  [ 550  551  552 ...  597  598  599]\n"
        "  [ 600  601  602 ...  647  648  649]\n"
        "  [ 650  651  652 ...  697  698  699]\n"
        "  [ 700  701  702 ...  747  748  749]]\n"
        "\n"
        " ...\n"
        "\n"
        " [[1250 1251 1252 ... 1297 1298 1299]\n"
        "  [1300 1301 1302 ... 1347 1348 1349]\n"
        "  [1350 1351 1352 ... 1397 1398 1399]\n"
        "  [1400 1401 1402 ... 1447 1448 1449]\n"
        "  [1450 1451 1452 ... 1497 1498 1499]]\n"
        "\n"
        " [[1500 1501 1502 ... 1547 1548 1549]\n"
        "  [1550 1551 1552 ... 1597 1598 1599]\n"
        "  [1600 1601 1602 ... 1647 1648 1649]\n"
        "  [1650 1651 1652 ... 1697 1698 1699]\n"
        "  [1700 1701 1702 ... 1747 1748 1749]]\n"
        "\n"
        " [[1750 1751 1752 ... 1797 1798 1799]\n"
        "  [1800 1801 1802 ... 1847 1848 1849]\n"
        "  [1850 1851 1852 ... 1897 1898 1899]\n"
        "  [1900 1901 1902 ... 1947 1948 1949]\n"
        "  [1950 1951 1952 ... 1997 1998 1999]]]");
  CHECK(tensor::format_array(floats({2}, {-0.0, 1.5})) == "[-0.   1.5]");
  CHECK(tensor::format_array(floats({0, 3}, {})) == "[]");
  CHECK(tensor::format_array(floats({}, {2})) == "2.0");
  CHECK(tensor::format_array(floats({}, {1e-7})) == "1e-07");
  CHECK(tensor::format_array(floats({}, {0.1})) == "0.1");
  CHECK(tensor::format_array(doubles({1, 3}, {0, 0, 0})) == "[[0. 0. 0.]]");
  CHECK(tensor::format_array(Array::of<uint8_t>({2}, std::vector<uint8_t>{255, 3})) == "[255   3]");
  CHECK(tensor::format_array(floats({3}, {1e-9, kInf, -2.5})) == "[ 1.0e-09      inf -2.5e+00]");
  CHECK(tensor::format_array(Array::of<uint64_t>({1}, std::vector<uint64_t>{~uint64_t{0}})) ==
        "[18446744073709551615]");
}
