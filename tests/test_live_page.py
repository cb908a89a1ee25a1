"""The page of stored results, which follows new ones: its readers, and its contents."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

import floatgate as fg
from browser import Browser
from conftest import Floatgate, looks
from floatgate import Comparison, InputError
from floatgate.pages.server import Server
from floatgate.report import load, serve
from floatgate.report.chosen import chosen
from processes import LONG, Gate, wait_for
from test_report import SMALL, made


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs of a comparison, by victim and spare factor."""
    folder = tmp_path_factory.mktemp("stored") / "six"
    fg.compare(
        "agcr", "zipf",
        policy={"victim": ["greedy", "fifo"]},
        set={**SMALL, "ftl.spare-factor": ["0.18", "0.2", "0.3"], "workload.requests": 4_000},
        out=folder, workers=1,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def page(stored: Path) -> Iterator[Server]:
    """A server that has drawn its page once for all tests that only read."""
    with serve(stored) as server:
        yield server


def answer(
    port: int, path: str, method: str = "GET", **headers: str
) -> tuple[int, str, dict[str, str]]:
    """A server's answer to one request: the code, the text, the headers."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LONG)) as connection:
        connection.request(method, path, headers=headers)
        found = connection.getresponse()
        return found.status, found.read().decode(), dict(found.getheaders())


def ask(page: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    return answer(page.port, path, method, **headers)[:2]


def state(page: Server, **question: str) -> dict[str, object]:
    words = "&".join(f"{key}={quote(value)}" for key, value in question.items())
    code, text = ask(page, f"/{page.token}/state?{words}")
    assert code == 200
    return dict(json.loads(text))


# --- who may read it ---


def test_only_who_knows_the_address_reads(page: Server) -> None:
    assert ask(page, f"/{page.token}/")[0] == 200
    secrets = (
        "",
        "x" * len(page.token),
        page.token[:-1],
        page.token + "x",
        "%00",
        "é".encode().hex(),
    )
    for path in [f"/{secret}/" for secret in secrets] + ["/", "//", "/state", "/favicon.ico"]:
        code, text = ask(page, path)
        assert code == 403, path
        assert page.token not in text
    assert ask(page, f"/{page.token}/none")[0] == 404
    assert ask(page, f"/{page.token}/../../etc/passwd")[0] == 404
    assert ask(page, f"/{page.token}/report?run=../../x")[0] == 404
    assert ask(page, f"/{page.token}/report?set=/etc")[0] == 404
    with serve([]) as other:
        assert other.token != page.token
        assert len(other.token) >= 22  # 128 bits, six in each letter


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{}", ""]
)
def test_who_calls_it_by_another_name_is_refused(page: Server, host: str) -> None:
    """A name of somebody else's site that resolves to loopback."""
    code, text = ask(page, f"/{page.token}/", Host=host.format(page.port))
    assert code == 403
    assert "does not go by that name" in text
    assert ask(page, f"/{page.token}/", Host=f"localhost:{page.port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "BREW"])
def test_nothing_but_get_is_answered(page: Server, method: str) -> None:
    assert ask(page, f"/{page.token}/", method)[0] == 405


def test_it_listens_on_loopback_alone_and_a_silent_reader_harms_nobody(page: Server) -> None:
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{page.port:04X}")
    ]
    assert listening == [f"0100007F:{page.port:04X}"]
    silent = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(5)]
    silent[0].sendall(b"GET / HT")
    silent[1].sendall(b"\0" * 70_000)
    assert ask(page, f"/{page.token}/")[0] == 200
    for connection in silent:
        connection.close()


def test_pages_may_load_nothing_from_elsewhere(page: Server) -> None:
    _, _, headers = answer(page.port, f"/{page.token}/")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("what", ["", "report?set={}"])
def test_only_scripts_and_styles_with_the_nonce_of_the_answer_run(
    page: Server, stored: Path, what: str
) -> None:
    """A new one for each answer, and nothing inline without it."""
    seen = set()
    for _ in range(2):
        path = f"/{page.token}/{what.format(quote(str(stored)))}"
        _, text, headers = answer(page.port, path)
        policy = headers["Content-Security-Policy"]
        assert "unsafe-inline" not in policy
        (nonce,) = {*re.findall(r"'nonce-([\w-]{20,})'", policy)}
        assert policy.count(nonce) == 2, "of scripts and of styles"
        tags = re.findall(r"<(?:script|style)[^>]*>", text)
        executed = [tag for tag in tags if 'type="application/json"' not in tag]
        assert len(executed) > 3
        assert all(f'nonce="{nonce}"' in tag for tag in executed)
        assert not re.search(r"<[^>]+ (?:style|on\w+)=", text.partition("<script")[0])
        seen.add(nonce)
    assert len(seen) == 2


def test_reading_changes_nothing(page: Server, stored: Path) -> None:
    def there() -> dict[Path, tuple[int, int]]:
        return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(stored.rglob("*"))}

    before = there()
    for path in ("", "state", "state?where=waf%3C2", f"report?set={quote(str(stored))}"):
        assert ask(page, f"/{page.token}/{path}")[0] == 200
    assert there() == before


# --- the contents ---


def variants(comparison: Comparison, asked: str) -> list[str]:
    return [" ".join(v.values()) for v in chosen(comparison, asked).variants]


def test_words_choose_runs() -> None:
    runs = [made(waf=1.0 + i, host__write__latency_ns__p99=10**6 * (i + 1)) for i in range(4)]
    names = [
        {"victim": v, "ftl.spare-factor": s}
        for v in ("greedy", "best of 2")
        for s in ("0.1", "0.2")
    ]
    every = Comparison(runs, names)
    assert variants(every, "") == ["greedy 0.1", "greedy 0.2", "best of 2 0.1", "best of 2 0.2"]
    assert variants(every, "victim=greedy waf<2") == ["greedy 0.1"]
    assert variants(every, "GREEDY") == ["greedy 0.1", "greedy 0.2"]
    assert variants(every, "'victim=best of 2' spare-factor>0.1") == ["best of 2 0.2"]
    assert variants(every, "victim!=greedy") == ["best of 2 0.1", "best of 2 0.2"]
    assert variants(every, "ftl.spare-factor=0.10") == ["greedy 0.1", "best of 2 0.1"]
    assert variants(every, "host.write.latency_ns.p99>=3ms") == ["best of 2 0.1", "best of 2 0.2"]
    assert variants(every, "nothing-like-it") == []
    for asked, words in (
        ("wafff<2", "`wafff` is not a measure, nor a number of these results; did you mean `waf`?"),
        ("waf<much", "`waf<much`: `much` is not a number"),
        ("'open", "a quote is not closed"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            chosen(every, asked)


def test_it_shows_runs_as_they_come_and_go(stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "growing"
    with serve(folder) as page:
        assert state(page)["of"] == 0
        seen = ""
        for i, run in enumerate(load([stored]).runs, 1):
            assert run.folder
            shutil.copytree(run.folder, folder / run.folder.name)
            found = state(page, seen=seen)
            assert (found["of"], found["shown"]) == (i, i)
            assert str(found["content"]).count('<th scope="row" data-value="1">') >= 1
            seen = str(found["digest"])
            assert "content" not in state(page, seen=seen)
        assert run.folder
        (folder / run.folder.name / "result.json").write_text("{")
        found = state(page)
        assert found["of"] == 5
        assert "result.json" in str(found["problems"])
        shutil.rmtree(folder)
        assert state(page)["of"] == 0


def test_results_of_several_folders_stand_together_and_apart(stored: Path, tmp_path: Path) -> None:
    runs = load([stored]).runs
    for name, some in (("a", runs[:2]), ("b", runs[2:5])):
        for run in some:
            assert run.folder
            shutil.copytree(run.folder, tmp_path / name / run.folder.name)
    with serve([tmp_path / "a", tmp_path / "b"]) as page:
        found = state(page)
        names = ["all", str(tmp_path / "a"), str(tmp_path / "b")]
        assert found["sets"] == [
            {"name": n, "runs": r} for n, r in zip(names, (5, 2, 3), strict=True)
        ]
        assert state(page, set=names[2])["of"] == 3
        assert state(page, where="results=a")["shown"] == 2
        code, report = ask(page, f"/{page.token}/report?set=all&where=results%3Db")
        assert (code, report.count('class="runs"')) == (200, 2)
        assert "<title>agcr, zipf: 3 runs" in report


def settled(browser: Browser, shown: str) -> None:
    """Waits until the page says how many runs it shows, and has drawn them."""
    wait_for(lambda: browser.run("document.getElementById('count').textContent") == shown)
    browser.run("window.drawn.then(() => true)")
    wait_for(lambda: not browser.run("document.getElementById('content').style.minHeight"))


TYPE = """(() => {{
  const box = document.getElementById('where');
  box.value = {};
  box.dispatchEvent(new Event('input'));
}})()"""
FIRST_COLUMN = (
    "[...document.querySelector('table.runs').tBodies[0].rows]"
    ".map((row) => row.cells[1].textContent)"
)


@looks
def test_the_page_filters_sorts_and_compares(
    browser: Browser, page: Server, stored: Path, width: int, dark: bool
) -> None:
    browser.open(page.address, width, dark=dark)
    settled(browser, "Shown: 6 of 6 runs.")
    assert browser.problems() == []
    assert len(browser.run(FIRST_COLUMN)) == 6
    browser.run(TYPE.format("'victim=fifo'"))
    settled(browser, "Shown: 3 of 6 runs.")
    assert browser.run(FIRST_COLUMN) == ["0.18", "0.2", "0.3"]  # victim is the same in all
    assert browser.problems() == []
    browser.run(TYPE.format("'victim=fifo waf<no'"))
    wait_for(
        lambda: "is not a number" in browser.run("document.getElementById('wrong').textContent")
    )
    assert len(browser.run(FIRST_COLUMN)) == 3
    browser.run(TYPE.format("''"))
    settled(browser, "Shown: 6 of 6 runs.")
    # The two that are compared: the page agrees with the results.
    comparison = load([stored])
    browser.run(
        "for (const [id, value] of [['a', 0], ['b', 2], ['filter', 'read mean']]) {"
        " const control = document.getElementById(id); control.value = value;"
        " control.dispatchEvent(new Event('input')); }"
    )
    rows = browser.run(
        "[...document.querySelectorAll('#numbers tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    a, b = (comparison.runs[i].host.read.latency_ns.mean for i in (0, 2))
    row = next(row for row in rows if row[0] == "host.read.latency_ns.mean")
    assert row[3] == f"{b / a:.4g}"
    opened = browser.opened()
    assert opened.errors == []
    assert opened.requests
    assert all(url.startswith(page.address) for url in opened.requests)


def test_what_a_reader_chose_stays_when_runs_come(
    browser: Browser, stored: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "growing"
    runs = load([stored]).runs
    for run in runs[:3]:
        assert run.folder
        shutil.copytree(run.folder, folder / run.folder.name)
    with serve(folder) as page:
        browser.open(page.address, 1200, dark=False)
        settled(browser, "Shown: 3 of 3 runs.")
        browser.run("document.querySelectorAll('table.runs thead button')[2].click()")
        browser.run("document.querySelectorAll('table.runs thead button')[2].click()")
        browser.run(
            "{ const b = document.getElementById('b'); b.value = 2; b.focus();"
            " b.dispatchEvent(new Event('input')); }"
        )
        chosen_one = browser.run("document.getElementById('b').selectedOptions[0].textContent")
        last = runs[3].folder
        assert last
        shutil.copytree(last, folder / last.name)
        settled(browser, "Shown: 4 of 4 runs.")
        assert (
            browser.run(
                "document.querySelectorAll('table.runs thead th')[2].getAttribute('aria-sort')"
            )
            == "descending"
        )
        again = browser.run("document.getElementById('b').selectedOptions[0].textContent")
        assert chosen_one.split()[-1] in again
        assert browser.run("document.activeElement.id") == "b"


# --- the commands ---

EXPERIMENT = """
schema = "floatgate.experiment/1"
name = "six"
title = "Six runs"
drive = "agcr"
workload = "zipf"
seed = [1, 2, 3, 4, 5, 6]

[policy]
cost = "{policy}"

[set]
"geometry.blocks-per-plane" = 32
"ftl.spare-factor" = 0.2
"workload.requests" = 300
"""


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """A command that serves, and the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "floatgate", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert process.stderr
    line = process.stderr.readline()
    assert line.startswith("Page: http://127.0.0.1:"), line
    return process, line.split()[1]


def got(address: str) -> dict[str, object]:
    url = urlsplit(address)
    assert url.port
    return dict(json.loads(answer(url.port, f"{url.path}state")[1]))


def test_a_sweep_of_six_runs_is_seen_growing(browser: Browser, tmp_path: Path) -> None:
    gate = Gate(tmp_path, "floatgate-results/six", free=3)
    (tmp_path / "six.toml").write_text(EXPERIMENT.format(policy=gate.policy))
    process, address = started(
        tmp_path, "sweep", "six.toml", "--watch", "--workers", "2", "--allow-code"
    )
    try:
        wait_for(gate.waiting)
        browser.open(address, 1200, dark=False)
        # Two workers: one can have seen two results as the other stored the third.
        said = "document.getElementById('said').textContent"
        wait_for(lambda: re.match("[34] of 6 runs done;", browser.run(said)))
        shown = "document.getElementById('count').textContent"
        wait_for(lambda: re.fullmatch("Shown: ([34]) of \\1 runs.", browser.run(shown)))
        assert 0.4 < browser.run("document.getElementById('share').value") < 1
        gate.open()
        settled(browser, "Shown: 6 of 6 runs.")
        wait_for(lambda: browser.run(said) == "ended: 6 of 6 runs")
        assert len(browser.run(FIRST_COLUMN)) == 6
        assert browser.problems() == []
        assert all(url.startswith(address) for url in browser.opened().requests)
    finally:
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=LONG)
    assert process.returncode == 0, error
    assert "Results: floatgate-results/six" in out
    assert "The page stays until Ctrl-C." in error


def test_ctrl_c_ends_a_sweep_and_its_page(tmp_path: Path) -> None:
    gate = Gate(tmp_path, "floatgate-results/six")
    (tmp_path / "six.toml").write_text(EXPERIMENT.format(policy=gate.policy))
    process, address = started(
        tmp_path, "sweep", "six.toml", "--watch", "--workers", "2", "--allow-code"
    )
    wait_for(gate.waiting)
    assert got(address)["of"] == 0
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (130, "")
    assert "0 of 6 runs are done" in error
    with pytest.raises(ConnectionRefusedError):
        got(address)


def test_ctrl_c_is_the_usual_end_of_a_page(stored: Path, tmp_path: Path) -> None:
    process, address = started(tmp_path, "results", "--serve", str(stored))
    assert got(address)["of"] == 6
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (0, ""), error
    assert "Traceback" not in error


def test_mistakes_are_told_before_anything_is_served(tmp_path: Path, floatgate: Floatgate) -> None:
    (tmp_path / "six.toml").write_text(EXPERIMENT.format(policy="agcr"))
    for words, says in (
        (("results", "--serve", "nowhere"), "nowhere: there is no such folder"),
        (("results", "--serve", "--json"), "leave out --json, --csv and --unsafe-sql"),
        (("sweep", "six.toml", "--watch", "--dry-run"), "either --dry-run, which makes no run"),
    ):
        done = floatgate(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert says in done.stderr
