"""Malformed calls of every command, files included, and a process that runs them one by one.

A call begins as a good one; then a value, an option, a key or a file in it is spoilt. What is
spoilt by chance into something good and endless (a million runs, say) is not malformed: numbers
that only say how much to do become bad numbers, never large ones.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import selectors
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

SECONDS, MEMORY = 60, 2**30  # that a call may take

_GOOD = ("pair.csv", "spec.json", "spec.toml", "rewards.txt", "rewards.csv", "instance.json")
_GOOD += ("ratings.letor", "certificate.json", "protocol.json", "run.jsonl", "spent.db")
_GOOD += ("claims.toml",)
_DIGITS = "7" * 4301
_BAD = ("", " ", "-1", "nan", "inf", "-inf", "1e10000", "1e-10000", "1e99999999999", _DIGITS, "1/0")
_BAD += (
    f"1/{_DIGITS}",
    f"0.{_DIGITS}",
    "0x10",
    "1_0",
    "½",
    "١",
    "²",
    "1e",
    "--=",
    "a",
    "ε",
    "\udcff",
)
_BAD += (
    "\x1b[2J",
    "a\nb",
    "\u2028",
    "None",
    "1,2",
    "[1]",
    "{}",
    "1;2",
    "%s",
    "../..",
    "=",
    ":",
    "*",
)
_ODD = ("0", "1", "2", "1/2", "1/3", "0.999999999999", "1e-9", "1e9", "1e300", "1e-300", "1e1000")
_ODD += ("1e-1000", "3", "1000")
_PLACES = ("fifo", "zero", "folder", "loop", "dangling", "none", "none/none", "x" * 256, "ε" * 128)
_PLACES += ("", ".", "/", "/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "\udcff")
_NO_PLACE = ("fifo", "zero", "loop", "dangling", "spec.json/x", "x" * 256, "/dev/full")
_SPECS = (
    "discrete-laplace:epsilon=1/2,sensitivity=1",
    "discrete-laplace:scale=2,sensitivity=3,modulus=11",
    "polya-difference:shape=0.9,scale=3,sensitivity=1",
    "skellam:variance=9,sensitivity=1",
    "discrete-gaussian:sigma2=4,sensitivity=1",
    "discrete-gaussian-sum:count=3,sigma2=2,sensitivity=1",
    "binomial:trials=20,probability=1/2,sensitivity=1",
    "randomized-response:epsilon=1,delta=0.1",
    "pmf:file=@pair.csv,slack=0.001",
    "pmf:file=@pair.csv",
    "theorem1:epsilon=0.5,batch=16,horizon=100",
    "theorem2:epsilon=0.5,batch=16,horizon=100,scaling=10",
    "theorem3:epsilon=0.5,batch=16,horizon=100",
    "theorem5:epsilon=0.5,batch=16,horizon=100,dropout=1",
    "theorem6:epsilon=0.5,batch=16,horizon=100,collusion=1",
    "published:epsilon=0.1,batch=16",
    "shuffle-sum:epsilon=0.5,delta=1e-2,users=100",
    "@spec.json",
    "@spec.toml",
)
_CLAIMS = ("pure:1", "approx:1,1e-3", "rdp:2,1/2", "zcdp:1/3", "gdp:1/2")
_RUN = "bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 60 --runs 2 --arms 3"
_CALLS = (
    "audit SPEC --claim CLAIM --json --time 20",
    "audit SPEC --claim CLAIM --certificate @out.json",
    "audit SPEC --claim CLAIM --width 1e-6",
    "check @certificate.json",
    "check @certificate.json --at-most approx:3,1e-3 --verdict VERIFIED --neighbours replace",
    "check @protocol.json --json",
    "check @run.jsonl --time 30",
    "check @spent.db --json",
    "check-claims @claims.toml --time 20",
    "check-claims @claims.toml --json",
    "list skellam --json",
    "deployments apple-emoji --json --time 20",
    "bugs pategan-laplace --json --time 20",
    "compose SPEC*2 randomized-response:epsilon=1*3 --delta 1e-3 --pure --time 20",
    "compose SPEC --epsilon 1 --order 2 --json",
    "compose SPEC*2 --delta 1e-3 --method rdp --time 20",
    "calibrate discrete-laplace --sensitivity 1 --target CLAIM --times 2",
    "calibrate discrete-gaussian-sum:count=3 --sensitivity 1 --target rdp:2,1/2 --json",
    "calibrate randomized-response --target CLAIM",
    "claims D-thm5 --workers 1",
    "protocol theorem1:epsilon=0.5,batch=16,horizon=100 --failure 1e-3 --dropout 2",
    "protocol SPEC --json",
    "sample SPEC --size 5 --seed 1",
    "sample theorem1:epsilon=0.5,batch=16,horizon=100 --size 3 --share-of 16",
    "round theorem1:epsilon=0.5,batch=4,horizon=100 --plain --vanish 1 --seed 1",
    "round theorem1:epsilon=0.5,batch=4,horizon=100 --rewards @rewards.txt --mean 0.5 --delta 1e-3",
    "round theorem1:epsilon=0.5,batch=8,horizon=100 --neighbours 4 --colluding 1 "
    "--certificate @out.json",
    "search skellam:variance=2..4 --claim pure:1 --seconds 1",
    "search discrete-gaussian-sum:count=2..3,sigma2=1/2 --claim rdp:2,1/(count*sigma2) --seconds 1",
    "blackbox --command SHUF --claim pure:1 --inputs 0,1 --samples 200 --seed 1 --timeout 5",
    "blackbox --command SHUF --claim approx:1,0.1 --samples 200 --law SPEC --error 1e-3",
    "blackbox json:dumps --claim pure:1 --samples 10",
    _RUN + " --transcript @out.jsonl --seed 1",
    _RUN + " --instance @rewards.csv --resume @cache",
    _RUN + " --instance @instance.json --faithful --growth 2",
    _RUN + " --instance @ratings.letor --radius paper --returning 3",
    "ledger init @new.db --limit CLAIM --days 3",
    "ledger charge @spent.db SPEC*2 --user ada --user bob --key k --json --time 20",
    "ledger show @spent.db --user ada --json",
    "ledger check @spent.db --workers 1",
    "ledger export @spent.db --format json",
    "ledger migrate @spent.db --to 0001",
    "sample SPEC --size 2 --ledger @spent.db --user ada --key k",
    _RUN + " --sigma 0 --confidence 0.1 --scaling 10 --delta 1e-3 --workers 1 --json",
)
_NEVER = (  # good ones take long: they are spoilt for certain
    "bandit figures --out @folder --figure BAD --quick",
    "bandit figures --out @folder --quick --workers BAD",
    "bandit study @rewards.csv --out @folder",
    "bandit study figure2 --out PLACE --quick",
    "bandit study PLACE --out PLACE --workers 1",
    "protocol PLACE",
    "claims BAD",
)
_AMOUNTS = {"--size", "--runs", "--samples", "--horizon", "--workers", "--seconds", "--timeout"}
_AMOUNTS |= {"--arms", "--time", "--times", "--seed", "--error", "--share-of", "--growth"}
_KEYS_OF_AMOUNTS = {"batch", "horizon", "users", "trials", "count", "modulus", "sensitivity"}
_COMMANDS = ("shuf -i {input}-9 -r -n {size}", "yes {input}{size}", "cat /dev/zero {input} {size}")
_COMMANDS += ("sleep 1000 {input}{size}", "nowhere {input} {size}", "false {input} {size}")
_COMMANDS += ("echo {input} {size}", "echo {size}", "'", "sh -c 'kill -9 $$' {input} {size}")


# -- the files ------------------------------------------------------------------------------------


def make_files(folder: Path) -> None:
    """Good files of every kind that a command reads, and places that hold no file at all."""
    from exactdp.cli.main import main

    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    for link, target in (("zero", "/dev/zero"), ("loop", "loop"), ("dangling", "nowhere")):
        (folder / link).symlink_to(target)
    texts = {
        "pair.csv": "outcome,p,q\nyes,0.6,0.4\nno,0.4,0.6\n",
        "spec.json": '{"mechanism": "skellam", "variance": 9, "sensitivity": "1"}',
        "spec.toml": 'mechanism = "pmf"\nfile = "pair.csv"\nslack = 0.01\n',
        "claims.toml": '[[claims]]\nspec = ["skellam:variance=9*2"]\nclaim = "approx:3,1e-3"\n'
        '[[claims]]\nname = "bits"\nspec = "randomized-response:epsilon=1"\nclaim = "pure:1"\n',
        "rewards.txt": "0\n1\n0.5\n1/4\n",
        "rewards.csv": "arm,reward 1..5\nred,1\nblue,5\nred,2\nblack,3\n",
        "instance.json": '{"format": "exactdp bandit instance", "version": 1, "name": "x", '
        '"arms": [{"0": 3, "1/4": 1}, {"1": 2}, {"0.5": 1}]}',
        "ratings.letor": "".join(f"{i % 3} qid:1 1:{i} 2:{i * i % 7}\n" for i in range(9)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    made = (
        f"audit skellam:variance=9 --claim approx:3,1e-3 --certificate {folder}/certificate.json",
        f"round theorem1:epsilon=0.5,batch=4,horizon=100 --certificate {folder}/protocol.json",
        f"{_RUN} --transcript {folder}/run.jsonl --resume {folder}/cache",
        f"ledger init {folder}/spent.db --limit zcdp:1",
        f"ledger charge {folder}/spent.db skellam:variance=9 --user ada --key first",
    )
    for call in made:
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(call.split()) == 0, call


def _spoilt(content: bytes, rng: Random) -> bytes:
    """The content of a file, changed in one place or as a whole."""
    at = rng.randrange(len(content) + 1)
    numbers = [m for m in range(len(content)) if content[m : m + 1].isdigit()]
    digit = rng.choice(numbers or [0])
    bad = rng.choice(_BAD).encode(errors="surrogatepass")
    lines = content.splitlines(keepends=True)
    line = rng.choice(lines)
    return rng.choice(
        (
            content[:at],
            content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :],
            content[:at] + bad + content[at:],
            content[:digit] + bad + content[digit + 1 :],
            content[:digit] + _DIGITS.encode() + content[digit + 1 :],
            content.replace(line, b"", 1),
            content.replace(line, line * 2, 1),
            b"".join(rng.sample(lines, len(lines))),
            content.replace(b'"', b"", 2),
            content.replace(b"{", b'{"format": 1, ', 1),
            content.replace(b'": ', b'": ' + rng.choice((b"[", b"null, ", b"{}, ", b"1e999, ")), 1),
            b"[" * 100_000,
            b'{"":' * 100_000,
            b"\0" * 1000,
            b"\xff\xfe" + content,
            bad,
            content * 50,
        )
    )


# -- the calls ------------------------------------------------------------------------------------


def calls(seed: int, count: int, folder: Path) -> Iterator[list[str]]:
    """So many calls, the same ones for the same seed; each with the files that it needs."""
    for index in range(count):
        rng = Random(f"{seed} {index}")
        template = rng.choice(_CALLS if rng.random() < 0.93 else _NEVER)
        words = [_filled(word, rng) for word in template.split()]
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if template in _CALLS and len(words) > 1:
                words = _spoil(words, rng)
        yield [_placed(word, rng, folder, index) for word in words]


def _filled(word: str, rng: Random) -> str:
    """The word, with something for its placeholder."""
    for name, specs in (("SPEC", _SPECS), ("LAW", _SPECS[:10])):
        word = word.replace(name, rng.choice(specs)) if name in word else word
    some = {"CLAIM": _CLAIMS, "SHUF": _COMMANDS, "BAD": _BAD, "PLACE": _NO_PLACE}
    return rng.choice(some[word]) if word in some else word


def _spoil(words: list[str], rng: Random) -> list[str]:
    """Change one word: a value, a key, a file's name, or the place where it stands."""
    at = rng.randrange(1, len(words))
    word, before = words[at], words[at - 1]
    kind = rng.random()
    if kind < 0.1:
        return words[:at] + words[at + 1 :] if words[0] != "claims" else [*words, word]
    if kind < 0.15:
        return [*words, rng.choice((word, "--nonsense", "--json=1", "-x", rng.choice(_BAD)))]
    if kind < 0.2:
        return [*words[:at], word[: rng.randrange(len(word) + 1)], *words[at + 1 :]]
    if kind < 0.25:
        place = rng.randrange(len(word) + 1)
        return [*words[:at], word[:place] + rng.choice(_BAD) + word[place:], *words[at + 1 :]]
    return [*words[:at], _other(word, before, rng), *words[at + 1 :]]


def _other(word: str, option: str, rng: Random) -> str:
    name, colon, rest = word.partition(":")
    if word.startswith("@"):
        return rng.choice((f"@@{word[1:]}", f"@@{word[1:]}", f"@{rng.choice(_PLACES)}"))
    if option in _AMOUNTS:
        return rng.choice(_BAD)
    if colon and "=" in rest:
        parts = rest.split(",")
        at = rng.randrange(len(parts))
        key, _, value = parts[at].partition("=")
        values = _BAD if key in _KEYS_OF_AMOUNTS else _BAD + _ODD
        if value.startswith("@"):
            values = (f"@@{value[1:]}", *(f"@{place}" for place in _PLACES))
        parts[at] = rng.choice(
            (
                *[f"{key}={rng.choice(values)}"] * 5,
                key,
                f"{rng.choice(_BAD)}={value}",
                parts[at - 1],
            )
        )
        return f"{name}:{','.join(parts)}"
    if colon:
        parts = rest.split(",")
        parts[rng.randrange(len(parts))] = rng.choice(_BAD + _ODD)
        return rng.choice((f"{name}:{','.join(parts)}", f"{rng.choice(_BAD)}:{rest}", rest, name))
    return rng.choice(_BAD + (() if option.startswith("--") else _PLACES))


def _placed(word: str, rng: Random, folder: Path, index: int) -> str:
    """The word with the names of files in the folder; @@NAME is a spoilt copy of @NAME."""
    before, mark, name = word.rpartition("@@")
    if mark:
        name, comma, rest = name.partition(",")
        source = folder / name
        copy = folder / f"spoilt-{index}{Path(name).suffix[:20]}"
        content = source.read_bytes() if name in _GOOD else b"nothing\n"
        copy.write_bytes(_spoilt(content, rng))
        return f"{before}{copy}{comma}{rest}"
    before, mark, name = word.rpartition("@")
    return f"{before}{folder}/{name}" if mark else word


# -- running them ---------------------------------------------------------------------------------


class Runner:
    """One process that runs calls, one after the other; started again where it had to be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._process = folder, None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, call: list[str]) -> dict[str, Any]:
        """Exit code (None: none in time), lines on stderr, seconds and memory so far."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "EXACTDP_CACHE": str(self._folder / "cache")},
                cwd=self._folder,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        self._process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            answer = self._process.stdout.readline() if selector.select(SECONDS) else b""
        if not answer:
            self._stop()
            return {"code": None, "errors": "no answer in time", "seconds": SECONDS, "memory": 0}
        found = json.loads(answer)
        assert isinstance(found, dict)
        return found

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def fault(found: dict[str, Any]) -> str | None:
    """What a call did that no call may do; None where it behaved."""
    lines = found["errors"].splitlines()
    if found["code"] not in (0, 1, 2, 3):
        return f"exit code {found['code']}: {lines[-1:]}"
    if found["code"] == 2 and (len(lines) != 1 or found["printed"]):
        return f"bad input: {len(lines)} lines on stderr, {found['printed']} on stdout"
    if len(lines) > 1 or "Traceback" in found["errors"]:
        return f"{len(lines)} lines on stderr: {lines[-1]}"
    if found["seconds"] > SECONDS or found["memory"] > MEMORY:
        return f"{found['seconds']:.1f} s, {found['memory'] / 2**20:.0f} MiB"
    return None


def _most_memory() -> int:
    """Bytes, of this process alone: what getrusage tells begins with its parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _serve() -> None:
    """Run the calls on standard input, one JSON list a line."""
    from exactdp.cli.main import main

    answers = os.fdopen(os.dup(1), "w")
    resource.setrlimit(resource.RLIMIT_DATA, (2 * MEMORY, 2 * MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        out, errors, start = io.StringIO(), io.StringIO(), time.monotonic()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                code: int | None = main(json.loads(line))
            except BaseException:
                code = 70
                traceback.print_exc()
        found = {
            "code": code,
            "printed": out.getvalue().count("\n"),
            "errors": errors.getvalue(),
            "seconds": time.monotonic() - start,
            "memory": _most_memory(),
        }
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
