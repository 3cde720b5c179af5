#include "codegen/pointer_names.h"

#include <set>

#include "codegen/ctype.h"

namespace solstice::codegen {

std::vector<std::string> pointer_names(const ir::Program& program) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (const ir::Tensor& tensor : program.tensors) {
    std::string name = "p_" + identifier(tensor.name);
    while (!taken.insert(name).second) name += "_";
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace solstice::codegen
