#include "pytorch/read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "pytorch/parts.h"

namespace solstice::pytorch {
namespace {

using ir::Op;
using ir::ValueKind;

Value compared(const Value& v, const char* op, int64_t bound) {
  Value out = v;
  out.text = fmt::format("{} {} {}", v.at(kCompare + 1), op, bound);
  out.level = kCompare;
  out.kind = ValueKind::kBool;
  out.dtype = DType::kBool;
  return out;
}

// c1*i1 + c2*i2 + .. with c1 = c2*n2, .., 1: the digits of a number.
bool are_digits(const std::vector<std::pair<int, int64_t>>& terms, const std::vector<int64_t>& extents) {
  for (size_t i = 0; i + 1 < terms.size(); ++i) {
    if (terms[i].second != terms[i + 1].second * extents[i + 1]) return false;
  }
  return terms.back().second == 1;
}

}  // namespace

// Indices that several dimensions read by: only a gather goes along them together.
std::vector<int> Reader::shared_axes() const {
  std::map<int, int> seen;
  const size_t rank = tensor_.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    std::vector<int> own;
    ir::walk(e_.args[d], [&](const ir::Expr& x) {
      if (x.op == Op::kIndex && !contains(own, x.id)) own.push_back(x.id);
    });
    for (const int id : own) ++seen[id];
  }
  std::vector<int> out;
  for (const auto& [id, count] : seen) {
    if (count > 1) out.push_back(id);
  }
  return out;
}

// The value of an `else` that padding can give; nothing is wanted where conditions around exclude what lies outside.
std::optional<std::string> Reader::fill() const {
  if (!e_.has_else) return w_.guards_ > 0 ? std::optional<std::string>("0") : std::nullopt;
  const ir::Expr& other = *e_.args.back();
  if (other.op == Op::kReal) return real_text(other.real);
  if (other.op == Op::kInt) return std::to_string(other.integer);
  const bool minus = other.op == Op::kNeg && other.args[0]->op == Op::kReal;
  return minus ? std::optional(real_text(-other.args[0]->real)) : std::nullopt;
}

bool Reader::pads(const Place& place, int64_t extent) const {
  return place.first >= -4 * extent - 64 && place.last <= 5 * extent + 64 && fill().has_value();
}

void Reader::choose_way(Place& place, const std::vector<int>& shared, int64_t extent) {
  auto& terms = place.form.terms;
  for (const auto& [id, coefficient] : terms) {
    const bool negative = coefficient < 0 && terms.size() > 1;
    if (w_.is_step(id) || contains(shared, id) || negative) return;
  }
  place.first = place.last = place.form.offset;
  for (const auto& [id, coefficient] : terms) {
    const int64_t reach = coefficient * (w_.extent(id) - 1);
    (reach < 0 ? place.first : place.last) += reach;
  }
  if ((place.first < 0 || place.last >= extent) && !pads(place, extent)) return;
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<int64_t> extents;
  for (const auto& [id, coefficient] : terms) extents.push_back(w_.extent(id));
  if (terms.size() == 1) place.how = How::kOne;
  if (terms.size() > 1 && are_digits(terms, extents)) place.how = How::kDigits;
  if (terms.size() == 2 && place.how == How::kTensor) {
    place.how = How::kWindow;
    if (extents[0] < extents[1]) std::swap(terms[0], terms[1]);  // the shorter one is the window
  }
}

Result<Reader::Place> Reader::place_of(size_t dim) {
  Place place;
  const ir::ExprRef& index = e_.args[dim];
  const int64_t extent = extent_of(dim);
  if (const auto form = ir::as_affine(index); form && !form->terms.empty()) {
    place.form = *form;
    choose_way(place, shared_axes(), extent);
    if (place.how != How::kTensor) return place;
  }
  SOLSTICE_TRY(place.value, w_.write(index));
  place.value = w_.of_kind(place.value, ValueKind::kInt);
  if (place.value.host) place.how = How::kHost;
  const ir::ValueRange range = w_.integers_.range(index);
  place.inside = range.bounded() && range.low >= 0 && range.high < extent;
  // What depends on data is inside unless something around says that it may not be.
  if (!place.inside && !e_.has_else && w_.guards_ == 0) place.inside = true;
  return place;
}

// Where an `else` stands, or a condition around, for what reaches outside.
void Reader::find_condition() {
  for (size_t d = 0; d < places_.size(); ++d) {
    Place& place = places_[d];
    if (place.inside || place.how == How::kOne || place.how == How::kDigits || place.how == How::kWindow) continue;
    place.value = w_.named(place.value);
    if (e_.has_else) {
      const Value low = compared(place.value, ">=", 0), high = compared(place.value, "<", extent_of(d));
      const Value both = w_.joined(low, "&", high, kBitAnd, ValueKind::kBool);
      condition_ = condition_ ? w_.joined(*condition_, "&", both, kBitAnd, ValueKind::kBool) : both;
    }
    Value& v = place.value;
    v.text = v.host ? fmt::format("min(max({}, 0), {})", v.text, extent_of(d) - 1)
                    : fmt::format("{}.clamp(0, {})", v.at(kAtom), extent_of(d) - 1);
    v.level = kAtom;
  }
}

void Reader::pad() {
  std::vector<int64_t> sides;
  bool any = false;
  for (size_t d = places_.size(); d-- > 0;) {
    Place& place = places_[d];
    const bool plain = place.how == How::kHost || place.how == How::kTensor;
    const int64_t before = plain ? 0 : std::max<int64_t>(0, -place.first);
    const int64_t after = plain ? 0 : std::max<int64_t>(0, place.last - extent_of(d) + 1);
    sides.insert(sides.end(), {before, after});
    any = any || before > 0 || after > 0;
    place.first += before;
    place.last += before;
    place.extent = extent_of(d) + before + after;
  }
  if (!any) return;
  while (sides.size() > 2 && sides[sides.size() - 1] == 0 && sides[sides.size() - 2] == 0)
    sides.resize(sides.size() - 2);
  text_ = fmt::format("F.pad({}, ({}), value={})", text_, fmt::join(sides, ", "), *fill());
}

// One subscript for all that is a range of elements.
void Reader::slice() {
  std::vector<std::string> parts;
  std::string flips;
  for (size_t d = 0; d < places_.size(); ++d) {
    const Place& place = places_[d];
    std::string part = ":";
    if (place.how != How::kHost && place.how != How::kTensor) {
      const int64_t step = place.how == How::kOne ? std::abs(place.form.terms[0].second) : 1;
      const bool whole = place.first == 0 && place.last + 1 == place.extent;
      if (!whole) part = fmt::format("{}:{}", place.first, place.last + 1);
      if (step > 1) part = fmt::format("{}:{}:{}", place.first, place.last + 1, step);
      if (place.how == How::kOne && place.form.terms[0].second < 0)
        flips += fmt::format("{}{}", flips.empty() ? "" : ", ", d);
    }
    parts.push_back(part);
  }
  text_ += subscript(std::move(parts));
  if (!flips.empty()) text_ += fmt::format(".flip({})", flips);
}

// Single elements of dimensions, which go.
void Reader::pick() {
  std::vector<std::string> parts;
  for (size_t d = 0; d < places_.size(); ++d) {
    const Place& place = places_[d];
    const bool host = place.how == How::kHost;
    parts.push_back(host ? place.value.text : ":");
    if (host) continue;
    Slot slot;
    if (place.how == How::kOne) slot.axis = place.form.terms[0].first;
    if (place.how != How::kOne) slot.place = static_cast<int>(d);
    slots_.push_back(slot);
  }
  text_ += subscript(std::move(parts));
}

void Reader::gather() {
  std::vector<int> axes;
  std::vector<size_t> at;
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].place < 0 || places_[static_cast<size_t>(slots_[s].place)].how != How::kTensor) continue;
    axes = w_.united(axes, places_[static_cast<size_t>(slots_[s].place)].value.axes);
    at.push_back(s);
  }
  if (at.empty()) return;
  std::vector<std::string> parts(at.back() + 1, ":");
  for (const size_t s : at) parts[s] = aligned(places_[static_cast<size_t>(slots_[s].place)].value, axes);
  text_ = fmt::format("{}[{}]", text_, fmt::join(parts, ", "));
  const bool together = at.back() - at.front() + 1 == at.size();
  std::vector<Slot> next;
  const auto add_axes = [&] {
    for (const int id : axes) next.push_back({id, -1});
  };
  if (!together) add_axes();
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (std::find(at.begin(), at.end(), s) == at.end()) next.push_back(slots_[s]);
    if (together && s == at.front()) add_axes();
  }
  slots_ = std::move(next);
}

void Reader::take_apart() {
  std::vector<Slot> ends;
  std::vector<Slot> next;
  std::string steps;
  for (const Slot& slot : slots_) {
    if (slot.place < 0) {
      next.push_back(slot);
      continue;
    }
    const Place& place = places_[static_cast<size_t>(slot.place)];
    const size_t d = next.size();
    if (place.how == How::kDigits) {
      std::vector<int64_t> extents;
      for (const auto& [id, coefficient] : place.form.terms) {
        extents.push_back(w_.extent(id));
        next.push_back({id, -1});
      }
      text_ += fmt::format(".unflatten({}, ({}))", d, fmt::join(extents, ", "));
      continue;
    }
    const auto& [outer, step] = place.form.terms[0];
    const auto& [inner, dilation] = place.form.terms[1];
    text_ += fmt::format(".unfold({}, {}, {})", d, dilation * (w_.extent(inner) - 1) + 1, step);
    if (dilation > 1) text_ += fmt::format("[..., ::{}]", dilation);
    next.push_back({outer, -1});
    ends.push_back({inner, -1});
  }
  next.insert(next.end(), ends.begin(), ends.end());
  slots_ = std::move(next);
}

void Reader::order() {
  std::vector<int> axes;
  for (const Slot& slot : slots_) axes.push_back(slot.axis);
  const std::vector<int> wanted = w_.united(axes, {});
  text_ += permuted(axes, wanted);
  std::vector<Slot> next;
  for (const int id : wanted) next.push_back({id, -1});
  slots_ = std::move(next);
}

Result<Value> Reader::read() {
  for (size_t d = 0; d < tensor_.shape.size(); ++d) {
    SOLSTICE_TRY(Place place, place_of(d));
    places_.push_back(std::move(place));
  }
  find_condition();
  pad();
  slice();
  pick();
  gather();
  take_apart();
  order();
  Value out;
  out.text = text_;
  out.kind = e_.kind;
  out.view = true;
  for (const Slot& slot : slots_) out.axes.push_back(slot.axis);
  out.dtype = w_.body_.stored_as(e_.id);
  if (e_.kind == ValueKind::kInt) out = w_.of_kind(out, ValueKind::kInt);
  if (!condition_) return out;
  out = w_.of_kind(out, e_.kind);
  ++w_.guards_;
  const Result<Value> other = w_.write(e_.args.back());
  --w_.guards_;
  if (!other.ok()) return other;
  return w_.where(*condition_, out, w_.of_kind(*other, e_.kind));
}

Result<Value> write_read(Writer& writer, const ir::Expr& read) { return Reader(writer, read).read(); }

}  // namespace solstice::pytorch
