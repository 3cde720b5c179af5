#include <algorithm>
#include <map>

#include "codegen/flatten.h"
#include "codegen/materialised.h"
#include "families/cuda/emit.h"
#include "families/emission.h"
#include "ir/count.h"

namespace solstice::families::cuda {
namespace {

Bytes bytes_of(const ir::Program& program, const std::map<int, double>& elements) {
  Bytes out;
  for (const auto& [tensor, count] : elements) out += Bytes(count * size_of(*program.tensor(tensor).dtype));
  return out;
}

}  // namespace

Result<Cost> cost_of(const Context& context, const ir::Kernel& kernel) {
  const ir::Program& program = context.program;
  const std::vector<int> left = codegen::materialised(program, kernel);
  const auto contains = [](const std::vector<int>& list, int id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  std::vector<int> written;
  for (const int id : kernel.equations) written.push_back(program.equation(id).target);
  std::map<int, double> reads, writes;
  for (const ir::EquationCount& each : ir::count(program).equations) {
    if (!contains(kernel.equations, each.equation)) continue;
    if (const int target = program.equation(each.equation).target; contains(left, target))
      writes[target] += each.elements;
    for (const ir::ReadCount& read : each.reads) {
      if (!contains(written, read.tensor)) reads[read.tensor] = std::max(reads[read.tensor], read.elements);
    }
  }
  Cost out;
  out.traffic = bytes_of(program, reads) + bytes_of(program, writes);
  SOLSTICE_TRY(const BytesPerSecond rate, copy_rate(context.machine));
  finish_cost(context.machine, out.traffic / rate, Seconds(0), out);
  return out;
}

}  // namespace solstice::families::cuda
