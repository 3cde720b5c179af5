// Generated statements as records: a definition `const TYPE NAME = ...;` and the values that its right side uses, so
// that a generator can move a value from one scope to another without parsing text.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace solstice::codegen {

struct Statement {
  std::string text;                   // one line
  std::string type, name;             // of a definition; empty: the statement defines nothing
  std::vector<std::string> operands;  // texts of the values that the emitter put into it
  int equation = -1;                  // of the program, that it is of; -1: of none in particular
};

// With marks (marks.h) of the equations.
std::string text_of(const Statement& statement);
std::string text_of(const std::vector<Statement>& statements);

// Adds the operands of all statements.
void add_operands(const std::vector<Statement>& statements, std::set<std::string>& out);

// A value that one scope defines and another uses: a member of the struct that hands it over.
struct Field {
  std::string type;  // "float"; "Divisor" for a divisor that was inverted ahead
  std::string name;
};

// Definitions whose names are in `used`, in order.
std::vector<Field> fields_of(const std::vector<Statement>& definitions, const std::set<std::string>& used);

}  // namespace solstice::codegen
