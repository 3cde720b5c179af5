#include "codegen/text/statement.h"

#include "codegen/text/marks.h"

namespace solstice::codegen {

std::string text_of(const Statement& statement) { return marked(statement.text + "\n", statement.equation); }

std::string text_of(const std::vector<Statement>& statements) {
  std::string out;
  for (const Statement& s : statements) out += text_of(s);
  return out;
}

void add_operands(const std::vector<Statement>& statements, std::set<std::string>& out) {
  for (const Statement& s : statements) out.insert(s.operands.begin(), s.operands.end());
}

std::vector<Field> fields_of(const std::vector<Statement>& definitions, const std::set<std::string>& used) {
  std::vector<Field> out;
  for (const Statement& s : definitions) {
    if (!s.name.empty() && used.contains(s.name)) out.push_back({s.type, s.name});
  }
  return out;
}

}  // namespace solstice::codegen
