// LSTM, GRU and plain RNN over whole sequences: one recurrence a layer and direction.
// Parameters are flat, layer by layer, forward before backward: w_ih, w_hh and, with biases, b_ih, b_hh.
#include "import/rules.h"

namespace solstice::importer {
namespace {

struct Recurrence {
  Value x;          // [T, B, I]
  Operands states;  // h0, and c0 of an LSTM: [layers*directions, B, U]
  Operands params;
  bool biased = true, two_way = false, batch_first = false, projected = false;
  int64_t layers = 1;
  int64_t directions() const { return two_way ? 2 : 1; }
  size_t per_cell() const { return (biased ? 4u : 2u) + (projected ? 1u : 0u); }
};

void swap_batch(Value& x) { std::swap(x.axes[0], x.axes[1]); }

Result<Recurrence> read_recurrence(Call& call, size_t states) {
  Recurrence out;
  SOLSTICE_TRY(out.x, call.tensor("input"));
  SOLSTICE_TRY(out.params, call.tensors("params"));
  SOLSTICE_TRY(out.biased, call.flag("has_biases"));
  SOLSTICE_TRY(out.two_way, call.flag("bidirectional"));
  SOLSTICE_TRY(out.batch_first, call.flag("batch_first"));
  SOLSTICE_TRY(out.layers, call.count("num_layers"));
  SOLSTICE_TRY(const double dropout, call.number("dropout"));
  SOLSTICE_TRY(const bool train, call.flag("train"));
  if (dropout != 0 && train && out.layers > 1) return call.unsupported("dropout between layers");
  if (call.argument("hx").is_array()) {
    SOLSTICE_TRY(out.states, call.tensors("hx"));
  } else {
    SOLSTICE_TRY(Value h0, call.tensor("hx"));
    out.states.push_back(std::move(h0));
  }
  if (out.states.size() != states) return call.unsupported("an unknown list of states");
  const size_t cells = static_cast<size_t>(out.layers * out.directions());
  out.projected = out.params.size() == cells * (out.per_cell() + 1);
  if (out.params.size() != cells * out.per_cell() || (out.projected && states != 2))
    return call.unsupported("an unknown list of parameters");
  if (out.x.rank() != 3) return call.unsupported("a sequence without a batch axis");
  if (out.batch_first) swap_batch(out.x);
  for (const Value& state : out.states) {
    if (state.rank() != 3) return call.unsupported("a state without a batch axis");
    for (int i = 0; i < (out.projected ? 2 : 3); ++i) call.loops().align({&state.axis(i), &out.states[0].axis(i)});
  }
  if (out.x.axis(0).digits.size() > 1) out.x = call.draft().stored(out.x, "seq");  // a recurrence runs along one index
  hint(call, out.states[0].axis(0), "L");
  hint(call, out.x.axis(0), "T");
  hint(call, out.x.axis(1), "B");
  hint(call, out.x.axis(2), "I");
  return out;
}

// One layer in one direction; the axes of everything it computes.
struct Cell {
  Axis t, b, u, q;  // steps, batch, units, gates
  Axis p;           // the hidden state's features: u, or what it is projected to
  Axis wide;        // q and u as one axis of the weights
  bool backward = false;
  int64_t state = 0;  // row of the initial states
  Operands params;

  Axes axes() const { return {t, b, u}; }
  Axes hidden_axes() const { return {t, b, p}; }
};

// The axis [gates*units] of the weights as [gates, units].
Cell make_cell(Call& call, const Recurrence& r, const Value& x, int64_t index, int64_t gates, int64_t direction) {
  Cell out;
  out.backward = direction == 1;
  out.state = index * r.directions() + direction;
  const auto first = r.params.begin() + out.state * static_cast<int64_t>(r.per_cell());
  out.params.assign(first, first + static_cast<int64_t>(r.per_cell()));
  const Value& h0 = r.states[0];
  Substitution old;
  const Axes parts = call.loops().reshape({out.params[0].axis(0)}, {gates, out.params[0].extent(0) / gates}, old);
  if (!parts[0].digits.empty()) call.dims().set_literal(parts[0].digits[0].dim);
  const size_t of_gates = out.params.size() - (r.projected ? 1 : 0);
  for (size_t i = 1; i < of_gates; ++i) call.loops().align({&out.params[i].axis(0), &out.params[0].axis(0)});
  hint(call, parts[1], "U");
  out.q = call.loops().align(parts[0]);
  if (r.projected) {
    out.u = call.loops().align({&parts[1], &r.states[1].axis(2), &out.params.back().axis(1)});
    out.p = call.loops().align({&h0.axis(2), &out.params[1].axis(1), &out.params.back().axis(0)});
  } else {
    out.u = call.loops().align({&parts[1], &h0.axis(2), &out.params[1].axis(1)});
  }
  out.t = call.loops().align(x.axis(0));
  out.b = call.loops().align({&x.axis(1), &h0.axis(1)});
  for (Loop& loop : out.q.digits) loop.hint = "q";
  for (Loop& loop : out.u.digits) loop.hint = "j";
  if (!r.projected) out.p = out.u;
  out.wide = out.q;
  out.wide.digits.insert(out.wide.digits.end(), out.u.digits.begin(), out.u.digits.end());
  return out;
}

TermRef parameter(Call& call, const Cell& cell, size_t i, const Index& row) {
  return read_at(cell.params[i], {row}, call.loops());
}

// a[t,b,q,j] = sum[i](x[t,b,i] * w_ih[U*q+j,i]) + b_ih[U*q+j] (+ b_hh, which a GRU keeps inside its gate)
Value input_part(Call& call, const Recurrence& r, const Cell& cell, const Value& x, bool add_hidden_bias) {
  const Axis i = call.loops().align({&x.axis(2), &cell.params[0].axis(1)});
  const Index row = call.loops().flat(cell.wide);
  const Indices at{call.loops().flat(cell.t), call.loops().flat(cell.b), call.loops().flat(i)};
  TermRef sum =
      reduce("sum", i.digits,
             read_at(x, at, call.loops()) * read_at(cell.params[0], {row, call.loops().flat(i)}, call.loops()));
  if (r.biased) sum = sum + parameter(call, cell, 2, row);
  if (r.biased && add_hidden_bias) sum = sum + parameter(call, cell, 3, row);
  return call.draft().define("gx", {cell.t, cell.b, cell.q, cell.u}, sum, x.dtype);
}

// A local that the recurrence will write; its own earlier step is read with the initial state beyond the end.
int state_tensor(Call& call, const Axes& axes, const char* wish, DType dtype) {
  DraftTensor tensor;
  tensor.wish = wish;
  tensor.dtype = dtype;
  for (const Axis& axis : axes) {
    for (const Loop& loop : axis.digits) tensor.shape.push_back(call.dims().size(loop.dim));
  }
  return call.draft().add(std::move(tensor));
}

Indices bare(const Axes& axes) {
  Indices out;
  for (const Axis& axis : axes) {
    for (const Loop& loop : axis.digits) out.push_back(index_of(loop));
  }
  return out;
}

// The state one step earlier; the initial one at the first step, which is the only one of a sequence of one element.
TermRef previous(Call& call, const Cell& cell, int tensor, const Value& initial, const Axis& unit) {
  const Indices start{Index(cell.state), call.loops().flat(cell.b), call.loops().flat(unit)};
  const TermRef first = read_at(initial, start, call.loops());
  if (cell.t.digits.empty()) return first;
  Indices at = bare({cell.t, cell.b, unit});
  at[0] = at[0] + Index(cell.backward ? 1 : -1);
  return read(tensor, at, first);
}

// sum[k](h[t-1,b,k else h0[b,k]] * w_hh[row,k])
TermRef hidden_part(Call& call, const Recurrence& r, const Cell& cell, int h, const Index& row) {
  Axis k = call.loops().align(cell.p);
  for (Loop& loop : k.digits) loop.hint = "k";
  return reduce(
      "sum", k.digits,
      previous(call, cell, h, r.states[0], k) * read_at(cell.params[1], {row, call.loops().flat(k)}, call.loops()));
}

TermRef gate(Call& call, const Cell& cell, const Value& z, int64_t i) {
  const Indices at{call.loops().flat(cell.t), call.loops().flat(cell.b), Index(i), call.loops().flat(cell.u)};
  return read_at(z, at, call.loops());
}

struct CellResult {
  Value h;                 // [T, B, P]
  std::optional<Value> c;  // of an LSTM
};

// sum[j](w_hr[p,j] * full[t,b,j])
TermRef projection(Call& call, const Cell& cell, const TermRef& full, DType dtype) {
  const Value all = call.draft().define("ho", cell.axes(), full, dtype);
  const Axis j = call.loops().align(cell.u);
  const TermRef weight = read_at(cell.params.back(), {call.loops().flat(cell.p), call.loops().flat(j)}, call.loops());
  const Indices at{call.loops().flat(cell.t), call.loops().flat(cell.b), call.loops().flat(j)};
  return reduce("sum", j.digits, weight * read_at(all, at, call.loops()));
}

// Gates i, f, g, o: c' = f*c + i*g, h = o*tanh(c'), projected if the module does.
CellResult lstm_cell(Call& call, const Recurrence& r, const Cell& cell, const Value& x) {
  const Value a = input_part(call, r, cell, x, true);
  const int h = state_tensor(call, cell.hidden_axes(), "hs", x.dtype);
  const int c = state_tensor(call, cell.axes(), "cs", x.dtype);
  const Index row = call.loops().flat(cell.wide);
  const Value z =
      call.draft().define("zs", {cell.t, cell.b, cell.q, cell.u}, a.term + hidden_part(call, r, cell, h, row), x.dtype);
  const auto sigmoid = [&](int64_t i) { return apply("sigmoid", {gate(call, cell, z, i)}); };
  const Indices at = bare(cell.axes()), hidden_at = bare(cell.hidden_axes());
  call.draft().write(
      c, at,
      sigmoid(1) * previous(call, cell, c, r.states[1], cell.u) + sigmoid(0) * apply("tanh", {gate(call, cell, z, 2)}));
  TermRef next = sigmoid(3) * apply("tanh", {read(c, at)});
  if (r.projected) next = projection(call, cell, next, x.dtype);
  call.draft().write(h, hidden_at, next);
  return {{cell.hidden_axes(), read(h, hidden_at), x.dtype}, Value{cell.axes(), read(c, at), x.dtype}};
}

// Gates r, z, n with n = tanh(a_n + r * (w_hn h + b_hn)), h' = (1-z)*n + z*h.
CellResult gru_cell(Call& call, const Recurrence& r, const Cell& cell, const Value& x) {
  const Value a = input_part(call, r, cell, x, false);
  const int h = state_tensor(call, cell.axes(), "hs", x.dtype);
  const Index row = call.loops().flat(cell.wide);
  TermRef hidden = hidden_part(call, r, cell, h, row);
  if (r.biased) hidden = hidden + parameter(call, cell, 3, row);
  const Value g = call.draft().define("gh", {cell.t, cell.b, cell.q, cell.u}, hidden, x.dtype);
  const auto sigmoid = [&](int64_t i) { return apply("sigmoid", {gate(call, cell, a, i) + gate(call, cell, g, i)}); };
  const TermRef fresh = apply("tanh", {gate(call, cell, a, 2) + sigmoid(0) * gate(call, cell, g, 2)});
  const Value n = call.draft().define("nw", cell.axes(), fresh, x.dtype);
  const Value z = call.draft().define("zs", cell.axes(), sigmoid(1), x.dtype);
  const Indices at = bare(cell.axes());
  call.draft().write(h, at, (integer(1) - z.term) * n.term + z.term * previous(call, cell, h, r.states[0], cell.u));
  return {{cell.axes(), read(h, at), x.dtype}, std::nullopt};
}

template <const char* Activation>
CellResult rnn_cell(Call& call, const Recurrence& r, const Cell& cell, const Value& x) {
  const Value a = input_part(call, r, cell, x, true);
  const int h = state_tensor(call, cell.axes(), "hs", x.dtype);
  const TermRef hidden = hidden_part(call, r, cell, h, call.loops().flat(cell.u));
  const Indices at = bare(cell.axes());
  call.draft().write(h, at, apply(Activation, {a.term + hidden}));
  return {{cell.axes(), read(h, at), x.dtype}, std::nullopt};
}
constexpr char kTanh[] = "tanh", kRelu[] = "relu";

using CellFunction = CellResult (*)(Call&, const Recurrence&, const Cell&, const Value&);

// [T, B, U] of both directions next to each other.
Value side_by_side(Call& call, const Value& forward, const Value& backward) {
  Loops& loops = call.loops();
  const Axes axes{loops.align({&forward.axis(0), &backward.axis(0)}),
                  loops.align({&forward.axis(1), &backward.axis(1)}),
                  loops.align({&forward.axis(2), &backward.axis(2)})};
  const Size units = loops.size(axes[2]);
  const DimId wide = call.dims().fresh(2 * units.value());
  call.dims().derive(wide, {units * Size(2), 1, 0});
  const Axes whole{axes[0], axes[1], loops.axis_of(wide)};
  const int tensor = call.draft().declare("hh", whole, forward.dtype);
  const Indices at = flat_all(axes, loops);
  Indices shifted = at;
  shifted[2] = at[2] + Index(units);
  call.draft().write(tensor, at, read_at(forward, at, loops));
  call.draft().write(tensor, shifted, read_at(backward, at, loops));
  return call.draft().whole(tensor, whole);
}

// The last state of every cell: [cells, B, U].
Status yield_last(Call& call, size_t result, const Operands& cells, const Recurrence& r, const char* wish) {
  if (!call.out_used(result)) return success();
  Loops& loops = call.loops();
  const Axes axes{loops.align(r.states[0].axis(0)), loops.align(cells[0].axis(1)), loops.align(cells[0].axis(2))};
  const int tensor = call.draft().declare(wish, axes, cells[0].dtype);
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool backward = r.two_way && i % 2 == 1;
    const Index last = backward ? Index(0) : Index(loops.size(cells[i].axis(0)) - Size(1));
    const Indices at{last, loops.flat(axes[1]), loops.flat(axes[2])};
    call.draft().write(tensor, {Index(static_cast<int64_t>(i)), at[1], at[2]}, read_at(cells[i], at, loops));
  }
  return call.yield(result, call.draft().whole(tensor, axes));
}

Status recurrence(Call& call, int64_t gates, size_t states, CellFunction function) {
  SOLSTICE_TRY(const Recurrence r, read_recurrence(call, states));
  Value x = r.x;
  Operands hidden, cells;
  for (int64_t layer = 0; layer < r.layers; ++layer) {
    Operands outputs;
    for (int64_t direction = 0; direction < r.directions(); ++direction) {
      CellResult cell = function(call, r, make_cell(call, r, x, layer, gates, direction), x);
      outputs.push_back(cell.h);
      hidden.push_back(cell.h);
      if (cell.c) cells.push_back(*cell.c);
    }
    x = r.two_way ? side_by_side(call, outputs[0], outputs[1]) : outputs[0];
  }
  if (r.batch_first) swap_batch(x);
  SOLSTICE_CHECK(call.yield(0, x));
  SOLSTICE_CHECK(yield_last(call, 1, hidden, r, "hn"));
  return cells.empty() ? success() : yield_last(call, 2, cells, r, "cn");
}

Status lstm(Call& call) { return recurrence(call, 4, 2, lstm_cell); }
Status gru(Call& call) { return recurrence(call, 3, 1, gru_cell); }
Status rnn_tanh(Call& call) { return recurrence(call, 1, 1, rnn_cell<kTanh>); }
Status rnn_relu(Call& call) { return recurrence(call, 1, 1, rnn_cell<kRelu>); }

}  // namespace

const RuleGroup kRecurrentRules = {
    "recurrent",
    {
        {"aten.lstm.input", lstm},
        {"aten.gru.input", gru},
        {"aten.rnn_tanh.input", rnn_tanh},
        {"aten.rnn_relu.input", rnn_relu},
    },
};

}  // namespace solstice::importer
