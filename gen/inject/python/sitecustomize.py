"""Python imports this when it starts, because gapline put the folder first on PYTHONPATH. It undoes that at once, so that
the program finds what it would have found, lets the user's own sitecustomize run, and has gapline_ranges wait for torch.

Nothing here may stop a program: whatever goes wrong is said once and left alone."""

import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def restore_path():
    folders = os.environ.get("PYTHONPATH", "")
    if folders == FOLDER + os.pathsep and FOLDER in sys.path:  # it was empty, which is no entry; ":" makes one
        del sys.path[sys.path.index(FOLDER) + 1]
    sys.path[:] = [entry for entry in sys.path if entry != FOLDER]
    if folders == FOLDER:
        del os.environ["PYTHONPATH"]
    elif folders.startswith(FOLDER + os.pathsep):
        os.environ["PYTHONPATH"] = folders[len(FOLDER) + 1 :]


def load(name, spec):
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def load_ranges():
    path = os.path.join(FOLDER, "gapline_ranges.py")
    load("gapline_ranges", importlib.util.spec_from_file_location("gapline_ranges", path))
    sys.modules["gapline_ranges"].begin()


def load_the_users():
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec and spec.loader:
        load("sitecustomize", spec)


def main():
    restore_path()
    if "GAPLINE_RANGES" in os.environ:
        try:
            load_ranges()
        except Exception as error:  # noqa: BLE001 # the program comes first
            sys.modules.pop("gapline_ranges", None)
            sys.stderr.write(f"gapline: no ranges are added: {type(error).__name__}: {error}\n")
    load_the_users()  # an error of the user's own is the user's


main()
