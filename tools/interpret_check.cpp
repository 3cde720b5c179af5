// interpret_check: one request a line on stdin, {"text": program, "inputs": {name: {"shape", "values"}}}, one answer a
// line on stdout: {"results": the same form} or {"error": text}. Values that are not finite are the strings nan, inf
// and -inf. {"text": program, "describe": true} is answered with {"program": its tensors and kernels}. Driven by
// tests/python/test_language.py and tools/check_writing.py.
#include <cmath>
#include <iostream>
#include <set>

#include "base/json.h"
#include "ir/bind.h"
#include "ir/interpret.h"
#include "lang/parse.h"

namespace solstice {
namespace {

ir::TensorValues tensors_of(const Json& object) {
  ir::TensorValues out;
  for (const auto& [name, tensor] : object.members()) {
    ir::TensorValue& value = out[name];
    for (const Json& extent : tensor.at("shape").items()) value.shape.push_back(extent.as_int());
    for (const Json& element : tensor.at("values").items()) value.values.push_back(element.as_double());
  }
  return out;
}

Json number(double x) {
  if (std::isfinite(x)) return Json(x);
  return Json(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

Json json_of(const ir::TensorValues& tensors) {
  Json out = Json::object();
  for (const auto& [name, tensor] : tensors) {
    Json shape = Json::array(), values = Json::array();
    for (const int64_t extent : tensor.shape) shape.push(extent);
    for (const double x : tensor.values) values.push(number(x));
    out.set(name, Json::object().set("shape", shape).set("values", values));
  }
  return out;
}

constexpr std::string_view kKinds[] = {"param", "buffer", "input", "output", "tensor", "random", "local"};

Json names_of(const ir::Program& program, const std::set<int>& tensors) {
  Json out = Json::array();
  for (const int id : tensors) out.push(program.tensor(id).name);
  return out;
}

Json json_of(const ir::Program& program, const ir::Tensor& tensor) {
  Json shape = Json::array(), strides = Json::array();
  for (const int64_t extent : tensor.shape) shape.push(extent);
  for (const int64_t stride : tensor.strides) strides.push(stride);
  return Json::object()
      .set("name", tensor.name)
      .set("kind", std::string(kKinds[static_cast<int>(tensor.kind)]))
      .set("dtype", tensor.dtype ? std::string(name_of(*tensor.dtype)) : "")
      .set("shape", shape)
      .set("strides", strides)
      .set("path", tensor.path)
      .set("into", tensor.into < 0 ? "" : program.tensor(tensor.into).name);
}

Json json_of(const ir::Program& program, const ir::Kernel& kernel) {
  std::set<int> reads, writes;
  for (const int id : kernel.equations) {
    const ir::Equation& equation = program.equation(id);
    writes.insert(equation.target);
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op == ir::Op::kRead) reads.insert(e.id);
    });
  }
  Json knobs = Json::object();
  for (const auto& [name, value] : kernel.knobs.items) knobs.set(name, ir::to_text(value));
  return Json::object()
      .set("name", kernel.name)
      .set("instance", kernel.instance)
      .set("family", kernel.family)
      .set("once", kernel.once)
      .set("knobs", knobs)
      .set("reads", names_of(program, reads))
      .set("writes", names_of(program, writes));
}

Json description(const ir::Program& program, const lang::Program& tree) {
  Json tensors = Json::array(), kernels = Json::array(), calls = Json::array(), allow = Json::array();
  for (const ir::Tensor& tensor : program.tensors) tensors.push(json_of(program, tensor));
  for (const ir::Kernel& kernel : program.kernels) kernels.push(json_of(program, kernel));
  for (const std::string& name : program.allow) allow.push(name);
  for (const lang::Item& item : tree.items) {
    if (const auto* call = std::get_if<lang::Call>(&item.node)) calls.push(call->def);
  }
  int64_t loose = 0;
  for (const ir::Item& item : program.items) loose += item.equation >= 0;
  return Json::object()
      .set("name", program.name)
      .set("tensors", tensors)
      .set("kernels", kernels)
      .set("calls", calls)
      .set("allow", allow)
      .set("loose", loose);
}

// {"results": ...} or {"program": ...}
Result<Json> answer(const std::string& line) {
  SOLSTICE_TRY(const Json request, parse_json(line));
  const std::string text = request.at("text").as_string();
  Diagnostics diagnostics;
  const lang::Program tree = lang::parse(text, diagnostics);
  const auto program = ir::bind(tree, diagnostics);
  if (!program) return fail(Code::program_invalid, render_text(diagnostics, text, "program"));
  if (request.find("describe")) return Json::object().set("program", description(*program, tree));
  SOLSTICE_TRY(const ir::TensorValues results, ir::interpret(*program, tensors_of(request.at("inputs"))));
  return Json::object().set("results", json_of(results));
}

}  // namespace
}  // namespace solstice

int main() {
  using solstice::Json;
  for (std::string line; std::getline(std::cin, line);) {
    const auto found = solstice::answer(line);
    std::cout << (found.ok() ? *found : Json::object().set("error", found.error().text())).dump() << std::endl;
  }
}
