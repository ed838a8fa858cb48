"""The table of what can be wrong with an agent file: each code's level, sentence and next step.

No sentence repeats what a file holds: fields are named by our names, values by their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Level(StrEnum):
    """What a problem does to its definition.

    `dropped`: there is none. `skipped`: the file is none at all. `error`: it is kept, but
    what it says cannot stay so. `note`: it is kept, narrower or plainer than written.
    """

    DROPPED = "dropped"
    SKIPPED = "skipped"
    ERROR = "error"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table: the level, the sentence with its places, the next step."""

    level: Level
    says: str
    next: str


_D, _S, _E, _N = Level.DROPPED, Level.SKIPPED, Level.ERROR, Level.NOTE

CODES: Mapping[str, Kind] = MappingProxyType(
    {
        # The file.
        "file_unreadable": Kind(
            _D, "the file cannot be read", "make it a regular file that you can read"
        ),
        "file_outside": Kind(
            _D, "the file is a link out of its folder", "copy the file into the folder"
        ),
        "file_too_large": Kind(
            _D,
            "the file has more than {most} bytes",
            "keep instructions short; move the rest to skills",
        ),
        "not_text": Kind(_D, "the file is not UTF-8 text", "save it as UTF-8"),
        "not_an_agent": Kind(
            _S,
            "the file does not begin with a header, so it is no agent",
            "begin it with ---, name:, description: and ---; a README needs nothing",
        ),
        "folder_missing": Kind(
            _N,
            "the folder that was named for agents is not there",
            "correct its path, or make it",
        ),
        "folders_below": Kind(
            _N,
            "the folder has folders of its own, which are not searched for agents",
            "move their files up, or name the folders with --agents-dir",
        ),
        # The header.
        "header_unclosed": Kind(
            _D,
            "the header has no closing line ---",
            "close the header with a line that is only ---",
        ),
        "header_cut": Kind(
            _D,
            "the header ends at a line of dashes, and more of it seems to follow",
            "keep one line --- before the header and one after it",
        ),
        "header_too_large": Kind(
            _D,
            "the header has more than {most} bytes",
            "move the instructions below the closing ---",
        ),
        "header_delimiter": Kind(
            _N,
            "the header is not between two lines that are exactly ---",
            "write --- alone, in the first line and after the header",
        ),
        "header_repaired": Kind(
            _N,
            "the header is no YAML from here on; its known fields were read line by line",
            "quote the value, or write it below `description: >-`, indented",
        ),
        "field_unreadable": Kind(
            _D,
            "{field} cannot be read, and losing it would give the agent more than was meant",
            "write {field} as YAML",
        ),
        "field_hidden": Kind(
            _D,
            "what looks like {field} stands inside the text of another field",
            "write it as a line of its own that begins with `{field}:`",
        ),
        "field_lost": Kind(_N, "{field} cannot be read and is left out", "write {field} as YAML"),
        "key_misspelt": Kind(
            _D, "a key looks like {field} and is not spelt so", "write `{field}:`"
        ),
        "key_restricts": Kind(
            _D,
            "a key restricts the agent in a way that Legato does not know",
            "say it with tools, disallowedTools or permissionMode, and remove the key",
        ),
        "key_repeated": Kind(
            _N, "{field} stands more than once; the first counts", "keep one {field}"
        ),
        "key_ambiguous": Kind(_D, "{field} stands more than once", "keep one {field}"),
        # What every definition has.
        "name_missing": Kind(_D, "there is no name", "write `name: ...` into the header"),
        "name_cut": Kind(
            _N, "the name has more than {most} bytes and is cut", "give it a shorter name"
        ),
        "name_taken": Kind(
            _D,
            "another file of the folder has this name, but for case or punctuation",
            "give it a name of its own; {winner} has this one",
        ),
        "name_shadowed": Kind(
            _D,
            "an agent of this name comes from a place that goes before",
            "rename it, or remove {winner}",
        ),
        "description_missing": Kind(
            _D,
            "there is no description",
            "say in one line when to call this agent: `description: ...`",
        ),
        "description_cut": Kind(
            _N,
            "the description has {size} bytes, more than {most}, and is cut",
            "say in one line when to call the agent; move examples to the body",
        ),
        "body_cut": Kind(
            _N,
            "the body has {size} bytes, more than {most}, and is cut",
            "shorten it, or move parts of it to skills",
        ),
        "body_empty": Kind(
            _N, "there are no instructions below the header", "write them below the closing ---"
        ),
        "prompt_in_header": Kind(
            _D,
            "the instructions stand in the header, where they are not read",
            "move them below the closing ---",
        ),
        # What decides on authority.
        "field_null": Kind(
            _D,
            "{field} has no value, which could mean all or none",
            "write [] for none, or leave the line out",
        ),
        "field_invalid": Kind(_D, "{field} is not what it must be", "{expected}"),
        "too_many": Kind(_D, "{field} has more than {most} entries", "name fewer"),
        "tools_star": Kind(
            _N,
            "a bare * in tools means what leaving it out means: the tools of the call",
            "leave the line out",
        ),
        "tool_unknown": Kind(
            _N,
            "tools names what is no tool of Legato, and only a plug-in could bring: {entries}",
            "see the names in docs/agents.md, or remove it",
        ),
        "tool_delegates": Kind(
            _N,
            "tools names what starts other agents, which a named agent cannot: {entries}",
            "remove it",
        ),
        "tool_argument": Kind(
            _N,
            "tools allows some calls of a tool only, so the agent does not get it: {entries}",
            "name the whole tool, or leave it out",
        ),
        "deny_unknown": Kind(
            _E,
            "disallowedTools names what is no tool, so it takes nothing away: {entries}",
            "see the names in docs/agents.md, or give a plug-in's with --tool",
        ),
        "deny_argument": Kind(
            _N,
            "disallowedTools names some calls of a tool, which is taken away whole: {entries}",
            "name the whole tool",
        ),
        "mode_unsupported": Kind(
            _D,
            "permissionMode restricts the agent in a way that Legato does not know",
            "write plan for an agent that changes nothing, or leave it out",
        ),
        "mode_raises": Kind(
            _N,
            "permissionMode asks for more than the call gives, which no file can",
            "leave it out; who starts the agent decides",
        ),
        "hook_unsupported": Kind(
            _D,
            "hook {place} is no command of a phase known to Legato, and could be a guard",
            "write `PHASE: command`; docs/agent-files.md lists the phases",
        ),
        "hook_blank": Kind(
            _N, "hook {place} has no command or no phase, so there is nothing to run", "remove it"
        ),
        "hook_idle": Kind(
            _N,
            "hook {place} belongs to a phase that only notifies and that Legato does not have",
            "remove it",
        ),
        "driver_hooks": Kind(
            _N,
            "a remote source brought hooks with it: their commands would run on this machine",
            "make sure that you trust that source as you trust this machine",
        ),
        # What decorates or narrows.
        "value_null": Kind(
            _N,
            "{field} has no value and counts as left out; a # begins a comment unless quoted",
            "give it a value, or leave the line out",
        ),
        "value_ignored": Kind(_N, "{field} is not what it must be and is left out", "{expected}"),
        "memory_unknown": Kind(
            _N,
            "memory is neither user nor project, so there is none",
            "write user or project, or leave it out",
        ),
        "server_local": Kind(
            _N,
            "server {place} of mcpServers does not speak Streamable HTTP; it is left out",
            "give the url of a server that speaks Streamable HTTP",
        ),
        "server_invalid": Kind(
            _N,
            "server {place} of mcpServers has no usable name or url; it is left out",
            "name it by letters, digits, - and single _; give an http(s) url without variables",
        ),
        "server_restricts": Kind(
            _N,
            "server {place} of mcpServers is limited in a way unknown to Legato; it is left out",
            "say which of its tools to take or not in tools and disallowedTools",
        ),
        "server_repeated": Kind(
            _N,
            "server {place} of mcpServers has a name that another has",
            "give it a name of its own",
        ),
        "server_exposed": Kind(
            _E,
            "server {place} of mcpServers would be reached in clear text; it is left out",
            "use https://, or an address of this machine",
        ),
        "server_secret": Kind(
            _E,
            "the url of server {place} of mcpServers shows a secret; it is left out",
            "put the secret into a header, as ${{VARIABLE}}",
        ),
        "header_secret": Kind(
            _E,
            "header {entry} of server {place} of mcpServers is written out; its value was not kept",
            "write ${{VARIABLE}}, set it where the worker runs, and change the secret",
        ),
        "header_invalid": Kind(
            _E,
            "header {entry} of server {place} of mcpServers is unusable; the server is left out",
            "write `Name: Bearer ${{VARIABLE}}`",
        ),
        "header_forbidden": Kind(
            _E,
            "header {entry} of server {place} of mcpServers asks for a variable of Legato's",
            "use one of your own, no model provider's key either; the server is left out",
        ),
        "wire_invalid": Kind(
            _D,
            "entry {place} of the remote source is no definition",
            "see the contract in docs/agent-files.md",
        ),
        "agents_too_many": Kind(
            _E,
            "more than {most} agents come from one place; the others are left out",
            "keep fewer there",
        ),
    }
)
"""Every code. The page docs/agent-files.md lists them, and a test compares."""
