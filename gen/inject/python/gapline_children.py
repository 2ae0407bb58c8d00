"""The Python programs that a program starts get gapline's ranges, too (torchrun, workers); another program gets the
environment that it would have had."""

import functools
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
OURS = ("PYTHONPATH", "GAPLINE_RANGES")


def patches(asked, give_up):
    """By the name of a module, what is done with it once it is imported. `asked`: $GAPLINE_RANGES, as it was."""

    def environment(env):
        env["PYTHONPATH"] = FOLDER + (os.pathsep + env["PYTHONPATH"] if "PYTHONPATH" in env else "")
        env["GAPLINE_RANGES"] = asked
        return env

    def patch_subprocess(module):
        start = module.Popen.__init__

        @functools.wraps(start)
        def started(self, args, *more, **keywords):
            try:
                words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
                if not more and not keywords.get("shell") and words and is_python(keywords.get("executable") or words[0]):
                    keywords["env"] = environment(dict(os.environ if keywords.get("env") is None else keywords["env"]))
            except Exception as error:  # noqa: BLE001 # the program comes first
                give_up(error)
            return start(self, args, *more, **keywords)

        module.Popen.__init__ = started

    def patch_spawn(module):
        launch = module.Popen._launch

        @functools.wraps(launch)
        def launched(self, process):
            had = {name: os.environ[name] for name in OURS if name in os.environ}
            os.environ.update(environment(dict(os.environ)))
            try:
                return launch(self, process)
            finally:
                for name in OURS:
                    os.environ.pop(name, None)
                os.environ.update(had)

        module.Popen._launch = launched

    return {"subprocess": patch_subprocess, "multiprocessing.popen_spawn_posix": patch_spawn}


def is_python(program):
    name = os.path.basename(os.fspath(program) if not isinstance(program, bytes) else os.fsdecode(program))
    return name.startswith(("python", "pypy")) or program == sys.executable
