#include "pytorch/module_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "pytorch/draws.h"
#include "pytorch/equations.h"

namespace solstice::pytorch {
namespace {

using ir::TensorKind;

bool is_state(const ir::Tensor& t) { return t.kind == TensorKind::kParam || t.kind == TensorKind::kBuffer; }

bool is_word(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> out(1);
  for (const char c : path) {
    if (c == '.')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::string member(const std::string& owner, const std::string& name) {
  return is_word(name) ? owner + "." + name : fmt::format("getattr({}, \"{}\")", owner, name);
}

class Module {
 public:
  Module(const ir::Program& program, const std::string& name)
      : program_(program), name_(name), body_(program), draws_(program) {}

  Result<std::string> text() {
    SOLSTICE_CHECK(check());
    SOLSTICE_CHECK(write_equations(body_));
    line(fmt::format("\"\"\"{}: PyTorch operators written from its equations, one for each.\"\"\"\n", name_));
    line("import torch\nimport torch.nn.functional as F\n\n\nclass Model(torch.nn.Module):");
    SOLSTICE_CHECK(constructor());
    forward();
    inputs();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  Error refusal(const std::string& what, Span span) const {
    Error error = fail(Code::not_yet, fmt::format("{} is not written as PyTorch operators", what),
                       "name the module that the program computes: --of FILE.py");
    error.offset = span.begin;
    return error;
  }

  Status check() const {
    if (!program_.opaques.empty()) {
      const ir::Opaque& first = program_.opaques[0];
      return refusal(fmt::format("the operation \"{}\", which has no equations,", first.op), first.span);
    }
    for (const ir::Tensor& t : program_.tensors) {
      if (t.kind == TensorKind::kRandom) return refusal(fmt::format("the draw of `{}`", t.name), t.span);
      if (t.is_interface() && t.same >= 0)
        return refusal(fmt::format("`{}`, in the storage of `{}`,", t.name, program_.tensor(t.same).name), t.span);
    }
    return success();
  }

  // The module that holds a path's last part, made where it is missing.
  std::string owner_of(const std::string& path, std::vector<std::string>& lines) {
    std::string owner = "self", known;
    std::vector<std::string> parts = parts_of(path);
    parts.pop_back();
    for (const std::string& part : parts) {
      known += (known.empty() ? "" : ".") + part;
      if (owners_.insert(known).second)
        lines.push_back(is_word(part) ? fmt::format("{}.{} = torch.nn.Module()", owner, part)
                                      : fmt::format("{}.add_module(\"{}\", torch.nn.Module())", owner, part));
      owner = member(owner, part);
    }
    return owner;
  }

  Result<std::string> value_of(const ir::Tensor& t, std::vector<std::string>& lines) const {
    const ir::Equation* const form = ir::closed_form_of(program_, program_.find_tensor(t.name));
    if (!form) return draws_.text_of(t);
    Body own(program_);
    SOLSTICE_TRY(std::string value, whole_value(own, *form));
    const std::vector<std::string> opening = own.opening();
    if (!opening.empty()) lines.emplace_back("device = None");
    for (size_t i = 1; i < opening.size(); ++i) lines.push_back(opening[i]);
    for (const std::string& each : own.lines()) lines.push_back(each.substr(each.find_first_not_of(' ')));
    return value;
  }

  Status constructor() {
    line("    def __init__(self):\n        super().__init__()");
    for (const ir::Tensor& t : program_.tensors) {
      if (!is_state(t)) continue;
      std::vector<std::string> lines;
      const std::string path = path_of(t), owner = owner_of(path, lines);
      SOLSTICE_TRY(const std::string value, value_of(t, lines));
      const std::string last = parts_of(path).back();
      if (t.kind == TensorKind::kBuffer) {
        lines.push_back(fmt::format("{}.register_buffer(\"{}\", {})", owner, last, value));
      } else {
        const char* const fixed = is_float(*t.dtype) ? "" : ", requires_grad=False";
        const std::string parameter = fmt::format("torch.nn.Parameter({}{})", value, fixed);
        lines.push_back(is_word(last) ? fmt::format("{}.{} = {}", owner, last, parameter)
                                      : fmt::format("{}.register_parameter(\"{}\", {})", owner, last, parameter));
      }
      for (const std::string& each : lines) line("        " + each);
    }
    line("");
    return success();
  }

  std::string names_of(TensorKind kind) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      if (program_.tensors[i].kind == kind) names.push_back(body_.name_of(static_cast<int>(i)));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void forward() {
    const std::string given = names_of(TensorKind::kInput);
    line(fmt::format("    def forward(self{}{}):", given.empty() ? "" : ", ", given));
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const ir::Tensor& t = program_.tensors[i];
      if (!is_state(t)) continue;
      std::string value = "self";
      for (const std::string& part : parts_of(path_of(t))) value = member(value, part);
      line(fmt::format("        {} = {}", body_.name_of(static_cast<int>(i)), value));
    }
    for (const std::string& each : body_.opening()) line("        " + each);
    for (const std::string& each : body_.lines()) line(each);
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const ir::Tensor& t = program_.tensors[i];
      if (t.into >= 0)
        line(fmt::format("        {}.copy_({})", body_.name_of(t.into), body_.name_of(static_cast<int>(i))));
    }
    line(fmt::format("        return {}\n\n", names_of(TensorKind::kOutput)));
  }

  void inputs() {
    std::vector<std::string> values;
    for (const ir::Tensor& t : program_.tensors) {
      if (t.kind == TensorKind::kInput) values.push_back(draws_.text_of(t));
    }
    line(fmt::format("def get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return []",
                     fmt::join(values, ", ")));
  }

  const ir::Program& program_;
  const std::string name_;
  Body body_;
  const Draws draws_;
  std::set<std::string> owners_;
  std::string out_;
};

}  // namespace

std::string path_of(const ir::Tensor& t) {
  static const std::set<std::string> kTaken = {
      "T_destination", "add_module", "apply",        "bfloat16",       "buffers",      "children",   "compile", "cpu",
      "cuda",          "double",     "dump_patches", "eval",           "float",        "forward",    "half",    "ipu",
      "modules",       "mtia",       "parameters",   "requires_grad_", "share_memory", "state_dict", "to",      "train",
      "training",      "type",       "xpu",          "zero_grad"};
  if (!t.path.empty()) return t.path;
  return kTaken.contains(t.name) ? t.name + "_" : t.name;
}

Result<std::string> module_text(const ir::Program& program, const std::string& name) {
  return Module(program, name).text();
}

}  // namespace solstice::pytorch
