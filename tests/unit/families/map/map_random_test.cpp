// Property: random equations mean the same generated and evaluated. Each program has a few outputs over random boxes,
// with random affine reads (some out of range with an `else`), gathers, casts and functions.
#include <random>

#include "unit/families/expect.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed), b_("random") {}

  Program make() {
    matrix_ = b_.input("x", {7, 12}), vector_ = b_.input("v", {12}), ids_ = b_.input("ids", {9}, DType::kI32),
    half_ = b_.input("h", {7, 12}, DType::kBF16);
    b_.kernel("k", "map");
    const int outputs = 1 + pick(3);
    for (int k = 0; k < outputs; ++k) {
      const int64_t rows = 1 + pick(9), columns = pick(2) ? 12 : 1 + pick(20);
      const int y = b_.output("y" + std::to_string(k), {rows, columns});
      indices_ = {b_.index("i", rows), b_.index("j", columns)};
      b_.define(y, {indices_[0], indices_[1]}, real(3));
    }
    return std::move(b_.program);
  }

 private:
  int pick(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }

  ExprRef index() {
    const ExprRef i = indices_[static_cast<size_t>(pick(2))];
    switch (pick(6)) {
      case 0:
        return i + whole(pick(5) - 2);
      case 1:
        return whole(pick(8)) - i;
      case 2:
        return op(Op::kFloorDiv, {i, whole(1 + pick(3))});
      case 3:
        return op(Op::kMod, {i * whole(2) + whole(pick(3)), whole(7)});
      case 4:
        return b_.read(ids_, {i}, whole(pick(9)));
      default:
        return i;
    }
  }

  ExprRef real(int depth) {
    if (depth == 0 || pick(6) == 0) return leaf();
    const auto sub = [&] { return real(depth - 1); };
    switch (pick(12)) {
      case 0:
        return sub() + sub();
      case 1:
        return sub() - sub();
      case 2:
        return sub() * sub();
      case 3:
        return sub() / (num(1.5) + op(Op::kAbs, {sub()}));
      case 4:
        return op(Op::kMax, {sub(), sub()});
      case 5:
        return op(Op::kMin, {sub(), index()});
      case 6:
        return op(Op::kTanh, {sub()});
      case 7:
        return op(Op::kErf, {sub()});
      case 8:
        return op(Op::kSelect, {op(Op::kLt, {index(), index()}), sub(), sub()});
      case 9:
        return op(Op::kExp, {op(Op::kMin, {sub(), num(1.0)})});
      case 10:
        return op(Op::kPow, {sub(), whole(2)});
      default:
        return op(Op::kNeg, {sub()});
    }
  }

  ExprRef leaf() {
    switch (pick(5)) {
      case 0:
        return num(0.25 * pick(20) - 2);
      case 1:
        return b_.read(vector_, {index()}, num(0.5));
      case 2:
        return b_.read(half_, {index(), index()}, num(-1.0));
      case 3:
        return op(Op::kMul, {index(), num(0.125)});
      default:
        return b_.read(matrix_, {index(), index()}, num(pick(3)));
    }
  }

  std::mt19937 engine_;
  ProgramBuilder b_;
  int matrix_ = -1, vector_ = -1, ids_ = -1, half_ = -1;
  std::vector<ExprRef> indices_;
};

TEST(MapProperty, RandomEquations) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(Generator(seed).make(), 1e-4, 9);
  }
}

}  // namespace
}  // namespace solstice::families
