// The grammar as docs/language.md prints it: read from the page, matched against programs and used to write some.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lang/lexer.h"

namespace solstice::lang::testing {

struct GrammarNode {
  enum class Kind { kTerminal, kRule, kSequence, kChoice, kOptional, kRepeat };
  Kind kind = Kind::kSequence;
  std::string text;  // of a terminal, as written between quotes; of a rule or token class, its name
  std::vector<GrammarNode> children;
  int id = 0;  // counts all nodes of a grammar
};

struct Grammar {
  std::map<std::string, GrammarNode> rules;
  int nodes = 0;

  const GrammarNode* rule(const std::string& name) const;  // null: a class of tokens (NAME, INT, ...)
};

Grammar read_grammar(const std::string& ebnf);
std::string ebnf_of(const std::string& page);  // the page's block of EBNF

// A way that a derivation can take: an alternative, an option taken or left out, a repetition that is empty or not.
using Way = std::pair<int, int>;  // the node's id; which

// Every way there is, with words for it.
std::map<Way, std::string> all_ways(const Grammar& grammar);

// Derives the tokens from `file`; false if that cannot be done. The ways taken are added to `taken`.
bool derive(const Grammar& grammar, const std::vector<Token>& tokens, std::set<Way>& taken);

// A random program of the grammar, about as deep as `depth`.
std::string sentence(const Grammar& grammar, int depth, std::mt19937_64& random);

}  // namespace solstice::lang::testing
