-- A run store of schema 2, with one run, two trials and three events.
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
  record       TEXT NOT NULL
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
INSERT INTO problems VALUES ('k', 'softmax');
INSERT INTO runs VALUES ('20260901-120000-aaaa', 'k', 'o', '2026-09-01T12:00:00.000Z', '2026-09-01T12:00:09.000Z', 'finished', 77, '1',
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
PRAGMA user_version = 2;
