#include "codegen/pointer_names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "codegen/ctype.h"

namespace solstice::codegen {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Without underscores at its end, and without a `t` that stands before a digit.
std::string_view core_of(std::string_view name) {
  while (!name.empty() && !std::isalnum(static_cast<unsigned char>(name.back()))) name.remove_suffix(1);
  if (name.size() > 1 && name[0] == 't' && is_digit(name[1])) name.remove_prefix(1);
  return name;
}

// As identifiers they are equal, or would be with what an identifier may have more.
bool may_clash(std::string_view a, std::string_view b) {
  const auto kept = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) ? c : '_'; };
  a = core_of(a), b = core_of(b);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return kept(x) == kept(y); });
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
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    if (t != static_cast<size_t>(tensor) && may_clash(program.tensors[t].name, name))
      return pointer_names(program)[static_cast<size_t>(tensor)];
  }
  return "p_" + identifier(name);
}

}  // namespace solstice::codegen
