#include "flow/run/outcome/dropin.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::flow {
namespace {
namespace fs = std::filesystem;

TEST(DropinSource, CopiesTheModulesThatTheFileLoaded) {
  const auto temp = TempFolder::create("dropin");
  ASSERT_TRUE(temp.ok());
  const fs::path user = temp->path() / "user";
  const fs::path out = temp->path() / "out";
  for (const char* name : {"model.py", "helpers.py", "parts/__init__.py", "parts/inner.py", "fast.cpython-311.so"}) {
    ASSERT_TRUE(write_file(user / name, name).ok());
  }
  OracleSubject subject;
  subject.class_name = "Model";
  subject.file = (user / "model.py").string();
  subject.modules = {{"helpers", (user / "helpers.py").string(), "1"},
                     {"parts", (user / "parts/__init__.py").string(), "2"},
                     {"parts.inner", (user / "parts/inner.py").string(), "3"},
                     {"fast", (user / "fast.cpython-311.so").string(), "4"}};
  ASSERT_TRUE(copy_original(subject, out).ok());
  EXPECT_EQ(*read_file(out / "original.py"), "model.py");
  const Json modules = source_of(subject).at("modules");
  ASSERT_EQ(modules.size(), 4u);
  for (size_t i = 0; i < modules.size(); ++i) {
    const auto copied = read_file(out / modules.at(i).at("file").as_string());
    ASSERT_TRUE(copied.ok());
    EXPECT_EQ(user / *copied, fs::path(subject.modules[i].file));
  }
  EXPECT_EQ(modules.at(1).at("file").as_string(), "original_modules/parts/__init__.py");
  EXPECT_EQ(modules.at(3).at("file").as_string(), "original_modules/fast.cpython-311.so");
}

TEST(DropinRecord, ListsTheBuffersThatTheProgramAssumes) {
  const auto text = read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/assumed.json");
  ASSERT_TRUE(text.ok());
  const auto graph = read_graph(*parse_json(*text));
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  const auto record = dropin_record({*graph, importer::ImportedProblem(), OracleSubject(), "sm_90a"});
  ASSERT_TRUE(record.ok()) << record.error().text();
  const Json& assumed = record->at("assumed");
  ASSERT_EQ(assumed.size(), 7u);  // positions, two masks, four blocks
  for (const Json& one : assumed.items()) {
    if (one.at("path").as_string() != "later") continue;
    EXPECT_EQ(one.dump(),
              R"({"path":"later","dtype":"f32","shape":[5,5],"form":{"kind":"triangle","axes":[0,1],"diagonal":0,)"
              R"("value":0.0,"otherwise":{"float":"-inf"},"step":0}})");
  }
}

TEST(DropinRecord, HoldsTheFlagsThatTheFileLeft) {
  Graph graph;
  graph.structure = Json::object();
  const importer::ImportedProblem imported;
  OracleSubject subject;
  subject.flags.matmul_tf32 = true;
  subject.flags.cudnn_tf32 = false;
  const auto record = dropin_record({graph, imported, subject, "sm_90a"});
  ASSERT_TRUE(record.ok()) << record.error().text();
  const Json& flags = record->at("flags");
  EXPECT_TRUE(flags.at("matmul_tf32").as_bool());
  EXPECT_FALSE(flags.at("cudnn_tf32").as_bool());
  EXPECT_FALSE(flags.at("deterministic").as_bool());
}

TEST(DropinRecord, SaysThatAStorageIsReadFromItsBeginning) {
  Graph graph;
  graph.structure = Json::object();
  const importer::ImportedProblem none;
  const OracleSubject subject;
  GraphNode& node = graph.nodes.emplace_back();
  node.op = "aten.as_strided.default";
  const auto says = [&](const Json& args) {
    node.args = args;
    const auto record = dropin_record({graph, none, subject, "sm_90a"});
    return record.ok() && record->at("by_place").as_bool();
  };
  EXPECT_TRUE(says(Json::object().set("storage_offset", 0)));
  EXPECT_FALSE(says(Json::object().set("storage_offset", Json())));  // from where the tensor begins
  EXPECT_FALSE(says(Json::object()));
  node.op = "aten.slice.Tensor";
  EXPECT_FALSE(says(Json::object().set("storage_offset", 0)));
}

TEST(DropinRecord, HasAScheduleInsteadOfAPlan) {
  Graph graph;
  graph.structure = Json::object();
  const importer::ImportedProblem none;
  const OracleSubject subject;
  DropinParts parts{graph, none, subject, "sm_90a"};
  parts.schedule = Json::object().set("steps", Json::array()).set("stages", Json::object().set("1", "stage_1"));
  parts.parts = Json::array().push(Json::object().set("what", "aten.topk.default"));
  auto record = dropin_record(parts);
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_EQ(record->find("plan"), nullptr);
  EXPECT_EQ(record->at("schedule").at("stages").at("1").as_string(), "stage_1");
  EXPECT_EQ(record->at("parts").size(), 1u);
  EXPECT_EQ(record->find("predicted"), nullptr);
  parts.predicted = true;
  record = dropin_record(parts);
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_TRUE(record->at("predicted").as_bool());
}

TEST(DropinText, SaysWhereNanIsNotPyTorchs) {
  const auto text = read_file(SOLSTICE_SOURCE_DIR "/python/solstice/templates/model_new.py.in");
  ASSERT_TRUE(text.ok());
  const Graph graph;
  const importer::ImportedProblem none;
  OracleSubject subject;
  subject.class_name = "Model";
  DropinParts parts{graph, none, subject, "sm_90a"};
  const std::string plain = module_text(*text, parts, "/home/me/out");
  EXPECT_EQ(plain.find("NaN"), std::string::npos);
  EXPECT_NE(plain.find("the folder this file lies in.\n\"\"\""), std::string::npos);
  EXPECT_NE(plain.find("Drop-in replacement for `Model`"), std::string::npos);
  parts.left_out = true;
  EXPECT_NE(module_text(*text, parts, "/home/me/out").find("0 * NaN is not computed"), std::string::npos);
}

// What the drop-in's runtime makes the original from: a name of the file, and the package that the file is part of.
TEST(DropinSource, NamesWhatMakesTheModule) {
  OracleSubject subject;
  subject.class_name = "Net";
  EXPECT_EQ(source_of(subject).at("class").as_string(), "Net");
  EXPECT_EQ(source_of(subject).at("kind").as_string(), "class");
  EXPECT_EQ(source_of(subject).find("package"), nullptr);
  subject.name = "build";
  subject.kind = "function";
  subject.package = "kit";
  subject.module = "kit.net";
  const Json source = source_of(subject);
  EXPECT_EQ(source.at("class").as_string(), "build");
  EXPECT_EQ(source.at("kind").as_string(), "function");
  EXPECT_EQ(source.at("package").as_string(), "kit");
  EXPECT_EQ(source.at("module").as_string(), "kit.net");
}

}  // namespace
}  // namespace solstice::flow
