"""Running a study, and how far it is."""

from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption
from robustssl.cli._print import duration, say, warn


def run(
    study: Annotated[str, typer.Argument(help="A study's name, or a YAML file.")],
    store: StoreOption = DEFAULT_STORE,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", "-a", help="One more than the study has, such as my_module:Mine."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part of the study: dataset=wine, algorithm=tsvm, environment=label."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Processes; all cores by default.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run cells again that failed before.")
    ] = False,
    keep_predictions: Annotated[
        bool,
        typer.Option("--keep-predictions", help="Keep the test predictions, not only a digest."),
    ] = False,
    engine: Annotated[
        str, typer.Option(help="local: processes on this machine; ray: a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Of a running Ray cluster; without, one is started here.")
    ] = None,
    gpu_share: Annotated[
        float,
        typer.Option(help="The part of a GPU that a curve of nets takes; 0.25: four at once."),
    ] = 1.0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which a cell is ended, as failed.")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="Gigabytes beyond which a process gets none, as failed.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many cells and about how long; run none.")
    ] = False,
) -> None:
    """Run the cells of a study that the store lacks.

    Stop it whenever you like and run it again: it goes on where it was. `robustssl list studies`
    shows the named studies. A study of your own is a YAML file:

    \b
        algorithms: [supervised_logistic, self_training]
        environments: [label]
        datasets: [wine]
        labels: [5, 10]   # per class
        seeds: 5
    """
    from robustssl.execution import plan as plans
    from robustssl.execution import run as runs
    from robustssl.studies import study as studies

    asked = studies.with_algorithms(studies.narrowed(study, only or ()), algorithm or ())
    if dry_run:
        _print_plan(plans.plan(asked, store, workers=workers, retry=retry))
        return
    try:
        result = runs.run(
            asked,
            store,
            workers=workers,
            retry=retry,
            keep_predictions=keep_predictions,
            engine=engine,
            address=address,
            gpu_share=gpu_share,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    except KeyboardInterrupt:
        warn("\nStopped. What is done is kept; the same command goes on from here.")
        raise typer.Exit(130) from None
    _print_status(result)
    if result.failed:
        warn("Run again with --retry to try the failed cells once more.")
        raise typer.Exit(1)


def status(
    study: Annotated[str | None, typer.Argument(help="Count its cells alone.")] = None,
    store: StoreOption = DEFAULT_STORE,
    logs: Annotated[
        bool, typer.Option("--logs", help="Show where in the code a cell of each reason failed.")
    ] = False,
) -> None:
    """Say what a store holds: cells done, failed (with the reasons), missing, stale, and how long
    the rest will take, in all and of each study that was run in it.
    """
    from robustssl.execution import status as states

    found = states.status(store, study)
    _print_status(found, study is not None)
    for title, part in found.studies:
        say(f"{title}:\n  {_progress(part)}")
    for log in found.logs.values() if logs else ():
        warn(f"\n{log}")


def _print_plan(plan: Any) -> None:
    about = f", about {duration(plan.seconds)} with {plan.workers} at a time" if plan.left else ""
    say(f"{plan.cells} cells: {plan.done} done, {plan.failed} failed, {plan.left} to run{about}.")
    for problem in plan.problems:
        warn(f"A cell that was tried failed: {problem}")


def _print_status(status: Any, of_a_study: bool = True) -> None:
    say(_progress(status, of_a_study))
    for reason, count in status.failures.items():
        warn(f"  {count} failed: {reason}")


def _progress(status: Any, of_a_study: bool = True) -> str:
    stale = f", {status.stale} stale (of another version)" if status.stale else ""
    left = f", about {duration(status.left)} left" if status.missing and status.left else ""
    missing = f", {status.missing} missing" if of_a_study else ""
    return (
        f"{status.cells} cells: {status.done} done, {status.failed} failed{missing}{stale}; "
        f"{duration(status.seconds)} of work done{left}."
    )
