"""The explorer: what its page says is certified, and its server answers this machine alone."""

import http.client
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from fractions import Fraction
from urllib.parse import urlencode

import pytest
from mpmath import mp, mpf

import exactdp
from exactdp import Enclosure, time_limit
from exactdp.cli.main import main
from exactdp.mechanisms.specs.spec import parse_use
from exactdp.report import serve
from exactdp.report.explorer import _ABOUT, answer, mechanisms, read
from exactdp.report.least import least
from exactdp.verify import parse_claim


def test_every_mechanism_starts_as_its_example():
    for name, entry in mechanisms().items():
        asked = read(urlencode({"name": name}))
        assert (asked.name, asked.unknown) == (name, "")
        assert asked.spec.startswith(f"{name}:")
        parse_use(asked.spec)
        assert {each.key for each in asked.inputs} == set(entry.keys)
        assert not {"name", "was", *_ABOUT} & set(entry.keys)
        assert "file" not in entry.keys
        assert read(asked.query) == asked  # an address brings back what it was made of


def test_figures_contain_the_truth():
    """Of Gaussian noise, by its closed form (Balle and Wang, ICML 2018, Theorem 8)."""
    shown = answer("name=gaussian&sigma=3&sensitivity=2&times=5&at=1e-7", 5)
    found = {row.name: row.value for row in shown.rows}
    with mp.workdps(40):
        mu = 2 * mp.sqrt(5) / 3

        def delta(epsilon):
            low, high = (mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu)
            return mp.ncdf(low) - mp.exp(epsilon) * mp.ncdf(high)

        epsilon = found["ε at δ = 1e-7"]
        ends = [mpf(end) for end in epsilon.to_json().values()]
        assert delta(ends[0]) >= mpf("1e-7") >= delta(ends[1])
        low, high = (mpf(end) for end in found["μ of Gaussian DP"].to_json().values())
        assert low <= mu <= high
    assert found["ρ of zero-concentrated DP"].contains(Fraction(10, 9))
    assert found["pure ε"] == Enclosure.infinite()
    assert len(shown.pictures) == 2


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("name=discrete-laplace&epsilon=1&sensitivity=2&neighbours=replace", "scale"),
        ("name=gaussian&rho=1/2&neighbours=add-remove", "sigma"),
        ("name=randomized-response&epsilon=3", "epsilon"),
    ],
)
def test_the_least_noise_is_verified_and_its_neighbour_refuted(query, parameter):
    shown = answer(f"{query}&target=1/2&at=1e-3", 20)
    row = shown.rows[-1]
    assert re.fullmatch(rf"(least|largest) {parameter} for approx:1/2,1e-3", row.name)
    for end in (row.value.lower, row.value.upper):
        rest = {key: value for key, value in shown.question.values.items() if key != "rho"}
        keys = rest | {parameter: f"{Fraction(end)}"}
        keys.pop("epsilon") if parameter == "scale" else None
        text = ",".join(f"{key}={value}" for key, value in keys.items())
        audit = exactdp.audit(f"{shown.question.name}:{text}", "approx:1/2,1e-3")
        noisier = end == (row.value.lower if parameter == "epsilon" else row.value.upper)
        assert audit.verified if noisier else audit.refuted
    assert row.value.is_within(Fraction(1, 10**8))


def test_out_of_time_the_bracket_still_holds():
    """The least sigma of one Gaussian use for (1, 1e-6) is 4.2247; the largest epsilon is 1/2."""
    known = (
        ("gaussian", "approx:1,1e-6", Fraction("4.2247")),
        ("randomized-response", "approx:1/2,1e-30", Fraction(1, 2)),
    )
    for name, claim, truth in known:
        for seconds in (0.001, 0.01, 0.1):
            with time_limit(seconds):
                found = least(name, {}, 1, parse_claim(claim))
            assert found.value.lower <= truth + Fraction(1, 10**4)
            assert truth - Fraction(1, 10**4) <= found.value.upper


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("name=skellam&variance=x", "variance"),
        ("name=skellam&variance=1,sensitivity=2", "variance"),
        ("name=gaussian&sigma=1&poisson=1/2", "poisson"),
        ("name=polya-difference&shape=1", "scale"),
        ("times=0", "times"),
        ("times=1e10", "times"),
        ("at=0", "at"),
        ("at=%3Cb%3E", "at"),
        ("target=-1", "target"),
        ("name=nobody", ""),
        ("name=pmf&file=/etc/passwd", ""),
        ("name=skellam&variance=1&file=/etc/passwd", ""),
        ("epsilon=" + "9" * 5000, ""),
        ("&".join(f"a{k}=1" for k in range(100)), ""),
        ("epsilon=%ff", ""),
        ("epsilon=" + "9" * 3000, "epsilon"),
        ("epsilon=1%0A2", ""),
    ],
)
def test_bad_input_is_one_line_beside_the_input(query, key):
    shown = answer(query, 5)
    assert (shown.key, bool(shown.error)) == (key, True)
    assert "\n" not in shown.error
    page = shown.html()
    assert 'id="address"' not in page
    if key:
        assert re.search(rf'id="{key}-error">[^<]', page)
        assert f'id="{key}" ' in page


def test_no_text_becomes_markup():
    for key in ("name", "epsilon", "at", "target", "<i>"):
        page = answer(urlencode({key: "\"'><script>alert(1)</script>"}), 2).html()
        assert "<script>" not in page
        assert page.count("<script") == 1


def test_lines_say_what_is_shown(capsys):
    shown = answer("name=discrete-laplace&epsilon=1/3&times=4&at=1e-5", 5)
    words = shlex.split(shown.lines["shell"])
    assert main([*words[1:], "--json"]) == 0
    assert shown.rows[0].value.to_json()["upper"][:8] in capsys.readouterr().out
    found = eval(shown.lines["Python"], {"exactdp": exactdp})
    found.intersection(shown.rows[0].value)  # which raises where they do not meet


@pytest.fixture(scope="module")
def port():
    """Of a server, which Ctrl-C ends: at once, and in silence."""
    command = [sys.executable, "-m", "exactdp.cli", "explore", "--port", "0", "--time", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        try:
            yield int(re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())[1])
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert (process.stdout.read(), process.stderr.read()) == ("", "")
        finally:
            process.kill()


def asked(port, path="/", method="GET", headers=None, body=None):
    """The status, the headers and the text."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


@pytest.mark.contract
def test_it_serves_a_page_that_asks_nobody_else(port):
    status, headers, page = asked(port, "/?epsilon=1/2")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "[0.5, 0.5]" in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy
    assert "http" not in policy
    for link in re.findall(r'(?:src|href|action)="([^"]*)"', page):
        if not link.startswith(("#", "?", "data:,", "./")):
            assert asked(port, f"/{link}")[0] == 200
    assert not re.findall(r'url\((?!#)|@import|(?:src|href)="(?:https?:)?//', page)


@pytest.mark.contract
def test_it_answers_this_machine_by_its_own_name_only(port):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert asked(port, headers={"Host": f"{name}:{port}"})[0] == 200
    for name in (
        "evil.example",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{port}",
        "",
        f"[::1]:{port}",
    ):
        assert asked(port, headers={"Host": name})[0] == 421
    for lines in ("", f"Host: localhost:{port}\r\nHost: evil.example\r\n"):
        assert raw(port, f"GET / HTTP/1.1\r\n{lines}\r\n".encode()).startswith("HTTP/1.0 421")


@pytest.mark.contract
def test_a_page_of_another_site_is_not_answered(port):
    other = {"Sec-Fetch-Site": "cross-site"}
    assert asked(port, headers={**other, "Sec-Fetch-Dest": "image"})[0] == 403
    assert asked(port, headers={**other, "Sec-Fetch-Dest": "iframe"})[0] == 403
    assert asked(port, headers={**other, "Sec-Fetch-Dest": "document"})[0] == 200  # a link


@pytest.mark.contract
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/../../etc/passwd", "/%2e%2e/", "/style.css/..", "http://evil/", "*"]
)
def test_there_is_no_other_path(port, path):
    assert asked(port, path)[0] == (404 if "evil" not in path else 421)


@pytest.mark.contract
def test_nothing_but_reading_is_answered(port):
    assert asked(port, method="POST", body="epsilon=1")[0] == 405
    assert asked(port, method="DELETE")[0] == 501
    assert asked(port, method="HEAD")[::2] == (200, "")


@pytest.mark.contract
def test_what_is_too_long_or_no_request_is_refused(port):
    assert asked(port, "/?" + "a" * 10_000)[0] == 414
    assert asked(port, "/?" + "a" * 70_000)[0] == 414
    assert "too long" in asked(port, "/?" + "a" * 5_000)[2]
    assert asked(port, headers={f"X-{k}": "1" for k in range(200)})[0] == 431
    assert " 400 " in raw(port, b"\x16\x03\x01 \x00 nothing\r\n\r\n") + " 400 "
    assert asked(port)[0] == 200


@pytest.mark.contract
def test_who_says_nothing_does_not_hold_up_others(port):
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(5)]
    assert asked(port)[0] == 200
    for each in silent:
        each.close()


def raw(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        return connection.recv(1 << 16).decode("latin-1")


@pytest.mark.contract
def test_a_port_that_is_taken_is_one_line(port, capsys):
    assert main(["explore", "--port", str(port)]) == 2
    assert re.fullmatch(rf"exactdp: --port {port}: .*in use\n", capsys.readouterr().err)
    for bad in ("x", "-1", "65536", "1.5"):
        assert main(["explore", "--port", bad]) == 2
        assert capsys.readouterr().err.startswith("exactdp: --port must be")


@pytest.mark.slow
def test_an_answer_takes_the_time_it_may_or_says_so():
    """Noise whose least amount takes long: no value after another when time is over."""
    query = "name=polya-difference&shape=0.5&scale=10&times=300&target=1"
    answer("name=gaussian&sigma=2", 2)  # which imports what draws
    began, spent = time.monotonic(), time.process_time()
    found = answer(query, 2)
    assert time.process_time() - spent < 6
    took = time.monotonic() - began
    assert found.late.startswith("It took") if took > 2.1 else took < 2.1
    assert found.late in found.html()


@pytest.mark.slow
def test_a_request_that_trickles_is_ended(monkeypatch):
    """However often a byte comes: the whole request has so many seconds."""
    monkeypatch.setattr(serve._Handler, "timeout", 1)
    server = serve.Server(0, lambda query: f"asked {query}", {"/file": ("text/plain", "here")})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        port = server.server_port
        slow = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(32)]
        ended = set()
        for letter in "GET /file HTTP/1.0\r\nX: " + "x" * 60:
            for number, each in enumerate(slow):
                try:
                    each.sendall(letter.encode())
                except ConnectionError:
                    ended.add(number)
            time.sleep(0.05)
        assert len(ended) == 32
        status, _, text = asked(port, "/file")
        assert (status, text) == (200, "here")
    finally:
        server.shutdown()
        server.server_close()
