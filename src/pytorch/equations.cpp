#include "pytorch/equations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "pytorch/expression.h"

namespace solstice::pytorch {
namespace {

using ir::Equation;
using ir::TensorKind;

constexpr int64_t kMostSteps = 4096;
constexpr size_t kComment = 100;

std::vector<int> in_text_order(const ir::Program& program) {
  std::vector<int> out;
  for (const ir::Item& item : program.items) {
    if (item.equation >= 0) out.push_back(item.equation);
    if (item.kernel < 0) continue;
    const std::vector<int>& inner = program.kernels[static_cast<size_t>(item.kernel)].equations;
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

std::string step_text(int64_t coefficient, const std::string& step, int64_t offset) {
  const std::string scaled = coefficient == 1 ? step : fmt::format("{} * {}", coefficient, step);
  return offset == 0 ? scaled : fmt::format("{} {} {}", scaled, offset < 0 ? "-" : "+", std::abs(offset));
}

class Statements {
 public:
  explicit Statements(Body& body) : body_(body), program_(body.program()) {}

  Status write() {
    const std::vector<int> order = in_text_order(program_);
    std::set<int> done;
    for (size_t at = 0; at < order.size(); ++at) {
      if (!done.insert(order[at]).second) continue;
      const Equation& e = program_.equation(order[at]);
      if (e.group < 0) {
        SOLSTICE_CHECK(write(e));
        continue;
      }
      SOLSTICE_CHECK(write_group(order, at, done));
    }
    return success();
  }

 private:
  // What stands among the equations of a recurrence and reads nothing of it comes before, the rest in its turn.
  Status write_group(const std::vector<int>& order, size_t first, std::set<int>& done) {
    const int group = program_.equation(order[first]).group;
    std::vector<int> members;
    std::set<int> targets;
    size_t last = first;
    for (size_t i = first; i < order.size(); ++i) {
      if (program_.equation(order[i]).group != group) continue;
      members.push_back(order[i]);
      targets.insert(program_.equation(order[i]).target);
      last = i;
    }
    for (size_t i = first; i < last; ++i) {
      const Equation& e = program_.equation(order[i]);
      if (e.group == group || done.contains(order[i])) continue;
      const bool later = std::any_of(targets.begin(), targets.end(), [&](int t) { return ir::reads(e.rhs, t); });
      if (later) targets.insert(e.target);
      if (later) continue;
      done.insert(order[i]);
      SOLSTICE_CHECK(write(e));
    }
    done.insert(members.begin(), members.end());
    return write_loop(members);
  }

  Status write_loop(const std::vector<int>& members) {
    const Equation& lead = program_.equation(members[0]);
    int64_t steps = 0;
    for (const int id : members) {
      const Equation& e = program_.equation(id);
      steps = std::max(steps, e.indices[static_cast<size_t>(e.step_index)].extent);
      make_room(e);
    }
    for (const int id : members) {
      const Equation& e = program_.equation(id);
      if (e.indices[static_cast<size_t>(e.step_index)].extent != steps)
        return Writer(body_, e).refusal("the equations of its recurrence have different numbers of steps");
    }
    if (steps > kMostSteps)
      return Writer(body_, lead)
          .refusal(fmt::format("its recurrence has {} steps, which PyTorch would run one by one", steps));
    const std::string& name = body_.step_name();
    body_.line(
        fmt::format("for {} in {}:", name,
                    lead.step_sign < 0 ? fmt::format("reversed(range({}))", steps) : fmt::format("range({})", steps)));
    body_.indent(4);
    for (const int id : members) {
      comment(program_.equation(id));
      SOLSTICE_CHECK(write_piece(program_.equation(id), name));
    }
    body_.indent(-4);
    return success();
  }

  void comment(const Equation& e) {
    std::string text = ir::to_text(program_, e);
    if (text.size() > kComment) text = text.substr(0, kComment) + " ..";
    body_.line("# " + text);
  }

  bool is_whole(const Equation& e) const {
    const ir::Tensor& t = program_.target_of(e);
    if (e.lhs.size() != t.shape.size() || e.lhs.size() != e.free.size()) return false;
    for (size_t d = 0; d < e.lhs.size(); ++d) {
      if (e.lhs[d]->op != ir::Op::kIndex || e.lhs[d]->id != e.free[d]) return false;
      if (e.indices[static_cast<size_t>(e.free[d])].extent != t.shape[d]) return false;
    }
    return true;
  }

  // Dimensions of the left side whose indices are its digits: `y[n, 8*q+d] = ..`. Empty: there is another part of it.
  std::vector<size_t> digits_of(const Equation& e) const {
    const ir::Tensor& t = program_.target_of(e);
    std::vector<size_t> out;
    std::vector<int> order;
    for (size_t d = 0; d < e.lhs.size(); ++d) {
      const auto form = ir::as_affine(e.lhs[d]);
      if (!form || form->offset != 0) return {};
      auto terms = form->terms;
      std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
      int64_t covered = 1;
      for (size_t i = terms.size(); i-- > 0;) {
        if (terms[i].second != covered) return {};
        covered *= e.indices[static_cast<size_t>(terms[i].first)].extent;
      }
      if (covered != t.shape[d] || terms.empty()) return {};
      for (const auto& [id, coefficient] : terms) order.push_back(id);
      out.push_back(terms.size());
    }
    return order == e.free ? out : std::vector<size_t>();
  }

  Status write_flattened(const Equation& e, const std::vector<size_t>& digits) {
    Writer writer(body_, e);
    SOLSTICE_TRY(const Value raw, writer.write(e.rhs));
    Value v = stored(e, writer, raw, e.free);
    std::string text = v.at(kAtom);
    size_t end = e.free.size();
    for (size_t d = digits.size(); d-- > 0;) {
      if (digits[d] > 1) text += fmt::format(".flatten({}, {})", end - digits[d], end - 1);
      end -= digits[d];
    }
    body_.line(fmt::format("{} = {}", body_.name_of(e.target), text));
    return success();
  }

  Status write(const Equation& e) {
    comment(e);
    const std::vector<size_t> digits = digits_of(e);
    if (!digits.empty() && !is_whole(e)) return write_flattened(e, digits);
    if (!is_whole(e)) {
      make_room(e);
      return write_piece(e, "");
    }
    SOLSTICE_TRY(const std::string text, value_of(e));
    body_.line(fmt::format("{} = {}", body_.name_of(e.target), text));
    return success();
  }

  void make_room(const Equation& e) {
    if (!made_.insert(e.target).second) return;
    const ir::Tensor& t = program_.target_of(e);
    // Steps that are still to come are read, and masked.
    const bool steps = std::any_of(program_.equations.begin(), program_.equations.end(),
                                   [&](const Equation& x) { return x.target == e.target && x.group >= 0; });
    body_.line(fmt::format("{} = torch.{}({}, dtype={}, device={})", body_.name_of(e.target), steps ? "zeros" : "empty",
                           tuple_text(t.shape), torch_name(body_.stored_as(e.target)), body_.device()));
  }

  // Elements of their own: results, and new values of buffers, are no views of what a caller holds.
  Value stored(const Equation& e, Writer& writer, Value v, const std::vector<int>& axes) {
    const ir::Tensor& t = program_.target_of(e);
    v = writer.of_kind(v, t.value);
    v = writer.expanded(v, axes);
    const DType wanted = body_.stored_as(e.target);
    if (v.dtype != wanted) {
      v.text = fmt::format("{}.to({})", v.at(kAtom), torch_name(wanted));
      v.dtype = wanted;
      v.level = kAtom;
      v.view = v.view && axes.empty();
    }
    const bool kept = t.kind == TensorKind::kOutput || t.into >= 0;
    if (kept && v.view) {
      v.text = fmt::format("{}.clone(memory_format=torch.contiguous_format)", v.at(kAtom));
      v.level = kAtom;
    }
    return v;
  }

 public:
  Result<std::string> value_of(const Equation& e) {
    Writer writer(body_, e);
    SOLSTICE_TRY(const Value raw, writer.write_raw(e.rhs));
    return stored(e, writer, raw, e.free).text;
  }

 private:
  Status write_piece(const Equation& e, const std::string& step_name) {
    const int step = step_name.empty() ? -1 : e.step_index;
    Writer writer(body_, e, step, step_name);
    SOLSTICE_TRY(Value v, writer.write(e.rhs));
    std::vector<int> axes;
    for (const int id : e.free) {
      if (id != step) axes.push_back(id);
    }
    std::vector<std::string> parts;
    std::vector<std::string> splits;
    SOLSTICE_TRY(const bool sliced, places(e, writer, step_name, parts, splits));
    std::string target = body_.name_of(e.target);
    v = writer.expanded(writer.of_kind(v, program_.target_of(e).value), axes);
    if (!sliced) {
      body_.line(fmt::format("{}[{}] = {}.to({})", target, fmt::join(parts, ", "), v.at(kAtom),
                             torch_name(body_.stored_as(e.target))));
      return success();
    }
    target += subscript(std::move(parts));
    for (const std::string& split : splits) target += split;
    body_.line(fmt::format("{}.copy_({})", target, v.text));
    return success();
  }

  // Subscripts of the left side. False: they are tensors of indices, for an assignment.
  Result<bool> places(const Equation& e, Writer& writer, const std::string& step_name, std::vector<std::string>& parts,
                      std::vector<std::string>& splits) {
    bool plain = true;
    std::vector<std::string> slices;
    std::vector<int> order;
    int dim = 0;
    for (size_t d = 0; d < e.lhs.size() && plain; ++d) {
      const auto form = ir::as_affine(e.lhs[d]);
      if (!form) {
        plain = false;
        break;
      }
      std::vector<std::pair<int, int64_t>> terms;
      std::string host = std::to_string(form->offset);
      for (const auto& [id, coefficient] : form->terms) {
        if (!step_name.empty() && id == e.step_index)
          host = step_text(coefficient, step_name, form->offset);
        else
          terms.emplace_back(id, coefficient);
      }
      const bool steps = terms.size() < form->terms.size();
      plain = steps
                  ? terms.empty()
                  : place_of(writer, terms, {form->offset, program_.target_of(e).shape[d]}, dim, slices, splits, order);
      if (steps || (terms.empty() && plain)) {
        slices.resize(d);
        slices.push_back(host);
      } else {
        dim += static_cast<int>(std::max<size_t>(1, terms.size()));
      }
    }
    std::vector<int> wanted;
    for (const int id : e.free) {
      if (step_name.empty() || id != e.step_index) wanted.push_back(id);
    }
    if (plain && order == wanted) {
      parts = std::move(slices);
      return true;
    }
    parts.clear();
    for (const ir::ExprRef& index : e.lhs) {
      SOLSTICE_TRY(Value v, writer.write(index));
      v = writer.of_kind(v, ir::ValueKind::kInt);
      parts.push_back(v.host ? v.text : aligned(v, wanted));
    }
    return false;
  }

  struct Extent {
    int64_t offset = 0, whole = 0;
  };

  bool place_of(Writer& writer, std::vector<std::pair<int, int64_t>> terms, Extent extent, int dim,
                std::vector<std::string>& slices, std::vector<std::string>& splits, std::vector<int>& order) {
    if (terms.empty()) return true;
    std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    int64_t covered = terms.back().second;
    std::vector<int64_t> extents;
    for (size_t i = terms.size(); i-- > 0;) {
      if (terms[i].second != covered || terms[i].second <= 0) return false;
      covered *= writer.extent(terms[i].first);
      extents.insert(extents.begin(), writer.extent(terms[i].first));
    }
    const int64_t step = terms.back().second;
    const int64_t end = extent.offset + covered - step + 1;
    const bool whole = step == 1 && extent.offset == 0 && end == extent.whole;
    slices.push_back(whole       ? ":"
                     : step == 1 ? fmt::format("{}:{}", extent.offset, end)
                                 : fmt::format("{}:{}:{}", extent.offset, end, step));
    for (const auto& [id, coefficient] : terms) order.push_back(id);
    if (terms.size() > 1) splits.push_back(fmt::format(".unflatten({}, ({}))", dim, fmt::join(extents, ", ")));
    return true;
  }

  Body& body_;
  const ir::Program& program_;
  std::set<int> made_;
};

}  // namespace

Status write_equations(Body& body) { return Statements(body).write(); }

Result<std::string> whole_value(Body& body, const ir::Equation& equation) {
  return Statements(body).value_of(equation);
}

}  // namespace solstice::pytorch
