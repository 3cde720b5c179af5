// Dims: the extents of the program being imported. Every extent of a tensor starts as a dim of its own; rules join
// those that must be equal (the K of a matrix product), vote for a name by role, and state how one follows from
// others (P = H - 2). What remains when all nodes are read becomes the `dim` lines of the program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace solstice::importer {

using DimId = int;

class Dims;

// A polynomial over dims with integer coefficients, and its value: how extents, strides and offsets are written.
class Size {
 public:
  Size(int64_t constant = 0);  // NOLINT: a number is a size
  Size(DimId dim, int64_t value);

  int64_t value() const { return value_; }
  bool is_zero() const { return value_ == 0 && terms_.empty(); }
  bool is_one() const { return value_ == 1 && is_constant(); }
  bool is_constant() const;
  // A sorted list of dims is one product; the empty list is the constant term.
  const std::map<std::vector<DimId>, int64_t>& terms() const { return terms_; }

  Size operator+(const Size& other) const;
  Size operator-(const Size& other) const;
  Size operator*(const Size& other) const;
  Size canonical(const Dims& dims) const;  // joined dims replaced by their representative, literal ones by numbers

 private:
  void add(const std::vector<DimId>& product, int64_t coefficient);
  std::map<std::vector<DimId>, int64_t> terms_;
  int64_t value_ = 0;
};

// a / b: symbolically where b is one product that divides every term, else by value if that is exact.
std::optional<Size> divide(const Size& a, const Size& b, const Dims& dims);

// size // divisor + plus
struct Formula {
  Size size;
  int64_t divisor = 1;
  int64_t plus = 0;
};

class Dims {
 public:
  DimId fresh(int64_t value);
  DimId literal(int64_t value);  // printed as its number: windows, extents that user code fixes
  void set_literal(DimId id) { entries_[static_cast<size_t>(find(id))].literal = true; }
  void unify(DimId a, DimId b);  // of equal value
  DimId find(DimId id) const;
  int64_t value(DimId id) const { return entries_[static_cast<size_t>(find(id))].value; }
  bool is_literal(DimId id) const { return entries_[static_cast<size_t>(find(id))].literal; }
  Size size(DimId id) const { return Size(id, value(id)); }

  // A dim of a def that a formal or a static gives its value, and one that is written as its formula everywhere.
  void set_given(DimId id) { entry(id).given = true; }
  bool is_given(DimId id) const { return entries_[static_cast<size_t>(find(id))].given; }
  void set_inlined(DimId id) { entry(id).inlined = true; }
  bool is_inlined(DimId id) const { return entries_[static_cast<size_t>(find(id))].inlined; }

  void hint(DimId id, const std::string& name, int weight);
  void derive(DimId id, Formula formula);  // the first formula is kept
  const std::optional<Formula>& formula(DimId id) const { return entries_[static_cast<size_t>(find(id))].formula; }
  // The parts that a view cut an extent into, outermost part first; the first cut is remembered and used again.
  void set_split(DimId id, std::vector<DimId> parts);
  std::vector<DimId> split(DimId id) const { return entries_[static_cast<size_t>(find(id))].split; }
  void drop_formula(DimId id) { entries_[static_cast<size_t>(find(id))].formula.reset(); }
  // Names by falling weight, then by age of the vote.
  std::vector<std::string> hints(DimId id) const;
  int count() const { return static_cast<int>(entries_.size()); }

 private:
  struct Hint {
    int weight = 0;
    int order = 0;
  };
  struct Entry {
    DimId parent = 0;
    int64_t value = 0;
    bool literal = false;
    bool given = false;
    bool inlined = false;
    std::map<std::string, Hint> hints;
    std::optional<Formula> formula;
    std::vector<DimId> split;
  };
  Entry& entry(DimId id) { return entries_[static_cast<size_t>(find(id))]; }
  std::vector<Entry> entries_;
  int votes_ = 0;
};

}  // namespace solstice::importer
