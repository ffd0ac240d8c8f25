"""A server by which an assistant audits two files: the model context protocol over stdio."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from robustssl.audits.audit import STEPS, audit
from robustssl.errors import InputError, bounded

LARGEST = 500 * 10**6  # bytes of a file


def make_server() -> Any:
    """A server with one tool, which audits two files."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise InputError("the server needs mcp: pip install 'robustssl[mcp]'") from error

    server = MCPServer("robustssl")

    async def answer(
        context: Context,
        labeled: str,
        unlabeled: str,
        target: str,
        text: str | None = None,
        drop: list[str] | None = None,
        group: str | None = None,
        time: str | None = None,
        score: str = "accuracy",
    ) -> dict[str, Any]:
        loop, done = asyncio.get_running_loop(), 0

        def step() -> None:
            nonlocal done
            done += 1
            asyncio.run_coroutine_threadsafe(context.report_progress(done, STEPS), loop).result()

        options = {"text": text, "drop": drop or (), "group": group, "time": time, "score": score}
        work = partial(audit_files, labeled, unlabeled, target, step=step, **options)
        try:
            return await asyncio.to_thread(work)
        except (InputError, OSError) as error:
            raise ToolError(bounded(str(error))) from error

    server.add_tool(
        answer,
        name="audit",
        description=TOOL,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    return server


TOOL = """Should a classifier be trained on unlabeled rows, too? Answers yes, no or cannot tell, and
says with which model, what the unlabeled rows are worth in labels, and how inconsistent they are
with the labeled rows. Takes a minute or two.

labeled, unlabeled: paths of csv or Parquet files. target: the column of the classes in the first.
text: the column of texts to learn from. drop: columns to ignore. group: column of rows that belong
together. time: column that says when a row was made. score: accuracy, balanced_accuracy, auroc or
log_loss."""


def audit_files(labeled: str, unlabeled: str, target: str, **options: Any) -> dict[str, Any]:
    """The document of an audit that reads these two files and nothing else, and writes nothing:
    texts are compared by their words, since other encoders are fetched.
    """
    for path in map(Path, (labeled, unlabeled)):
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} has more than {LARGEST:,} bytes")
    return audit(labeled, unlabeled, target, encoder="tfidf", **options).to_dict()
