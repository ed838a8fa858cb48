"""What is found out and made before a Review+Fix run on a person's own repository."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.definition import MOST_WAIT
from domain.agents.request import AgentRequest
from domain.agents.roles import REVIEW_FIX
from domain.errors import LegatoError, problems, refused
from domain.runs.budget import Budget
from domain.runs.model_name import FORMS, parse_model
from legato.paths import absolute_model
from legato.workspaces import Wanted, Workspace, find_folder, open_workspace
from legato.worktrees import (
    Repository,
    Tree,
    find_repository,
    make_snapshot,
    make_worktree,
    remove_worktree,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from legato.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks: where, by which model, proved how, and with which words beside.

    `checks` empty takes what the workspace declares or is set up for. `max_tokens` bounds
    one answer. `skills` None are the agent's own only; names add those of the workspace.
    """

    path: str
    model: str
    budget: Budget
    checks: tuple[str, ...] = ()
    skills: tuple[str, ...] | None = None
    focus: str = ""
    max_tokens: int = 4096
    fallback: str = ""
    max_wait: float = MOST_WAIT
    in_place: bool = False
    attended: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that was found out before anything is made; `repository` None works without git."""

    asked: Asked
    workspace: Workspace
    repository: Repository | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a person may not expect."""
        if self.repository is None:
            return ("no git repository: what is changed can be seen in `legato show` only",)
        count, commit = self.repository.uncommitted, self.repository.head[:10]
        if not count:
            return ()
        many = "1 uncommitted change" if count == 1 else f"{count} uncommitted changes"
        if self.asked.in_place:
            return (f"{many} of your own in the tree: the run works on top of them",)
        note = f"{many} of your own not in the run's worktree: it begins at commit {commit}; "
        return (f"{note}commit first, or use --in-place, to have them reviewed too",)


def prepare(settings: Settings, asked: Asked) -> Prepared:
    """Look at workspace, checks, repository and model; nothing is made but the stores.

    Raises:
        LegatoError: `workspace_not_found`, `workspace_refused`; else the one problem
            (`model_missing`, `model_unknown`, `checks_not_found`, `workspace_file_invalid`,
            `not_a_repository`, `no_commits` ...), or `launch_refused` with all of several.

    """
    folder = find_folder(asked.path, settings.home)
    wanted = Wanted(checks=asked.checks)
    found: list[LegatoError] = []

    def attempt(work: Callable[[], object]) -> object:
        try:
            return work()
        except LegatoError as error:
            found.append(error)
            return None

    attempt(lambda: _require_model(asked.model))
    workspace = attempt(lambda: open_workspace(settings, folder, wanted))
    repository = attempt(lambda: _repository(folder, in_place=asked.in_place))
    if found or not isinstance(workspace, Workspace):
        raise _all_at_once(found)
    return Prepared(asked, workspace, repository if isinstance(repository, Repository) else None)


def _require_model(model: str) -> None:
    if not model.strip():
        raise refused(
            "model_missing",
            "Review+Fix needs a model and none is named.",
            cause="there is no --model",
            next="name one with --model: " + ", ".join(FORMS),
            details={"forms": list(FORMS)},
        )
    parse_model(model)


def _repository(folder: Path, *, in_place: bool) -> Repository | None:
    try:
        return find_repository(folder)
    except LegatoError as error:
        if in_place and error.code in {"not_a_repository", "no_commits"}:
            return None
        raise


def _all_at_once(found: Sequence[LegatoError]) -> LegatoError:
    if len(found) == 1:
        return found[0]
    return problems(
        "launch_refused",
        "the run cannot be started",
        [f"{error.code}: {error.message} Next: {error.next}" for error in found],
        next="mend every problem named, then run the command again",
    )


def begin(home: Path, run_id: str, prepared: Prepared) -> tuple[AgentRequest, Tree | None]:
    """Make the tree that the run works in; again under the same run, give the first.

    Raises:
        LegatoError: `git_failed`.

    """
    workspace, asked = prepared.workspace, prepared.asked
    tree: Tree | None = None
    if prepared.repository is not None and asked.in_place:
        tree = make_snapshot(home, run_id, prepared.repository, workspace.folder)
    elif prepared.repository is not None:
        tree = make_worktree(home, run_id, prepared.repository)
    request = AgentRequest(
        role=REVIEW_FIX,
        message=asked.focus,
        model=absolute_model(asked.model),
        fallback=absolute_model(asked.fallback),
        workspace=tree.workspace if tree is not None else str(workspace.folder),
        stores=str(workspace.stores),
        checks=workspace.checks,
        fixers=workspace.fixers,
        skills=asked.skills,
        attended=asked.attended,
        budget=asked.budget,
        max_tokens=asked.max_tokens,
        max_wait=asked.max_wait,
        environment=workspace.environment,
    )
    return request, tree


def abandon(home: Path, tree: Tree | None) -> None:
    """Remove the tree of a run that was never accepted."""
    if tree is not None and tree.branch:
        remove_worktree(home, tree)
