"""The command that lets an assistant audit files."""


def mcp() -> None:
    """Serve audits to an assistant (MCP).

    It speaks the model context protocol over stdio. The one tool, audit, reads the two files that a
    call names and nothing else, writes nothing, and returns what `robustssl audit --json` prints.
    Needs the extra mcp.
    """
    from robustssl.audits.server import make_server

    make_server().run()
