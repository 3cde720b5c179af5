#include "propose/cut/spotlight.h"

#include <algorithm>
#include <set>
#include <utility>

namespace solstice::propose {

Spotlight::Spotlight(const ir::Program& program, const Dataflow& flow) : program_(program), flow_(flow) {
  for (ir::Equation& equation : program_.equations) sides_.push_back(std::exchange(equation.rhs, hidden_));
}

void Spotlight::show(int equation) {
  program_.equations[static_cast<size_t>(equation)].rhs = sides_[static_cast<size_t>(equation)];
  shown_.push_back(equation);
}

void Spotlight::show(const std::vector<int>& equations) {
  const std::set<int> own(equations.begin(), equations.end());
  std::set<int> targets;
  for (const int id : equations) {
    show(id);
    targets.insert(program_.equation(id).target);
  }
  for (const int target : targets) {
    const std::vector<int>& readers = flow_.readers[static_cast<size_t>(target)];
    const auto other = std::find_if(readers.begin(), readers.end(), [&](int id) { return !own.contains(id); });
    if (other != readers.end()) show(*other);
  }
}

void Spotlight::hide() {
  for (const int id : shown_) program_.equations[static_cast<size_t>(id)].rhs = hidden_;
  shown_.clear();
}

}  // namespace solstice::propose
