// One step of an LSTM, a GRU or a plain RNN, as nn.LSTMCell and its like call it.
#include "import/rules.h"

namespace solstice::importer {
namespace {

struct CellStep {
  Value x, h;  // [B, I], [B, U]
  std::optional<Value> c;
  Value w_ih, w_hh;  // [gates*U, I], [gates*U, U]
  std::optional<Value> b_ih, b_hh;
  Axis b, u, q;
  Axis wide;  // q and u as one axis of the weights

  Axes state() const { return {b, u}; }
};

Result<CellStep> read_cell(Call& call, int64_t gates, bool has_c) {
  CellStep out;
  SOLSTICE_TRY(out.x, call.tensor("input"));
  if (has_c) {
    SOLSTICE_TRY(const Operands states, call.tensors("hx"));
    out.h = states.at(0);
    out.c = states.at(1);
  } else {
    SOLSTICE_TRY(out.h, call.tensor("hx"));
  }
  SOLSTICE_TRY(out.w_ih, call.tensor("w_ih"));
  SOLSTICE_TRY(out.w_hh, call.tensor("w_hh"));
  SOLSTICE_TRY(out.b_ih, call.maybe_tensor("b_ih"));
  SOLSTICE_TRY(out.b_hh, call.maybe_tensor("b_hh"));
  if (out.x.rank() != 2 || out.h.rank() != 2) return call.unsupported("a step without a batch axis");
  Loops& loops = call.loops();
  Substitution old;
  const Axes parts = loops.reshape({out.w_ih.axis(0)}, {gates, out.w_ih.extent(0) / gates}, old);
  if (!parts[0].digits.empty()) call.dims().set_literal(parts[0].digits[0].dim);
  loops.align({&out.w_hh.axis(0), &out.w_ih.axis(0)});
  for (const auto& bias : {out.b_ih, out.b_hh}) {
    if (bias) loops.align({&bias->axis(0), &out.w_ih.axis(0)});
  }
  hint(call, parts[1], "U");
  hint(call, out.x.axis(0), "B");
  hint(call, out.x.axis(1), "I");
  out.q = loops.align(parts[0]);
  out.u = loops.align({&parts[1], &out.h.axis(1), &out.w_hh.axis(1)});
  if (out.c) loops.align({&out.u, &out.c->axis(1)});
  out.b = loops.align({&out.x.axis(0), &out.h.axis(0)});
  if (out.c) loops.align({&out.b, &out.c->axis(0)});
  for (Loop& loop : out.q.digits) loop.hint = "q";
  for (Loop& loop : out.u.digits) loop.hint = "j";
  out.wide = out.q;
  out.wide.digits.insert(out.wide.digits.end(), out.u.digits.begin(), out.u.digits.end());
  return out;
}

// sum[i](value[b,i] * weight[row,i]) + bias[row]
TermRef product(Call& call, const CellStep& cell, const Value& value, const Value& weight,
                const std::optional<Value>& bias) {
  Loops& loops = call.loops();
  const Axis k = loops.align({&value.axis(1), &weight.axis(1)});
  const Index row = loops.flat(cell.wide), at = loops.flat(k);
  TermRef sum =
      reduce("sum", k.digits, read_at(value, {loops.flat(cell.b), at}, loops) * read_at(weight, {row, at}, loops));
  return bias ? sum + read_at(*bias, {row}, loops) : sum;
}

Value gates_of(Call& call, const CellStep& cell, const char* wish, TermRef sum) {
  return call.draft().define(wish, {cell.b, cell.q, cell.u}, std::move(sum), cell.x.dtype);
}

TermRef step_gate(Call& call, const CellStep& cell, const Value& z, int64_t i) {
  return read_at(z, {call.loops().flat(cell.b), Index(i), call.loops().flat(cell.u)}, call.loops());
}

TermRef state(Call& call, const CellStep& cell, const Value& value) {
  return read_at(value, {call.loops().flat(cell.b), call.loops().flat(cell.u)}, call.loops());
}

// Gates i, f, g, o: c' = f*c + i*g, h' = o*tanh(c').
Status lstm_step(Call& call) {
  SOLSTICE_TRY(const CellStep cell, read_cell(call, 4, true));
  const TermRef sum =
      product(call, cell, cell.x, cell.w_ih, cell.b_ih) + product(call, cell, cell.h, cell.w_hh, cell.b_hh);
  const Value z = gates_of(call, cell, "zs", sum);
  const auto sigmoid = [&](int64_t i) { return apply("sigmoid", {step_gate(call, cell, z, i)}); };
  const TermRef next =
      sigmoid(1) * state(call, cell, *cell.c) + sigmoid(0) * apply("tanh", {step_gate(call, cell, z, 2)});
  const Value c = call.draft().define("cs", cell.state(), next, cell.x.dtype);
  const Value h =
      call.draft().define("hs", cell.state(), sigmoid(3) * apply("tanh", {state(call, cell, c)}), cell.x.dtype);
  SOLSTICE_CHECK(call.yield(0, h));
  return call.yield(1, c);
}

// Gates r, z, n with n = tanh(a_n + r * (w_hn h + b_hn)), h' = (1-z)*n + z*h.
Status gru_step(Call& call) {
  SOLSTICE_TRY(const CellStep cell, read_cell(call, 3, false));
  const Value a = gates_of(call, cell, "gx", product(call, cell, cell.x, cell.w_ih, cell.b_ih));
  const Value g = gates_of(call, cell, "gh", product(call, cell, cell.h, cell.w_hh, cell.b_hh));
  const auto sigmoid = [&](int64_t i) {
    return apply("sigmoid", {step_gate(call, cell, a, i) + step_gate(call, cell, g, i)});
  };
  const TermRef fresh = apply("tanh", {step_gate(call, cell, a, 2) + sigmoid(0) * step_gate(call, cell, g, 2)});
  const Value n = call.draft().define("nw", cell.state(), fresh, cell.x.dtype);
  const Value z = call.draft().define("zs", cell.state(), sigmoid(1), cell.x.dtype);
  const TermRef kept = state(call, cell, z);
  const TermRef next = (integer(1) - kept) * state(call, cell, n) + kept * state(call, cell, cell.h);
  return call.yield(call.draft().define("hs", cell.state(), next, cell.x.dtype));
}

template <const char* Activation>
Status rnn_step(Call& call) {
  SOLSTICE_TRY(const CellStep cell, read_cell(call, 1, false));
  const TermRef sum =
      product(call, cell, cell.x, cell.w_ih, cell.b_ih) + product(call, cell, cell.h, cell.w_hh, cell.b_hh);
  return call.yield(call.draft().define("hs", cell.state(), apply(Activation, {sum}), cell.x.dtype));
}
constexpr char kStepTanh[] = "tanh", kStepRelu[] = "relu";

}  // namespace

const RuleGroup kCellRules = {
    "cell",
    {
        {"aten.lstm_cell.default", lstm_step},
        {"aten.gru_cell.default", gru_step},
        {"aten.rnn_tanh_cell.default", rnn_step<kStepTanh>},
        {"aten.rnn_relu_cell.default", rnn_step<kStepRelu>},
    },
};

}  // namespace solstice::importer
