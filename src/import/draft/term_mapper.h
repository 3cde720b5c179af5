// Copies equations with every tensor, loop and size replaced by what a derived class makes of it. The order of visits
// depends on the structure alone, so two equations of one structure are visited in step.
#pragma once

#include <string_view>

#include "import/draft/draft.h"

namespace solstice::importer {

class TermMapper {
 public:
  explicit TermMapper(const Draft& source) : source_(source) {}
  virtual ~TermMapper() = default;
  TermMapper(const TermMapper&) = delete;
  TermMapper& operator=(const TermMapper&) = delete;

  DraftEquation equation(const DraftEquation& given);

 protected:
  virtual int tensor(int id) = 0;
  virtual Size size(const Size& given) = 0;
  virtual Loop loop(const Loop& given) = 0;
  virtual void mark(std::string_view) {}  // other parts of the structure
  // The constant part of an index, a number, and a whole read or left side, for those who change more than names.
  virtual Index offset(const Size& given) { return Index(size(given)); }
  virtual TermRef number(const TermRef& given);  // is_number
  virtual void left(DraftEquation&) {}
  virtual void read_made(Term&) {}

  TermRef term(const TermRef& given);
  const Draft& source() const { return source_; }

 private:
  std::vector<Index> indices(const std::vector<Index>& list);
  Index index(const Index& given);
  AtomRef atom(const Atom& given);

  const Draft& source_;
};

// Copies whatever a derived class does not change.
class TermCopier : public TermMapper {
 public:
  using TermMapper::TermMapper;

 protected:
  int tensor(int id) override { return id; }
  Size size(const Size& given) override { return given; }
  Loop loop(const Loop& given) override { return given; }
};

// Merges the digits of outputs in all equations, where otherwise the printer would.
void settle_digits(Draft& draft);

}  // namespace solstice::importer
