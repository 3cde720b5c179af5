-- A run store of schema 4, with one run, two trials, three events and a fact.
CREATE TABLE problems (
  key   TEXT PRIMARY KEY,
  name  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
  id           TEXT PRIMARY KEY,
  problem_key  TEXT NOT NULL REFERENCES problems(key),
  options_key  TEXT NOT NULL,
  started      TEXT NOT NULL,
  finished     TEXT NOT NULL,
  state        TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  record       TEXT NOT NULL,
  before       TEXT NOT NULL DEFAULT '',
  events_before INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX runs_by_problem ON runs(problem_key, options_key, started);
CREATE TABLE trials (
  run     TEXT NOT NULL REFERENCES runs(id),
  number  INTEGER NOT NULL,
  state   TEXT NOT NULL,
  record  TEXT NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE texts (
  key   TEXT PRIMARY KEY,
  text  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
  run      TEXT NOT NULL REFERENCES runs(id),
  number   INTEGER NOT NULL,
  at       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  node     INTEGER NOT NULL,
  program  TEXT NOT NULL,
  record   TEXT NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE facts (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  run      TEXT NOT NULL REFERENCES runs(id),
  node     INTEGER NOT NULL,
  machine  TEXT NOT NULL,
  form     TEXT NOT NULL,
  record   TEXT NOT NULL,
  UNIQUE (run, node)
);
CREATE INDEX facts_by_machine ON facts(machine, number);
CREATE TRIGGER facts_stay BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
CREATE TRIGGER facts_keep BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'facts are only added'); END;
INSERT INTO problems VALUES ('k', 'softmax');
INSERT INTO runs(id, problem_key, options_key, started, finished, state, pid, process_start, record) VALUES ('20260901-120000-aaaa', 'k', 'o', '2026-09-01T12:00:00.000Z', '2026-09-01T12:00:09.000Z', 'finished', 77, '1',
  '{"schema":"solstice.run/1","id":"20260901-120000-aaaa","problem":"softmax","problem_key":"k","options_key":"o","file":"/home/me/softmax.py","command":["solstice","optimize","softmax.py"],"working_folder":"/home/me","machine":"h200","device":"gpu","versions":{"build":"b","driver":"580"},"folder":"/home/me/runs/softmax","started":"2026-09-01T12:00:00.000Z","finished":"2026-09-01T12:00:09.000Z","state":"finished","outcome":"faster","reason":"","policy":"greedy","seed":1,"summary":{"speedup":1.27,"predicted":false}}');
INSERT INTO trials VALUES ('20260901-120000-aaaa', 1, 'verified',
  '{"schema":"solstice.trial/1","run":"20260901-120000-aaaa","number":1,"origin":"expert","program":"program softmax\n","what":"the cost models'' first choice","settings":["rows1 rows()"],"meaning":"proved","state":"verified","message":"","predicted":0.00026,"measured":0.000262,"verdict":null,"timing":[0.000262],"cost":[],"compile_time":0.4,"started":"2026-09-01T12:00:03.000Z"}');
INSERT INTO trials VALUES ('20260901-120000-aaaa', 2, 'wrong',
  '{"schema":"solstice.trial/1","run":"20260901-120000-aaaa","number":2,"program":"program softmax2\n","state":"wrong","message":"normwise error 1 is above the limit"}');
INSERT INTO texts VALUES ('t1', 'program softmax
');
INSERT INTO events VALUES ('20260901-120000-aaaa', 0, '2026-09-01T12:00:02.000Z', 'measured', 0, '',
  '{"kind":"measured","node":0,"measurement":{"state":"verified","time":0.00033,"cost":0,"joules":0,"noise":0,"detail":"","finding":"","record":null}}');
INSERT INTO events VALUES ('20260901-120000-aaaa', 1, '2026-09-01T12:00:02.100Z', 'proposed', 1, 't1',
  '{"kind":"proposed","node":1,"proposal":{"program":"","reason":"the cost models'' first choice","predicted":0.00026,"parent":0,"settings":["rows1 rows()"],"equations":"","cut":"0 1","known":null,"origin":"expert","tokens":0,"precision":"usual"}}');
INSERT INTO events VALUES ('20260901-120000-aaaa', 2, '2026-09-01T12:00:03.000Z', 'measured', 1, '',
  '{"kind":"measured","node":1,"measurement":{"state":"verified","time":0.000262,"cost":0.4,"joules":0,"noise":0.001,"detail":"","finding":"","record":{"seconds":[0.000262]}}}');
INSERT INTO texts VALUES ('t2', '1[a,b] = max[b](0[a,b])');
INSERT INTO facts (run, node, machine, form, record) VALUES ('20260901-120000-aaaa', 1, 'h200', 't2',
  '{"schema":"solstice.fact/1","run":"20260901-120000-aaaa","node":1,"at":"2026-09-01T12:00:03.000Z","machine":"h200","structure":{"kind":"max: f32","form":"","extents":"a 12, b 14"},"alike":1,"from":"rows(threads=256)","to":"rows(threads=512)","state":"verified","gain":0.2,"share":1,"predicted":0.1,"noise":0.001}');
PRAGMA user_version = 4;
