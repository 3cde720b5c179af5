#include "property/random_values.h"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace solstice::ir::testing {
namespace {

// All tensors are [A, B] = [4, 6] but `v` [B] and the integers `g` [A], which index A.
class ValueWriter {
 public:
  explicit ValueWriter(uint64_t seed) : random_(seed) {}

  std::string run() {
    std::string out =
        "program p\ndim A = 4, B = 6\ninput x : f32[A, B]\ninput z : f32[A, B]\ninput v : f32[B]\ninput g : i64[A]\n"
        "output y : f32[A, B]\n";
    tensors_ = {"x", "z"};
    for (int i = 0; i < 1 + below(4); ++i) {
      const std::string name = fmt::format("t{}", i);
      out += defined(name, below(4) == 0);
      tensors_.push_back(name);
    }
    return out + defined("y", false);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int>(choices.size())))];
  }

  // In one piece, or in two along A or B.
  std::string defined(const std::string& name, bool pieces) {
    if (!pieces) return fmt::format("{}[a,b] = {} for a<A, b<B\n", name, value(3, "a", "b"));
    const std::string head = fmt::format("tensor {} : f32[A, B]\n", name);
    if (below(2) == 0)
      return head + fmt::format("{0}[a,2*b] = {1} for a<A, b<3\n{0}[a,2*b+1] = {2} for a<A, b<3\n", name,
                                value(2, "a", "b"), value(2, "a", "b"));
    const int cut = 1 + below(3);
    return head + fmt::format("{0}[a,b] = {1} for a<{2}, b<B\n{0}[a+{2},b] = {3} for a<A-{2}, b<B\n", name,
                              value(2, "a", "b"), cut, value(2, "a", "b"));
  }

  // `a` and `b` are indices below 4 and 6 (or less, in a piece).
  std::string read(const std::string& a, const std::string& b) {
    const std::string t = one_of(tensors_);
    switch (below(9)) {
      case 0:
        return fmt::format("{}[{}-1,{} else {}]", t, a, b, one_of({"0", "1", "v[0]"}));
      case 1:
        return fmt::format("{}[{},{}+{} else 0]", t, a, b, 1 + below(2));
      case 2:
        return fmt::format("{}[({}+{})%A,{}]", t, a, b, b);
      case 3:
        return fmt::format("{}[{}//2,2*{}+{}%2]", t, b, one_of({a + "//2", "0"}), b);
      case 4:
        return fmt::format("{}[g[{}],{}]", t, a, b);
      case 5:
        return fmt::format("v[{}]", b);
      default:
        return fmt::format("{}[{},{}]", t, a, b);
    }
  }

  std::string condition(int depth, const std::string& a, const std::string& b) {
    switch (below(7)) {
      case 0:
        return fmt::format("{} <= {}", a, b);
      case 1:
        return fmt::format("({}+{})%2 == {}", a, b, below(2));
      case 2:
        return fmt::format("{} >= {}", b, below(4));
      case 3:
        return fmt::format("g[{}] == {}", a, below(4));
      case 4:
        return fmt::format("{} > {}", read(a, b), one_of({"0", "0.5"}));
      case 5:
        return depth > 0 ? fmt::format("({} {} {})", condition(0, a, b), one_of({"and", "or"}), condition(0, a, b))
                         : "not " + a + " == 1";
      default:
        return fmt::format("2*{} < {}+1", a, b);
    }
  }

  std::string reduced(int depth, const std::string& a, const std::string& b) {
    const std::string k = fmt::format("k{}", next_++);
    const bool rows = below(2) == 0;  // over A or over B
    const std::string body = rows ? value(depth - 1, k, b) : value(depth - 1, a, k);
    const std::string binder = k + (rows ? "<A" : "<B");
    switch (below(7)) {
      case 0:
        return fmt::format("mean[{}]({})", binder, body);
      case 1:
        return fmt::format("max[{}]({})", binder, body);
      case 2:
        return fmt::format("sum[{} where {}]({})", binder, rows ? condition(1, k, b) : condition(1, a, k), body);
      case 3:
        return fmt::format("sum[{} where {} == {}]({})", binder, k, rows ? b + "-1" : "2*" + a, body);
      case 4:
        return fmt::format("max(min[{} where {} <= {}]({}), -9)", binder, k, rows ? a : b, body);
      case 5:
        return fmt::format("var[{}]({})", binder, body);
      default:
        return fmt::format("sum[{}]({})", binder, body);
    }
  }

  std::string value(int depth, const std::string& a, const std::string& b) {
    if (depth <= 0) return below(5) == 0 ? one_of({"2", "0.5", "3", "1.25", a, b}) : read(a, b);
    const auto again = [&] { return value(depth - 1, a, b); };
    switch (below(13)) {
      case 0:
        return fmt::format("({} * {})", again(), again());
      case 1:
        return fmt::format("({} - {})", again(), again());
      case 2:
        return fmt::format("{} / (abs({}) + 1)", again(), again());
      case 3:
        return fmt::format("select({}, {}, {})", condition(1, a, b), again(), again());
      case 4:
        return fmt::format("{}({}, {})", one_of({"max", "min"}), again(), again());
      case 5:
        return fmt::format("{}({})", one_of({"tanh", "relu", "sigmoid", "abs", "square"}), again());
      case 6:
        return fmt::format("exp(-abs({}))", again());
      case 7:
        return fmt::format("{}(square({}) + 0.5)", one_of({"sqrt", "rsqrt", "log"}), again());
      case 8:
      case 9:
      case 10:
        return reduced(depth, a, b);
      default:
        return fmt::format("({} + {})", again(), again());
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> tensors_;
  int next_ = 0;
};

}  // namespace

std::string random_program(uint64_t seed) { return ValueWriter(seed).run(); }

}  // namespace solstice::ir::testing
