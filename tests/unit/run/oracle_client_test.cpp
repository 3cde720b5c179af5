#include "run/oracle_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "base/file.h"
#include "base/paths.h"
#include "base/process/subprocess.h"

namespace solstice::run {
namespace {

// Answers with prepared lines; keeps what was asked.
struct Script {
  std::deque<std::string> answers;
  std::vector<Json> asked;
  bool abandoned = false;
};

class ScriptedTransport final : public OracleTransport {
 public:
  explicit ScriptedTransport(Script& script) : script_(script) {}
  Status write_line(std::string_view line, const Deadline&) override {
    SOLSTICE_TRY(Json message, parse_json(line));
    script_.asked.push_back(std::move(message));
    return success();
  }
  Result<std::string> read_line(const Deadline&) override {
    if (script_.answers.empty()) return fail(Code::deadline, "no answer in time");
    std::string line = script_.answers.front();
    script_.answers.pop_front();
    return line;
  }
  void abandon() override { script_.abandoned = true; }

 private:
  Script& script_;
};

OracleClient scripted(Script& script) { return OracleClient(std::make_unique<ScriptedTransport>(script), {}); }

TEST(OracleClient, AsksForResultsWithTF32InASetOfTheirOwn) {
  Script script;
  script.answers = {R"({"schema":"solstice.oracle/1","id":1,"event":"reply","reply":{}})"};
  OracleClient client = scripted(script);
  ASSERT_TRUE(client.run_tf32("a", "b").ok());
  EXPECT_EQ(script.asked.at(0).dump(),
            R"({"schema":"solstice.oracle/1","id":1,"request":"run_tf32","params":{"set":"a","into":"b"}})");
}

TEST(OracleClient, AsksForWhatIsUndetermined) {
  Script script;
  script.answers = {R"({"schema":"solstice.oracle/1","id":1,"event":"reply","reply":{"values":[)"
                    R"({"name":"output.0","elements":4096,"undetermined":2}]}})"};
  OracleClient client = scripted(script);
  const auto reply = client.find_undetermined("a", "b", 0.5, {{"output.0", 0.25}});
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->values.at(0).undetermined, 2);
  EXPECT_EQ(script.asked.at(0).dump(), R"({"schema":"solstice.oracle/1","id":1,"request":"find_undetermined","params":)"
                                       R"({"set":"a","into":"b","error":0.5,"limits":{"output.0":0.25}}})");
}

TEST(OracleClient, AsksForWhatDependsOnNoNan) {
  Script script;
  script.answers = {R"({"schema":"solstice.oracle/1","id":1,"event":"reply","reply":{"elements":24}})"};
  OracleClient client = scripted(script);
  const auto reply = client.find_left_out("a", "b");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->elements, 24);
  EXPECT_EQ(script.asked.at(0).dump(), R"({"schema":"solstice.oracle/1","id":1,"request":"find_left_out","params":)"
                                       R"({"set":"a","into":"b"}})");
}

TEST(OracleClient, SendsVersionedRequestsAndReadsRepliesPastProgress) {
  Script script;
  script.answers = {
      R"({"schema":"solstice.oracle/1","id":1,"event":"progress","progress":{"stage":"oracle","message":"float64"}})",
      R"({"schema":"solstice.oracle/1","id":1,"event":"reply","reply":{"parts":2,"values":[)"
      R"({"name":"output.0","shape":[2,3],"finite":true,"eager_error":1.5e-7}]}})"};
  OracleClient client = scripted(script);
  std::vector<std::string> stages;
  client.on_progress([&](const OracleProgress& progress) { stages.push_back(progress.stage); });
  auto reply = client.expected("a");
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->parts, 2);
  EXPECT_EQ(reply->values.at(0).name, "output.0");
  EXPECT_EQ(stages, std::vector<std::string>{"oracle"});
  EXPECT_EQ(script.asked.at(0).dump(),
            R"({"schema":"solstice.oracle/1","id":1,"request":"expected","params":{"set":"a"}})");
}

TEST(OracleClient, GivesTheOraclesErrorsCodesOfItsOwn) {
  Script script;
  script.answers = {
      R"({"schema":"solstice.oracle/1","id":1,"event":"error","error":{"kind":"input",)"
      R"("code":"load.missing_package","message":"no package","file":"m.py","line":3,"hint":"install it"}})"};
  OracleClient client = scripted(script);
  auto reply = client.load("m.py");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::module_import);
  EXPECT_EQ(reply.error().sentence(), "no package; install it");
  EXPECT_EQ(reply.error().file, "m.py");
  EXPECT_EQ(reply.error().line, 3);
}

TEST(OracleClient, MapsCodesBySubject) {
  const auto code = [](const char* kind, const char* name) {
    OracleFailure failure;
    failure.kind = kind;
    failure.code = name;
    return to_error(failure).code;
  };
  EXPECT_EQ(code("environment", "load.out_of_memory"), Code::too_large);
  EXPECT_EQ(code("environment", "oracle.too_large"), Code::too_large);
  EXPECT_EQ(code("environment", "timing.no_gpu"), Code::no_gpu);
  EXPECT_EQ(code("input", "trace.python_state"), Code::module_trace);
  EXPECT_EQ(code("input", "trace.branches"), Code::module_branches);
  EXPECT_EQ(code("input", "trace.forward_failed"), Code::module_forward);
  EXPECT_EQ(code("input", "oracle.forward_failed"), Code::module_forward);
  EXPECT_EQ(code("internal", "oracle.crashed"), Code::process_failed);
  EXPECT_EQ(code("input", "inputs.no_family"), Code::bad_argument);
  EXPECT_EQ(code("internal", "oracle.unexpected"), Code::internal);
}

TEST(OracleClient, RefusesAnAnswerToAnotherRequest) {
  Script script;
  script.answers = {R"({"schema":"solstice.oracle/1","id":9,"event":"reply","reply":{}})"};
  OracleClient client = scripted(script);
  auto reply = client.release_set("a");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::process_failed);
}

TEST(OracleClient, RefusesALineThatIsNoMessage) {
  Script script;
  script.answers = {"Segmentation fault", R"({"id":2,"event":"reply","reply":{}})"};
  OracleClient client = scripted(script);
  EXPECT_EQ(client.release().error().code, Code::process_failed);
  EXPECT_EQ(client.release().error().code, Code::process_failed);
}

TEST(OracleClient, KnowsThatItsProcessIsLost) {
  const auto answered = [](const std::string& kind, const std::string& code) {
    Script script;
    script.answers = {R"({"schema":"solstice.oracle/1","id":1,"event":"error","error":{"kind":")" + kind +
                      R"(","code":")" + code + R"(","message":"m"}})"};
    OracleClient client = scripted(script);
    EXPECT_TRUE(client.sound());
    EXPECT_FALSE(client.release().ok());
    return client.sound();
  };
  EXPECT_TRUE(answered("input", "session.no_set"));
  EXPECT_TRUE(answered("environment", "oracle.too_large"));
  EXPECT_FALSE(answered("internal", "oracle.crashed"));
  Script silent;
  OracleClient late = scripted(silent);
  EXPECT_FALSE(late.hello().ok());
  EXPECT_FALSE(late.sound());
}

TEST(OracleClient, GivesUpAnOracleThatMissedItsDeadline) {
  Script script;
  OracleClient client = scripted(script);
  auto reply = client.hello();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::deadline);
  EXPECT_TRUE(script.abandoned);
}

TEST(OracleClient, StopsWhileItWaits) {
  Script script;
  OracleClient client = scripted(script);
  int looks = 0;
  client.stop_when([&looks] { return ++looks > 3; });
  EXPECT_EQ(client.load("m.py").error().code, Code::interrupted);
  EXPECT_EQ(looks, 4);
  EXPECT_TRUE(script.abandoned);
}

TEST(OracleClient, KeepsItsDeadlineWhereItLooksUp) {
  Script script;
  OracleClient client(std::make_unique<ScriptedTransport>(script), {.start = milliseconds(20)});
  client.stop_when([] { return false; });
  EXPECT_EQ(client.hello().error().code, Code::deadline);
}

TEST(OracleClient, ServesOverADescriptor) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  std::thread caller([fd = ends[1]] {
    char block[4096];
    ASSERT_GT(::read(fd, block, sizeof block), 0);
    const std::string reply = "{\"schema\":\"solstice.oracle/1\",\"id\":1,\"event\":\"reply\",\"reply\":{}}\n";
    ASSERT_EQ(::write(fd, reply.data(), reply.size()), static_cast<ssize_t>(reply.size()));
    ::close(fd);
  });
  OracleClient client(descriptor_transport(ends[0]), {});
  EXPECT_TRUE(client.release_set("a").ok());
  caller.join();
  EXPECT_EQ(client.release_set("a").error().code, Code::process_failed);
}

const char* kModel = R"(import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.Linear(width, 8)
    def forward(self, x):
        print("noise on stdout")
        return torch.relu(self.up(x))
def get_inputs(): return [torch.rand(3, 4)]
def get_init_inputs(): return [4]
)";

// With the real worker, one for all tests; a machine without PyTorch skips them aloud.
class Worker : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto python = python_path();
    if (!python.ok()) {
      missing_ = python.error().text();
      return;
    }
    auto torch = run_command({.argv = {python->string(), "-c", "import torch"}}, Seconds(120));
    if (!torch.ok() || !torch->exit.ok()) {
      missing_ = python->string() + " has no PyTorch; set SOLSTICE_PYTHON to one that has";
      return;
    }
    auto client = OracleClient::start({.device = "cpu"});
    ASSERT_TRUE(client.ok()) << client.error().text();
    client_ = std::make_unique<OracleClient>(std::move(client).value());
  }
  static void TearDownTestSuite() { client_.reset(); }

  void SetUp() override {
    if (!missing_.empty()) GTEST_SKIP() << missing_;
    auto folder = TempFolder::create("oracle_client");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
  }

  std::string write(const char* name, const char* text) {
    const auto path = folder_->path() / name;
    EXPECT_TRUE(write_file(path, text).ok());
    return path.string();
  }

  static inline std::string missing_;
  static inline std::unique_ptr<OracleClient> client_;
  std::optional<TempFolder> folder_;
};

TEST_F(Worker, TracesAndComputesExpectedValues) {
  auto hello = client_->hello();
  ASSERT_TRUE(hello.ok()) << hello.error().text();
  EXPECT_EQ(hello->device.kind, "cpu");
  auto subject = client_->load(write("model.py", kModel));
  ASSERT_TRUE(subject.ok()) << subject.error().text();
  EXPECT_EQ(subject->state_tensors, 2);
  EXPECT_FALSE(subject->flags.matmul_tf32);
  auto graph = client_->trace();
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[0].op, "aten.linear.default");
  EXPECT_EQ(graph->nodes[1].src->line, 8);

  auto inputs = client_->prepare_inputs("a", {.seed = 7, .family = "normal", .weights = "perturbed"});
  ASSERT_TRUE(inputs.ok()) << inputs.error().text();
  EXPECT_EQ(inputs->inputs.at(0).shape, (std::vector<int64_t>{3, 4}));
  auto expected = client_->expected("a");
  ASSERT_TRUE(expected.ok()) << expected.error().text();
  EXPECT_LT(expected->values.at(0).eager_error.value(), 1e-6);
  EXPECT_TRUE(expected->notes.empty());
  const std::string file = (folder_->path() / "tensors").string();
  auto tensors = client_->export_file("a", {"input", "parameter", "expected"}, file);
  ASSERT_TRUE(tensors.ok()) << tensors.error().text();
  EXPECT_EQ(tensors->tensors.size(), 4u);
  EXPECT_EQ(read_file(file)->substr(0, 8), "SOLTENS1");
  EXPECT_TRUE(client_->release().ok());
  EXPECT_EQ(client_->expected("a").error().code, Code::bad_argument);
}

TEST_F(Worker, SaysWhichFlagsTheFileLeaves) {
  const std::string setting = std::string("import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n") + kModel;
  for (int loads = 0; loads < 2; ++loads) {  // the second time its graph is in the cache
    const auto subject = client_->load(write("model.py", setting.c_str()));
    ASSERT_TRUE(subject.ok()) << subject.error().text();
    EXPECT_TRUE(subject->flags.matmul_tf32);
    const auto traced = client_->trace_cached((folder_->path() / "cache").string());
    ASSERT_TRUE(traced.ok()) << traced.error().text();
    EXPECT_EQ(traced->cached, loads == 1);
  }
  const auto other = client_->load(write("other.py", kModel));
  ASSERT_TRUE(other.ok()) << other.error().text();
  EXPECT_FALSE(other->flags.matmul_tf32);
}

TEST_F(Worker, SaysWhereTheUsersFileIsWrong) {
  auto loaded = client_->load(write("bad.py", "import torch\nimport no_such_package_here\n"));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, Code::module_import);
  EXPECT_NE(loaded.error().message.find("no_such_package_here"), std::string::npos);
  EXPECT_EQ(loaded.error().line, 2);
}

TEST_F(Worker, SurvivesAModuleThatEndsItsProcess) {
  auto crashed = client_->load(write("crash.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"));
  ASSERT_FALSE(crashed.ok());
  EXPECT_EQ(crashed.error().code, Code::module_import);
  auto subject = client_->load(write("model.py", kModel));
  EXPECT_TRUE(subject.ok()) << subject.error().text();
}

}  // namespace
}  // namespace solstice::run
