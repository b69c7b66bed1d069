"""Loads a script of this folder as a module: for its tables, or to run it many times without a process for each."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys


def load(name):
    path = pathlib.Path(__file__).resolve().parent / name
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(script, *words):
    """Calls the `main` of a loaded script with arguments. Returns the exit status and the output."""
    output, arguments, status = io.StringIO(), sys.argv, 0
    sys.argv = [script.__name__, *map(str, words)]
    try:
        with contextlib.redirect_stdout(output):
            script.main()
    except SystemExit as exit:
        status = exit.code or 0
    finally:
        sys.argv = arguments
    return status, output.getvalue()
