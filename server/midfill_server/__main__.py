"""`python -m midfill_server`: the language server on stdin and stdout."""

from midfill_server.app import run_stdio

if __name__ == "__main__":
    run_stdio()
