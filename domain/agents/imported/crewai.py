"""The agents of a crew: `agents.yaml` of CrewAI, one draft an agent."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.files.nodes import Fault, Fields, Items, Node, Scalar, is_null
from domain.agents.imported.draft import Draft, drafted, list_pair, row, stood, text_pair
from domain.agents.imported.loss import Became, FieldReport, tools_became
from domain.agents.imported.plan_step import shown_field, shown_id
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.files.nodes import ReadYaml

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "directoryreadtool": "list_files",
        "directorysearchtool": "search_files",
        "filereadtool": "read_file",
        "filewritertool": "write_file",
    }
)
"""What CrewAI calls tools of ours, in lower case and without underscores."""

_TEXTS = ("role", "goal", "backstory")
_WITHOUT_EFFECT = frozenset(
    {"cache", "code_execution_mode", "embedder", "function_calling_llm", "inject_date"}
    | {"date_format", "knowledge_sources", "max_reasoning_attempts", "max_retry_limit", "max_rpm"}
    | {"memory", "multimodal", "reasoning", "respect_context_window", "step_callback"}
    | {"use_system_prompt", "verbose"}
)
_LIMITS = frozenset({"max_execution_time", "max_tokens"})
_TEMPLATES = frozenset({"prompt_template", "response_template", "system_template"})
_GUARDS = frozenset({"guardrail", "guardrails", "security_config"})
_PLACE = re.compile(r"(?<!\{)\{[A-Za-z_][A-Za-z0-9_]*\}(?!\})")
_PROVIDERS = frozenset({"anthropic", "gemini", "google", "ollama", "openai", "openrouter"})


def crew_drafts(text: str, read_yaml: ReadYaml) -> tuple[tuple[Draft, ...], str]:
    """Make a draft of each agent; the text says why there is none, "" where there are some."""
    read = read_yaml(text, 1)
    if isinstance(read, Fault):
        return (), f"it is no YAML without anchors and tags, from line {read.line} on"
    if not isinstance(read, Fields):
        return (), "its root is no mapping of agents by name"
    names = [key.text for key, _ in read.pairs]
    drafts = [
        _agent(n, key.text, node, repeated=key.text in names[: n - 1])
        for n, (key, node) in enumerate(read.pairs, start=1)
    ]
    return tuple(drafts), ""


def _agent(number: int, name: str, node: Node, *, repeated: bool) -> Draft:
    shown = shown_id(number, name).replace("step ", "agent ")
    if not isinstance(node, Fields):
        says = "it is no mapping of an agent's fields"
        return Draft(shown, None, (_refused("(agent)", node, "agent_invalid", says),))
    keys = [key.text for key, _ in node.pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    rows = [_refused(shown_field(key), node, "key_repeated", "it stands twice") for key in twice]
    if repeated:
        rows.append(_refused("(agent)", node, "name_taken", "another agent has this name"))
    fields = {key.text: value for key, value in node.pairs}
    texts = {one: _text(fields.get(one)) for one in _TEXTS}
    pairs = [
        text_pair("name", name),
        text_pair("description", ": ".join(t for t in (texts["role"], texts["goal"]) if t)),
    ]
    rows += _text_rows(fields, texts)
    for key, value in node.pairs:
        if key.text not in _TEXTS:
            more, told = _field(key.text, value)
            pairs += more
            rows += told
    if "tools" not in fields:
        pairs.append(list_pair("tools", ()))
        rows.append(_no_tools())
    return drafted(shown, Fields(tuple(pairs), node.line), _body(texts), rows)


def _text(node: Node | None) -> str:
    return node.text.strip() if isinstance(node, Scalar) and not is_null(node) else ""


def _body(texts: Mapping[str, str]) -> str:
    parts = [f"You are {texts['role']}." if texts["role"] else ""]
    parts += [f"Your goal: {texts['goal']}" if texts["goal"] else "", texts["backstory"]]
    return "\n\n".join(part for part in parts if part)


def _text_rows(fields: Mapping[str, Node], texts: Mapping[str, str]) -> list[FieldReport]:
    rows: list[FieldReport] = []
    for name, text in texts.items():
        if name not in fields:
            continue
        rows.append(
            row(name, fields[name], Became.TRANSFORMED, "renamed", "it is part of the instructions")
        )
        places = len(_PLACE.findall(text))
        if places:
            says = f"CrewAI fills in {counted(places, 'place')} of it at its start, Legato none"
            step = "write what is meant, or give it with the message"
            told = row(name, fields[name], Became.TRANSFORMED, "placeholders", says, step=step)
            rows.append(told.model_copy(update={"person": True}))
    return rows


def _no_tools() -> FieldReport:
    return FieldReport(
        field="tools",
        given="absent",
        became=Became.DEFAULTED,
        code="tools_in_code",
        says="CrewAI gives tools in code, so the draft has none",
        next="name its tools in `tools:`",
        narrows=("tools",),
        person=True,
    )


def _field(name: str, node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Give what a field is here, and what became of it."""
    if name == "tools":
        return _tools(node)
    if name == "llm":
        return _model(node)
    if name == "max_iter" and not is_null(node):
        told = row(name, node, Became.TRANSFORMED, "renamed", "it is the limit of turns, maxTurns")
        return [(Scalar("maxTurns", 0), node)], [told]
    if name in _GUARDS:
        says = "it guards what the agent does, and Legato does not know it"
        return [], [_refused(name, node, "guard_unknown", says)]
    return [], [_dropped(name, node)]


def _dropped(name: str, node: Node) -> FieldReport:
    on = _text(node).casefold() == "true"
    if name == "allow_delegation":
        says = "a named agent never starts others"
        became = Became.DROPPED if on else Became.MAPPED
        narrows = ("delegation",) if on else ()
        return row(name, node, became, "never_delegates", says, narrows=narrows)
    if name == "allow_code_execution":
        says = "name shell among its tools if it is to run commands"
        narrows = ("tools",) if on else ()
        return row(name, node, Became.DROPPED, "no_code", says, narrows=narrows, person=on)
    if name in _LIMITS:
        says = "limits of time and tokens are the call's"
        return row(name, node, Became.DROPPED, "limit_lost", says, widens=(name,), person=True)
    if name in _TEMPLATES:
        says = "prompts have one form here"
        return row(name, node, Became.DROPPED, "template_lost", says, person=True)
    known = name in _WITHOUT_EFFECT or is_null(node)
    code = "without_effect" if known else "field_unknown"
    says = "no agent file has such a field"
    return row(shown_field(name), node, Became.DROPPED, code, says, person=not known)


def _tools(node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Read the tools by name; what is none of ours narrows, null is none as without the field."""
    if is_null(node):
        says = "null names no tool, so the draft has none"
        told = row("tools", node, Became.DEFAULTED, "tools_in_code", says, person=True)
        return [list_pair("tools", ())], [told]
    values = node.values if isinstance(node, Items) else (node,)
    names: list[str] = []
    rows: list[FieldReport] = []
    for n, one in enumerate(values):
        word = _text(one).replace("_", "").casefold()
        if word in TOOLS:
            names.append(TOOLS[word])
            continue
        says = "nothing here does what it did"
        mend = "take it out, or name what should stand for it"
        told = row(f"tools[{n}]", one, Became.DROPPED, "tool_without_twin", says, step=mend)
        rows.append(told.model_copy(update={"narrows": ("tools",), "person": True}))
    ours = tuple(dict.fromkeys(names))
    says = tools_became(len(values), len(ours))
    told = row("tools", node, Became.TRANSFORMED, "renamed", says)
    return [list_pair("tools", ours)], [told, *rows]


def _model(node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Read `provider/model`; a model without its provider is the call's to name."""
    inner = {key.text: value for key, value in node.pairs} if isinstance(node, Fields) else {}
    provider, slash, model = _text(inner.get("model") if inner else node).partition("/")
    if not slash or provider not in _PROVIDERS or not model:
        says = "it names no model of a provider that Legato speaks to"
        step = "name it with `provider:` and `model:`"
        became = Became.DROPPED if stood(node) == "value" else Became.DEFAULTED
        return [], [row("llm", node, became, "model_unknown", says, step=step)]
    ours = "google" if provider == "gemini" else provider
    told = [row("llm", node, Became.TRANSFORMED, "model_named", "it is provider and model")]
    if len(inner) > 1:
        says = "settings of a model are the call's"
        told.append(row("llm", node, Became.DROPPED, "settings_lost", says))
    return [text_pair("provider", ours), text_pair("model", model)], told


def _refused(name: str, node: Node, code: str, says: str) -> FieldReport:
    return row(name, node, Became.REFUSED, code, says, step="mend it in the file", person=True)
