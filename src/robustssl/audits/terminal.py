"""An audit as plain text."""

import textwrap
from pathlib import Path

from tabulate import tabulate

from robustssl.audits import advice, headline
from robustssl.audits.audit import Audit
from robustssl.audits.differences import INTERVAL
from robustssl.audits.folder import FILES, MODEL
from robustssl.audits.page import contents


def describe(audit: Audit, page: Path, width: int = 80) -> str:
    """The answer first, and last the files that lie beside the page."""
    said = contents(audit)

    def wrap(*texts: str) -> list[str]:
        return [
            textwrap.indent(textwrap.fill(text, width - 2, break_on_hyphens=False), "  ")
            for text in texts
            if text
        ]

    def table(
        rows: list[list[str]], *headers: str, widths: list[int | None] | None = None
    ) -> list[str]:
        made = tabulate(rows, headers, tablefmt="plain", disable_numparse=True, maxcolwidths=widths)
        return [textwrap.indent(made, "  ")] if rows else []

    shares = [[row["kind"], row["text"], row["meaning"]] for row in said["shares"]]
    kept = [[f"{share:.0%}", f"{gain:+.3f}"] for share, gain in audit.keeping.gains.items()]
    gains = [
        [row["title"], f"{row['score']:.3f}", "" if row["gain"] is None else f"{row['gain']:+.3f}"]
        for row in said["gains"]
    ]
    telling, lost = [[*row] for row in said["telling"]], [f"{n} ({how})" for n, how in said["lost"]]
    return "\n".join(
        [
            *([textwrap.fill(audit.time, width), ""] if audit.time else []),
            f"{said['question']} {headline.short(audit.verdict)}",
            *wrap(f"{said['sentence']} {said['worth']}"),
            *wrap(f"{said['advice']} {said['caveat']} {said['there']}".rstrip()),
            "",
            *wrap(said["keeping"]),
            *table(kept[1:], "rows used", f"gain [{INTERVAL}]"),
            "",
            advice.HOW_INCONSISTENT,
            *wrap(" ".join([said["size"], *said["notes"]])),
            *wrap(advice.SHARE),
            *table(shares, "kind", f"t [{INTERVAL}]", "", widths=[None, None, width - 36]),
            *wrap(said["auroc"], said["classes"]),
            *wrap(said["how_telling"] if telling else ""),
            *table(telling, "", "labeled rows", "unlabeled rows", widths=[width // 3 - 2] * 3),
            *wrap(f"{advice.LOST} {', '.join(lost)}." if lost else ""),
            "",
            advice.MODELS,
            *table(
                gains, "model", said["score"], f"gain [{INTERVAL}]", widths=[width - 46, None, None]
            ),
            *wrap(said["measured"], *said["failed"]),
            "",
            advice.WHAT_TO_USE,
            *wrap(said["use"]),
            textwrap.indent(advice.loading(audit.pair.kind, str(page.parent / MODEL)), "  "),
            "",
            *(
                f"{what.capitalize()}: {page.parent / name}"
                for what, name in FILES.items()
                if (page.parent / name).exists()
            ),
        ]
    )
