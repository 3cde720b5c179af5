#include "codegen/pointer_names.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "codegen/ctype.h"

namespace solstice::codegen {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_kept(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char kept(char c) { return is_kept(c) ? c : '_'; }

std::string_view without_t(std::string_view name) {
  if (name.size() > 1 && name[0] == 't' && is_digit(name[1])) name.remove_prefix(1);
  return name;
}

// As an identifier, without underscores at its end, and without a `t` that stands before a digit.
std::string core_of(std::string_view name) {
  while (!name.empty() && !is_kept(name.back())) name.remove_suffix(1);
  std::string out(without_t(name));
  std::transform(out.begin(), out.end(), out.begin(), kept);
  return out;
}

// As identifiers they are equal, or would be with what an identifier may have more. Most names differ early: nothing
// is made of them, since each name that is asked for is compared with all.
bool may_clash(std::string_view name, const std::string& core) {
  name = without_t(name);
  if (name.size() < core.size()) return false;
  size_t i = 0;
  while (i < core.size() && kept(name[i]) == core[i]) ++i;
  return i == core.size() && std::none_of(name.begin() + static_cast<std::ptrdiff_t>(i), name.end(), is_kept);
}

}  // namespace

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

std::string pointer_name(const ir::Program& program, int tensor) {
  const std::string& name = program.tensor(tensor).name;
  const std::string core = core_of(name);
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    if (t != static_cast<size_t>(tensor) && may_clash(program.tensors[t].name, core))
      return pointer_names(program)[static_cast<size_t>(tensor)];
  }
  return "p_" + identifier(name);
}

}  // namespace solstice::codegen
