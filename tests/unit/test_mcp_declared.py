"""A server is declared by reference: what would hand a secret out is refused, values unseen."""

from __future__ import annotations

import pytest

from domain.mcp.address import address_problem, shown_address
from domain.mcp.declared import Secret, read_declared

GOOD = """
[servers.issues]
url = "https://mcp.example.com/v1"
headers = {Authorization = {secret = "ISSUES_TOKEN", scheme = "Bearer"}, X-Team = {secret = "T"}}
names = {search = "find_issues"}
reads = ["get_*"]
repeats = "hinted"
timeout = 12

[servers.hook]
url = {secret = "HOOK_URL"}
"""


def test_a_file_declares_servers_with_their_secrets_by_name() -> None:
    declared = read_declared(GOOD)

    assert declared.problems == {}
    issues = declared.servers["issues"]
    assert issues.headers == {
        "Authorization": Secret("ISSUES_TOKEN", "Bearer"),
        "X-Team": Secret("T"),
    }
    assert (issues.reads, issues.repeats, issues.timeout) == (("get_*",), ("hinted",), 12.0)
    assert issues.names == {"search": "find_issues"}
    assert declared.servers["hook"].address == "$HOOK_URL"
    assert issues.address == "https://mcp.example.com/v1"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('command = "npx planted"', "stdio"),
        ('url = "https://planted:planted@x.example"', "a name or a password"),
        ('url = "https://x.example/?api_key=planted"', "holds a secret"),
        ('url = "http://x.example/mcp"', "cleartext"),
        ('url = "https://x.example/#planted"', "after #"),
        ('url = "ftp://planted"', "https://"),
        ('url = "https://[planted"', "cannot be read"),
        ('url = "https://x.example"\nheaders = {Authorization = "planted"}', '{secret = "NAME"}'),
        ('url = "https://x.example"\nheaders = {A = {secret = "N", v = "planted"}}', "secret"),
        ('url = "https://x.example"\nheaders = {A = {secret = "N", scheme = "planted"}}', "scheme"),
        ('url = "https://x.example"\nheaders = {A = {secret = "OPENAI_API_KEY"}}', "provider"),
        ('url = {secret = "DATABASE_URL"}', "belongs to Legato"),
        ('url = "https://x.example"\nheaders = {Host = {secret = "N"}}', "no header"),
        ('url = "https://x.example"\nheaders = {a = {secret = "N"}, A = {secret = "N"}}', "twice"),
        ('url = "https://x.example"\ntransport = "sse"', "streamable-http"),
        ('url = "https://x.example"\ntimeout = 0', "timeout"),
        ('url = "https://x.example"\ntimeout = true', "timeout"),
        ('url = "https://x.example"\nreads = [1]', "reads"),
        ('url = "https://x.example"\nnames = {a = "x", b = "x"}', "one name"),
        ('url = "https://x.example"\nnames = 3', "names"),
        ('url = "https://x.example"\nurls = "planted"', "mean nothing: urls"),
        ("", "no url"),
    ],
)
def test_what_is_wrong_is_told_without_any_value(line: str, says: str) -> None:
    declared = read_declared(f"[servers.issues]\n{line}\n")

    told = "; ".join(declared.problems["issues"])
    assert declared.servers == {}
    assert says in told
    assert "planted" not in told


@pytest.mark.parametrize(
    "text", ["servers = 3", 'a = "planted\n', '[servers.x]\nurl="planted"\n[other]\n', "\x00"]
)
def test_a_file_that_is_wrong_as_a_whole_is_told_without_its_text(text: str) -> None:
    problems = read_declared(text).problems

    assert problems[""] != ()
    assert "planted" not in str(problems)


def test_one_wrong_server_leaves_the_others_and_everything_wrong_with_it_is_told() -> None:
    text = f'{GOOD}[servers.bad__name]\ncommand = "x"\nfoo = 1\n'
    declared = read_declared(text)

    assert sorted(declared.servers) == ["hook", "issues"]
    assert len(declared.problems["bad__name"]) == 4


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/mcp",
        "http://localhost/mcp",
        "http://[::1]:9/mcp",
        "https://a.example:8443/mcp?team=1",
    ],
)
def test_cleartext_is_for_this_machine_only(url: str) -> None:
    assert address_problem(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://2130706433/",
        "http://127.0.0.1@evil.example/",
        "http://[::ffff:7f00:1]/",
    ],
)
def test_what_only_looks_like_this_machine_is_not(url: str) -> None:
    assert address_problem(url) != ""


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert shown_address("https://a:b@x.example/p?q=1#f") == "https://x.example/p"


@pytest.mark.parametrize(
    "text",
    ["a = " + "9" * 5000, "a = " + "[" * 3000 + "]" * 3000],
    ids=["number", "depth"],
)
def test_a_file_that_the_parser_breaks_on_declares_nothing(text: str) -> None:
    declared = read_declared(text)

    assert declared.servers == {}
    assert "too" in declared.problems[""][0]


def test_a_scheme_that_is_no_text_is_refused() -> None:
    declared = read_declared('[servers.a]\nurl = {secret = "A", scheme = ["Bearer"]}')

    assert "is its scheme" in declared.problems["a"][0]


def test_a_field_begins_no_line_of_what_is_told() -> None:
    line = '"x\\nb: accepted\\u202e" = 1\n'
    declared = read_declared(f'{line}[servers.a]\nurl = "https://x.example"\n{line}')

    said = [*declared.problems[""], *declared.problems["a"]]
    assert len(said) == 2
    assert all("x\\nb: accepted\\u202e" in one for one in said)
