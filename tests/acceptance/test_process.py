"""The commands as their users run them: real processes, real signals, embedded Postgres."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.processes import START_S, Commands, data_directory, free_port


@pytest.fixture
def commands(blog: Path) -> Iterator[Commands]:
    with data_directory() as folder:
        running = Commands(folder, blog)
        yield running
        running.close()


def asked(url: str, question: str = "At how many degrees do I bake bread?") -> dict[str, Any]:
    response = httpx2.post(
        f"{url}/v1/ask", json={"question": question}, timeout=30, trust_env=False
    )
    return dict(response.json())


def test_run_ingests_serves_prints_its_address_and_questions_to_try(commands: Commands) -> None:
    process, url = commands.serving()
    assert asked(url)["statements"][0]["text"] == "Bake at 230 degrees for 40 minutes:"
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=START_S)[0]
    assert "2 added" in output
    assert f"listening on {url}/" in output
    assert "ANTHROPIC_API_KEY" in output
    assert output.count("?\n") == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_and_postgres_too(
    commands: Commands, number: signal.Signals
) -> None:
    process, _ = commands.serving()
    assert commands.postgres()
    process.send_signal(number)
    process.communicate(timeout=START_S)
    assert process.returncode == 0
    assert commands.postgres() == []


def test_a_signal_before_serving_stops_postgres_too(commands: Commands) -> None:
    process = commands.start("run", "--port", str(free_port()))
    deadline = time.monotonic() + START_S
    while not commands.postgres() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=START_S)
    assert commands.postgres() == []


def test_after_kill_9_the_next_run_recovers_with_nothing_lost(commands: Commands) -> None:
    process, _ = commands.serving()
    process.kill()
    process.wait()
    assert commands.postgres()
    process, url = commands.serving()
    assert asked(url)["outcome"] == "answer"
    process.send_signal(signal.SIGTERM)
    assert "2 unchanged" in process.communicate(timeout=START_S)[0]
    assert commands.postgres() == []


def test_after_postgres_itself_was_killed_the_next_run_recovers(commands: Commands) -> None:
    process, _ = commands.serving()
    process.kill()
    process.wait()
    [postmaster] = commands.postgres()
    postmaster.kill()
    postmaster.wait(10)
    process, _ = commands.serving()
    process.send_signal(signal.SIGTERM)
    assert "2 unchanged" in process.communicate(timeout=START_S)[0]


def test_a_stale_pid_file_that_names_a_strangers_process_is_cleared(commands: Commands) -> None:
    assert commands.run("ingest").returncode == 0
    pgdata = commands.data_dir / "postgres"
    (pgdata / "postmaster.pid").write_text(f"{os.getpid()}\n{pgdata}\n1\n5432\n\n\n0 0\nready\n")
    (pgdata / ".handle_pids.json").write_text("[999999]")
    result = commands.run("search", "bread", "--json")
    assert result.returncode == 0, result.stderr
    assert commands.postgres() == []


def test_postgres_killed_under_a_running_service_comes_back(commands: Commands) -> None:
    _, url = commands.serving()
    [postmaster] = commands.postgres()
    postmaster.kill()
    postmaster.wait(10)
    down = asked(url)
    assert down.get("code") == "store_unavailable" or down["outcome"] == "answer"
    deadline = time.monotonic() + START_S
    while asked(url).get("outcome") != "answer":
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_second_process_shares_the_database_and_leaves_it_running(commands: Commands) -> None:
    process, url = commands.serving()
    result = commands.run("search", "how hot is the oven", "--json")
    assert json.loads(result.stdout)["excerpts"][0]["slug"] == "bread"
    assert asked(url)["outcome"] == "answer"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=START_S)
    assert commands.postgres() == []


def complaint(result: subprocess.CompletedProcess[str]) -> str:
    """The one line a failed command ends with."""
    [line] = [line for line in result.stderr.splitlines() if line.startswith("ask-the-blog:")]
    assert "Traceback" not in result.stderr
    return line


def test_a_port_in_use_is_one_line_that_says_what_to_do(commands: Commands) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = commands.run("run", "--port", str(port))
    assert result.returncode == 2
    assert complaint(result) == (
        f"ask-the-blog: cannot listen on 127.0.0.1:{port} (Address already in use); choose "
        "another with --host and --port, or ASK_BLOG_HOST and ASK_BLOG_PORT"
    )


def test_a_folder_without_articles_is_one_line(commands: Commands, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = commands.run("run", "--content", str(empty), "--port", str(free_port()))
    assert result.returncode == 1
    assert "holds no .md or .mdx file: point ASK_BLOG_CONTENT elsewhere" in complaint(result)
    assert commands.postgres() == []


def test_a_data_directory_that_cannot_be_written_is_one_line(
    commands: Commands, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = commands.run("ingest", ASK_BLOG_DATA_DIR=str(tmp_path / "file" / "data"))
    assert result.returncode == 1
    assert "set ASK_BLOG_DATA_DIR to a folder you may write to" in complaint(result)


def test_a_database_that_is_down_is_one_line(commands: Commands) -> None:
    result = commands.run("ask", "bread?", DATABASE_URL="postgresql://127.0.0.1:1/x")
    assert result.returncode == 1
    assert "connecting to Postgres" in complaint(result)


def test_an_unknown_setting_is_named_with_the_nearest_one(commands: Commands) -> None:
    result = commands.run("doctor", ASK_BLOG_PROT="1")
    assert result.returncode == 2
    assert "did you mean ASK_BLOG_PORT?" in complaint(result)


def test_ingest_counts_as_json_and_exits_1_when_a_file_cannot_be_read(
    commands: Commands,
) -> None:
    (commands.blog / "latin.md").write_bytes("---\ntitle: É\n---\nx".encode("latin-1"))
    result = commands.run("ingest", "--json")
    assert result.returncode == 1
    counts = json.loads(result.stdout)
    assert {k: counts[k] for k in ("added", "changed", "unchanged", "removed", "truncated")} == {
        "added": 2,
        "changed": 0,
        "unchanged": 0,
        "removed": 0,
        "truncated": 0,
    }
    assert counts["failures"][0]["message"].startswith("latin.md: byte 11 is not UTF-8")


def test_inspect_prints_one_json_line_for_each_article(commands: Commands) -> None:
    result = commands.run("inspect", str(commands.blog), "--json")
    bikes, bread = (json.loads(line) for line in result.stdout.splitlines())
    assert [bikes["slug"], bread["slug"]] == ["bikes", "bread"]
    assert [s["anchor"] for s in bread["sections"]] == ["", "the-dough", "the-oven"]
    for article in (bikes, bread):
        assert article["coverage"] == 1
        for chunk in article["chunks"]:
            assert article["text"][chunk["start"] : chunk["end"]].strip()
    assert "import" not in bikes["text"]
    assert "Clean the rim with alcohol first." in bikes["text"]


def test_ask_prints_an_answer_for_people_and_for_programs(commands: Commands) -> None:
    commands.run("ingest")
    question = "At how many degrees do I bake bread?"
    for_people = commands.run("ask", question)
    assert "Bake at 230 degrees for 40 minutes: [1]" in for_people.stdout
    assert "/blog/bread#the-oven:~:text=" in for_people.stdout
    outcome = json.loads(commands.run("ask", question, "--json").stdout)
    assert outcome["written_by"] == "quotes"


def test_doctor_finds_what_is_wrong_and_says_how_to_mend_it(commands: Commands) -> None:
    before = commands.run("doctor")
    assert before.returncode == 1
    assert "run: python -m service migrate" in before.stdout
    commands.run("ingest")
    after = commands.run("doctor", "--json")
    assert after.returncode == 0, after.stdout
    assert {c["name"] for c in json.loads(after.stdout)} == {
        *("model", "guard", "content", "key", "database", "migrations", "index", "budget"),
    }


def test_a_stored_question_can_be_replayed_and_spending_is_shown(commands: Commands) -> None:
    commands.run("ingest")
    asked_id = json.loads(commands.run("ask", "How hot is the oven?", "--json").stdout)["id"]
    replayed = commands.run("replay", asked_id)
    assert "How hot is the oven?" in replayed.stdout
    assert "bread#the-oven" in replayed.stdout
    assert json.loads(commands.run("replay", asked_id, "--json").stdout)["id"] == asked_id
    unknown = commands.run("replay", "nothing")
    assert (unknown.returncode, "no question with the id" in unknown.stderr) == (1, True)
    assert "0.0000 USD in 31 days" in commands.run("spend").stdout


def test_models_are_listed_with_their_licences(commands: Commands) -> None:
    result = commands.run("models")
    assert "minilm-l6-v2-int8" in result.stdout
    assert "bge-small-en-v1.5" in result.stdout


@pytest.mark.parametrize("command", ["serve", "run", "ingest", "ask", "search", "inspect"])
def test_every_command_explains_itself(commands: Commands, command: str) -> None:
    result = commands.run(command, "--help")
    assert result.returncode == 0
    assert "usage: python -m service" in result.stdout


def test_bad_use_exits_2(commands: Commands) -> None:
    assert commands.run("frobnicate").returncode == 2
