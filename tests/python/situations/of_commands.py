"""Wrong arguments, names, folders, runs and machines."""

from . import GOOD, Situation

FILES = {"m.py": GOOD}
ASK = "llm ask --prompt m.py --provider openai --model gpt-5-mini"


def of(name, command, *says, files=None, **options):
    return Situation(name, command, says, FILES if files is None else files, **options)


ARGUMENTS = [
    of("a misspelt command", "optimise m.py", "no command `optimise`", "did you mean `optimize`?"),
    of("no such command", "xyzzy", "no command `xyzzy`", "`solstice --help`"),
    of("a group", "bench", "`bench` is a group of commands", "`bench families`"),
    of("a misspelt part of a group", "bench familes", "no command `bench familes`", "did you mean `bench families`?"),
    of("a word of other programs", "clean", "no command `clean`", "did you mean `solstice gc`?"),
    of("a name behind a dot", "optimize torch.nn.GELU", "no file torch.nn.GELU", "hint: a name", "torch.nn:GELU"),
    of("another machine", "sol m.py --machine a100", "no machine is called `a100`", "hint: there are "),
    of("a missing argument", "check", "`solstice check` needs PROGRAM: a .ucut file", "`solstice check --help`"),
    of("nothing to optimise", "optimize", "no FILE was given", "--resume RUN"),
    of("one argument too many", "check a.ucut b.ucut", "takes no further argument `b.ucut`", "--help"),
    of("a misspelt option", "optimize m.py --bugdet 3s", "no option `--bugdet`", "did you mean `--budget`?"),
    of("no such option", "check a.ucut --xyzzy", "no option `--xyzzy`", "its options are"),
    of("one dash", "optimize m.py -budget 3s", "no option `-budget`", "did you mean `--budget`?"),
    of("one letter", "optimize m.py -b 3s", "no option `-b`", "did you mean `--budget`?"),
    of("an option without its value", "optimize m.py --budget", "--budget BUDGET is given without its value", "--help"),
    of("a budget without a unit", "optimize m.py --budget 60", "`60` has no unit: 60s, or 60trials?", "legal are"),
    of("a budget in another unit", "optimize m.py --budget '5 parsec'", "`5 parsec` is neither", "5m, 2h"),
    of("a negative budget", "optimize m.py --budget -5s", "`-5s` is too short", "legal are a time"),
    of("a misspelt choice", "optimize m.py --numerics hihg", "legal are reference, high", "did you mean `high`?"),
    of("another choice", "optimize m.py --device cuda", "--device is `cuda`; legal are auto, gpu, model"),
    of("no number", "optimize m.py --window many", "--window is `many`", "hint: legal are whole numbers from 0"),
    of("per cent", "optimize m.py --eps 2%", "--eps is `2%`", "hint: legal are numbers from 0"),
    of("two modes", "optimize m.py --eval --train", "give --eval or --train, not both"),
    of("a missing table", "list", "`solstice list` needs KIND", "hint: one of families, rules, machines"),
    of("a table of ours by another name", "list runs", "KIND is `runs`", "hint: did you mean `solstice show`?"),
    of("a word for the machine", "gpus", "no command `gpus`", "hint: did you mean `solstice doctor`?"),
    of("a misspelt table", "list family", "KIND is `family`; legal are families"),
    of("a misspelt machine", "plan m.py --machine h2000", "no machine is called `h2000`", "did you mean `h200`?"),
    of("a misspelt policy", "optimize m.py --policy gredy", "no policy `gredy`", "did you mean `greedy`?"),
    of(
        "a misspelt rewrite",
        "rewrite m.py --apply drop_ded",
        "there is no rewrite `drop_ded`",
        "did you mean `drop_dead`?",
    ),
    of("a page as a program", "check m.py", "m.py is a Python file, not a program", "`solstice import m.py`"),
]

PLACES = [
    of(
        "a key of another type",
        "plan m.py --machine a.toml",
        "a.toml:1: `name` needs a text",
        "  1 | name = 3",
        "machines/README.md",
        files={**FILES, "a.toml": "name = 3\n"},
    ),
    of(
        "a misspelt key",
        "plan m.py --machine a.toml",
        "a.toml:1: unknown key `nam`",
        "hint: did you mean `name`?",
        files={**FILES, "a.toml": 'nam = "h200"\n'},
    ),
    of(
        "no TOML",
        "plan m.py --machine a.toml",
        "a.toml:1:",
        "this is not TOML",
        files={**FILES, "a.toml": "name = [\n"},
    ),
    of(
        "an output folder that cannot be",
        "optimize m.py --device model --out /proc/x",
        "cannot make the folder /proc/x",
        "name a place that you may write to",
        code=3,
    ),
    of(
        "a file as output folder",
        "optimize m.py --device model --out m.py",
        "cannot make the folder m.py",
        "a part of this path is a file",
        code=3,
    ),
    of("a full disk", "import m.py --out /dev/full", "No space left on device", "free space there", code=3),
    of(
        "a store that cannot be",
        "optimize m.py --device model --store /proc/x",
        "cannot make the folder /proc/x",
        "name a place that you may write to",
        code=3,
    ),
    of("a file as store", "show --store m.py", "m.py is no run store", "name the folder of one"),
    of(
        "a damaged store",
        "show --store st",
        "the run store",
        "is damaged, or is none",
        "--store DIR",
        code=3,
        files={"st/runs.db": "this is no database" * 300},
    ),
    of(
        "no GPU",
        "optimize m.py --device gpu",
        "libcuda.so.1 cannot be loaded",
        "`solstice doctor`",
        "--device model",
        code=3,
    ),
    of("no GPUs", "optimize m.py --devices 0,1", "libcuda.so.1 cannot be loaded", "leave --devices out", code=3),
    of("no GPU to time families on", "bench families", "libcuda.so.1 cannot be loaded", "driver 525 or newer", code=3),
    of("no GPU to calibrate", "calibrate", "PyTorch sees no usable GPU", "`solstice doctor`", code=3),
]

RUNS = [
    of("no such run", "show nosuchrun", "no run `nosuchrun` in the store", "`solstice show` lists them"),
    of("a trial of no run", "show --trial 3", "no run is named", "hint: `solstice show last --trial 3`"),
    of("a tree of no run", "show --tree", "none is named", "hint: `solstice show last --tree`"),
    of("a list of one run", "show last --limit 3", "choose from the list of runs", "hint: leave RUN out"),
    of("no last run", "show last", "the store holds no run yet", "`solstice optimize FILE.py` makes one"),
    of("nothing to resume", "optimize --resume abc", "no run `abc` in the store", "`solstice show` lists them"),
    of("nothing to export", "export abc out", "no run `abc` in the store", "`solstice show`"),
    of("nothing to compare", "compare last", "the store holds no run yet", "`solstice optimize FILE.py`"),
    of("nothing to import", "import-run nowhere", "no file nowhere", "give the path of a file that exists"),
    of(
        "no export",
        "import-run m.py",
        "m.py:1:1: not valid JSON: nothing legal begins here",
        "`solstice export RUN PATH`",
    ),
    of(
        "facts that are no JSON",
        "profile f.json",
        'f.json:2:7: not valid JSON: nothing legal begins here\n  2 |  "b": }\n    |       ^\n',
        "hint: `solstice profile SUBJECT --facts FILE` writes facts",
        files={"f.json": '{"a": 1,\n "b": }\n'},
    ),
    of(
        "a damaged batch",
        "evaluate d",
        "d/batch.json:1:2: not valid JSON: it ends too early",
        "hint: `solstice propose RUN --again`",
        files={"d/batch.json": "{"},
    ),
    of(
        "a damaged bench",
        "bench merge d --out out",
        "d/bench.json:1:1: not valid JSON",
        "hint: `solstice bench kernelbench` writes it",
        files={"d/bench.json": "?"},
    ),
    of(
        "a tool that is not there",
        "optimize m.py --device model --tool command:/nowhere",
        "cannot start /nowhere",
        "hint: give --tool an executable file",
    ),
    of("nothing to replay", "replay", "has a recorded search", "`solstice optimize` records one"),
    of("no such key", "jit explain abc", "no compile with key `abc`", "`solstice compile PROGRAM --json`"),
    of("no batch to add", "absorb nowhere", "nowhere is no batch", "`solstice propose` makes one"),
    of("no batch to measure", "evaluate d", "d is no batch", "`solstice propose` makes one", files={"d/x": "1"}),
    of("no problems", "bench kernelbench --path d", "d holds no problems", "level1/1_NAME.py", files={"d/a.md": ""}),
    of("no folder of problems", "bench kernelbench --path nowhere", "cannot list nowhere", "give the path"),
    of("no bench to merge", "bench merge nowhere --out out", "nowhere", "bench.json"),
]

MODELS = [
    of("an agent without a provider", "optimize m.py --agent flat", "--agent needs --provider", "list providers"),
    of("a misspelt agent", "optimize m.py --agent flatt --provider openai", "did you mean `flat`?"),
    of("a misspelt provider", "llm ask --provider opneai", "no provider is called `opneai`", "did you mean `openai`?"),
    of("a provider without an agent", "optimize m.py --provider openai", "none takes part: add --agent"),
    of(
        "a provider without a model",
        "llm ask --prompt m.py --provider openai",
        "provider `openai` needs a model",
        "list models",
    ),
    of("a misspelt model", "llm ask --prompt m.py --provider openai --model gpt-5-mni", "did you mean `gpt-5-mini`?"),
    of("no key", f"{ASK} --option key_env=NO_KEY", "NO_KEY is not set", "hint: put the provider's key there"),
    of(
        "a key as a name",
        f"{ASK} --option key_env=sk-1234",
        "may be the key itself",
        "hint: put the key into a variable",
    ),
    of(
        "a key for all to read",
        f"{ASK} --option key_file=k",
        "k may be used by others than its owner",
        "hint: `chmod 600 k`",
        files={**FILES, "k": "a-key-of-no-one"},
    ),
    of("no network", f"{ASK} --no-network", "needs the network", "hint: leave --no-network out"),
    of(
        "a model of another provider",
        "llm ask --prompt m.py --provider openai --model claude-opus-5",
        "belongs to provider `anthropic`, not to `openai`",
        "hint: --provider anthropic, or a model of `openai`",
    ),
    of("a mailbox without a folder", "llm ask --prompt m.py --provider mailbox", "hint: give `--option folder=DIR`"),
    of(
        "a time in words",
        f"{ASK} --option key_env= --option timeout=soon",
        "`timeout` is `soon`",
        "hint: it takes seconds",
    ),
    of(
        "a flag in words",
        f"{ASK} --option key_env= --option stream=yes",
        "`stream` is `yes`",
        "hint: it takes true or false",
    ),
    of(
        "a name in a URL", f"{ASK} --option base_url=https://me@host", "before its `@`", "hint: give a key by `key_env`"
    ),
    of("a query in a URL", f"{ASK} --option base_url=https://host?a=1", "has a query", "hint: it takes http[s]://HOST"),
    of(
        "a key in the clear",
        f"{ASK} --option base_url=http://host.example --option key_env=KEY",
        "the key would go unencrypted",
        "hint: give a base_url of https://",
        environment={"KEY": "a-key-of-no-one"},
    ),
    of(
        "a provider that is down",
        f"{ASK} --option base_url=http://127.0.0.1:9 --option key_env=KEY",
        "127.0.0.1",
        code=3,
        environment={"KEY": "a-key-of-no-one"},
    ),
    of(
        "no such option of a provider",
        "llm ask --provider openai --model gpt-5-mini --option colour=red",
        "no option `colour`",
        "hint: its options are base_url",
    ),
    of("a temperature in words", "optimize m.py --agent flat --provider openai --temperature hot", "legal are numbers"),
    of("no transcript", "optimize m.py --device model --agent flat --replay-transcript a.jsonl", "no file a.jsonl"),
]

SITUATIONS = [*ARGUMENTS, *PLACES, *RUNS, *MODELS]
