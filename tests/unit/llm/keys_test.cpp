// No key appears anywhere: not in errors, logs, transcripts or addresses.
#include <fmt/format.h>

#include "llm/client.h"
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

// Half a key is found by nobody any more.
TEST_F(ClientTest, AKeyIsTakenOutBeforeATextIsCut) {
  const std::string echo = std::string(290, '.') + kKey + std::string(100, '.');
  const std::vector<std::function<void(const Serving&)>> servers = {
      [&](const Serving& s) { s.answer(404, echo); }, [&](const Serving& s) { s.answer(200, echo); },
      [&](const Serving& s) {
        s.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (const size_t at : {0, 100, 200, 295, 302}) {
          s.chunk(echo.substr(at, at == 0     ? 100
                                  : at == 100 ? 100
                                  : at == 200 ? 95
                                  : at == 295 ? 7
                                              : std::string::npos));
          s.wait(milliseconds(30));
        }
        s.send("0\r\n\r\n");
      }};
  for (const auto& serve : servers) {
    FaultyServer server(serve);
    const Result<Reply> reply = (*client_of(server))->ask(question());
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().text().find("sk-test"), std::string::npos) << reply.error().text();
    EXPECT_NE(reply.error().text().find("..[key]"), std::string::npos) << reply.error().text();
  }
}

TEST_F(ClientTest, AUrlHoldsNothingThatWouldNotBeSent) {
  for (const char* url :
       {"http://me:secret@127.0.0.1/v1", "http://127.0.0.1/v1?key=secret", "http://127.0.0.1/v1#secret"}) {
    const auto client = Client::open("openai", {{"base_url", url}, {"key_env", ""}}, model_of("openai"), quick());
    ASSERT_FALSE(client.ok()) << url;
    EXPECT_EQ(client.error().code, Code::bad_argument);
    EXPECT_NE(client.error().text().find("base_url"), std::string::npos);
    EXPECT_EQ(client.error().text().find("secret"), std::string::npos) << client.error().text();
  }
}

// What stands for a character in JSON; parsing would make the key of it again.
TEST_F(ClientTest, AKeyIsFoundHoweverJsonSpellsIt) {
  const std::string key = "sk/test-0123456789abcdef";
  const Variable variable("SOLSTICE_TEST_KEY", key);
  std::string hex;
  for (const char c : key) hex += fmt::format("\\u{:04x}", static_cast<int>(c));
  const std::vector<std::string> spellings = {key, R"(sk\/test-0123456789abcdef)", R"(sk/test\u002D0123456789abcdef)",
                                              R"(\u0073k\/test-0123456789abcde\u0066)", hex};
  Request request = question();
  request.schema = *parse_json(R"({"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]})");
  for (const std::string& spelled : spellings) {
    FaultyServer server(saying({R"({"n": "say )" + spelled + R"( aloud", ")" + spelled + R"(": 1})"}));
    const std::filesystem::path file = folder() / "t.jsonl";
    std::filesystem::remove(file);
    auto transcript = Transcript::open(file);
    ClientOptions options = quick();
    options.transcript = transcript->get();
    const Result<Reply> reply = (*client_of(server, options))->ask(request);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->json.at("n").as_string(), "say [key] aloud") << spelled;
    EXPECT_TRUE(reply->json.find("[key]")) << reply->json.dump();
    EXPECT_EQ(parse_json(reply->text)->at("n").as_string(), "say [key] aloud") << reply->text;
    const auto lines = load_transcript(file);
    EXPECT_EQ(parse_json(lines->at(0).answer->text)->at("n").as_string(), "say [key] aloud") << spelled;
  }
}

TEST(Secrets, AreFoundInJsonWithinJson) {
  Scrubber scrubber;
  scrubber.add(*Secret::create(R"(a"b\c/d-0123)", "test"));
  std::string text = R"(a"b\c/d-0123)";
  for (int depth = 0; depth < 4; ++depth) {
    EXPECT_EQ(scrubber.scrub("<" + text + ">"), "<[key]>") << text;
    const std::string quoted = Json(text).dump();
    text = quoted.substr(1, quoted.size() - 2);
  }
  EXPECT_EQ(scrubber.scrub(R"(<a\u0022b\u005Cc\u002fd-0123>)"), "<[key]>");
  for (const char* other : {R"(a"b\c/d-012)", R"(au0022b\c/d-0123)", "\\", ""}) EXPECT_EQ(scrubber.scrub(other), other);
  EXPECT_EQ(scrubber.scrub(R"(a"b\c/d-0123a"b\c/d-0123)"), "[key][key]");
}

// The key itself, in place of the name of its variable.
TEST_F(ClientTest, AKeyGivenAsItsVariablesNameIsNotShown) {
  for (const char* given : {"sk-live-0123456789abcdef", "key 1", "1KEY", "sk_live_0123456789abcdef",
                            "0123456789abcdef0123", "A1B2C3D4E5F6A7B8C9D0"}) {
    const auto client = Client::open("openai", {{"key_env", given}}, model_of("openai"), quick());
    ASSERT_FALSE(client.ok()) << given;
    EXPECT_EQ(client.error().text().find(given), std::string::npos) << client.error().text();
    EXPECT_NE(client.error().text().find("key_env"), std::string::npos) << client.error().text();
  }
}

TEST_F(ClientTest, NoKeyGoesUnencryptedToAnotherHost) {
  const auto open = [](std::map<std::string, std::string> options) {
    options.emplace("key_env", "SOLSTICE_TEST_KEY");
    const auto client = Client::open("openai", std::move(options), model_of("openai"), quick());
    return client.ok() ? std::string() : client.error().text();
  };
  const std::string refused = open({{"base_url", "http://gateway.example.com/v1"}});
  EXPECT_NE(refused.find("`http://gateway.example.com:80`"), std::string::npos) << refused;
  EXPECT_NE(refused.find("insecure=true"), std::string::npos) << refused;
  EXPECT_EQ(refused.find(kKey), std::string::npos) << refused;
  EXPECT_EQ(open({{"base_url", "http://gateway.example.com/v1"}, {"insecure", "true"}}), "");
  EXPECT_EQ(open({{"base_url", "http://gateway.example.com/v1"}, {"key_env", ""}}), "");
  EXPECT_EQ(open({{"base_url", "https://gateway.example.com/v1"}}), "");
  for (const char* here : {"http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"})
    EXPECT_EQ(open({{"base_url", here}}), "");
}

TEST(Secrets, OfTheEnvironmentAreKnownByTheirNames) {
  const Variable key("SOLSTICE_TEST_API_KEY", kKey), path("SOLSTICE_TEST_PATH_KEY", "/home/me/key-of-mine"),
      flag("SOLSTICE_TEST_TOKEN", "1");
  EXPECT_EQ(secrets_of_environment().scrub(std::string("ask --with ") + kKey + " /home/me/key-of-mine 1"),
            "ask --with [key] /home/me/key-of-mine 1");
}

// The server gives the key back in every place where it can.
TEST_F(ClientTest, TheKeyIsInNoErrorLogOrTranscript) {
  const std::string echo = std::string("your key is ") + kKey;
  FaultyServer server([&](const Serving& s) {
    if (s.number == 0) return s.answer(500, R"({"error":{"message":")" + echo + R"("}})");
    if (s.number == 1) return s.stream(chat(echo));
    if (s.number == 2) return s.answer(401, echo);
    s.answer(200, echo);
  });
  ::testing::internal::CaptureStderr();
  auto transcript = Transcript::open(folder() / "t.jsonl");
  ClientOptions options = quick();
  options.transcript = transcript->get();
  const auto client = client_of(server, options);
  std::string seen;
  for (int i = 0; i < 3; ++i) {
    const Result<Reply> reply = (*client)->ask(question("is it " + std::string(kKey) + "?"));
    seen += reply.ok() ? to_json(*reply).dump() : reply.error().text();
  }
  seen += to_json((*client)->account()).dump() + *read_file(folder() / "t.jsonl") +
          ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(seen.find(kKey), std::string::npos) << seen;
  EXPECT_NE(seen.find("your key is [key]"), std::string::npos) << seen;
  EXPECT_NE(server.requests().at(0).find(kKey), std::string::npos);
}

}  // namespace
}  // namespace solstice::llm::testing
