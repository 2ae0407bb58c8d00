#!/usr/bin/python3
"""check_ranges.py GAPLINE: the NVTX ranges that gapline adds to PyTorch programs, on a stand-in for torch that writes down
which ranges it was asked for, and what becomes of programs that have nothing to do with them."""

import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests/support"
sys.path.insert(0, str(SUPPORT))
import tiny_profile

MODULE = ROOT / "gen/inject/python"

NETWORK = """
import torch

class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._parameters = [object()]

    def forward(self, x):
        return torch.Tensor()

class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._modules = {"inner": Inner()}

    def forward(self, x):
        return self._modules["inner"](x)

model = Outer()
optimizer = torch.optim.SGD(model.parameters())
"""
LOOP = """
for x in torch.utils.data.DataLoader(range(3)):
    model(x).backward()
    optimizer.step()
"""
LOADED = ["push data_load", "pop"]
FORWARD = ["push forward", "pop"]
BACKWARD = ["push backward", "run backward", "pop"]
OPTIMIZER = ["push optimizer", "run optimizer", "pop"]


class Ranges(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory(prefix="gapline-ranges-")
        self.addCleanup(self.made.cleanup)
        self.folder = pathlib.Path(self.made.name)
        self.report = self.folder / "report"
        self.plain = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "STANDIN_NVTX": str(self.folder / "nvtx"),
                      "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(SUPPORT / "standin_torch")}
        self.env = self.plain | {"GAPLINE_RANGES": str(self.report)}
        self.env["PYTHONPATH"] = f"{MODULE}:{self.env['PYTHONPATH']}"

    def python(self, text, env=None, status=0):
        program = self.folder / "program.py"
        program.write_text(text)
        done = subprocess.run(["/usr/bin/python3", program], env=env or self.env, text=True, capture_output=True,
                              cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def noted(self):
        file = self.folder / "nvtx"
        lines = file.read_text().splitlines() if file.exists() else []
        self.assertEqual(lines[:2], ["start 1 gapline: ranges", "end 1"])
        return lines[2:]

    def test_a_training_loop(self):
        self.python(NETWORK + LOOP)
        whole = LOADED + FORWARD + BACKWARD + OPTIMIZER
        step = lambda n: [f"start {n} gapline: step"]
        # the root module is known from the first step's end on
        expected = LOADED + BACKWARD + OPTIMIZER + step(2) + whole + ["end 2"] + step(3) + whole + ["end 3"] + step(4) + LOADED
        self.assertEqual(self.noted(), expected)
        steps, ns = self.report.read_text().split()
        self.assertEqual(steps, "2")
        self.assertTrue(0 < int(ns) < 10**9)

    def test_what_the_allocator_handed_out(self):
        """Said at the end, of each GPU, and of no program that has not used one."""
        self.python(NETWORK + LOOP, self.env | {"STANDIN_PEAKS": "505413632 0"})
        noted = self.noted()
        self.assertEqual(noted[-2:], ["mark gapline: max_memory_allocated 0 505413632", "mark gapline: max_memory_allocated 1 0"])
        self.assertEqual(sum(line.startswith("mark") for line in noted), 2)

    def test_nothing_is_computed_differently(self):
        with_ranges = self.python(NETWORK + LOOP + "print(model, optimizer.param_groups)").stdout.split(" object at")[0]
        without = self.python(NETWORK + LOOP + "print(model, optimizer.param_groups)", self.plain).stdout
        self.assertEqual(with_ranges, without.split(" object at")[0])

    def test_a_closure_is_not_the_optimizers(self):
        self.python(NETWORK + "optimizer.step(lambda: model(1).backward())\n"
                    "optimizer.step(closure=lambda: model(1).backward())\n")
        first = ["push optimizer", "pop", *BACKWARD, "push optimizer", "run optimizer", "pop"]
        second = ["push optimizer", "pop", *FORWARD, *BACKWARD, "push optimizer", "run optimizer", "pop"]
        self.assertEqual(self.noted(), first + ["start 2 gapline: step"] + second + ["end 2", "start 3 gapline: step"])

    MANY = NETWORK + """
models = [Outer() for _ in range(4)]
a, b, c, d = optimizers = [torch.optim.SGD(model.parameters()) for model in models]
def train(*turns):
    for one in turns:
        models[optimizers.index(one)](1)
        one.step()
"""

    def turns(self, text):
        """How many optimizers stepped in each step."""
        (self.folder / "nvtx").unlink(missing_ok=True)
        self.python(self.MANY + text)
        found, n = [], 0
        for line in self.noted():
            n += line == "run optimizer"
            if line.startswith("end"):
                found.append(n)
            if line.endswith("gapline: step"):
                n = 0
        return found

    def test_optimizers_that_take_turns_have_one_step_together(self):
        for name, text, expected in (
                ("two", "for i in range(4): train(a, b)", 3 * [2]),
                ("one of a class that is gone", "import gc\nfor i in range(4):\n    torch.optim.SGD([]).step(); gc.collect()", 3 * [1]),
                ("an ensemble", "for i in range(4): train(a, b, c, d)", 3 * [4]),
                ("one that no longer trains", "for i in range(3): train(a, b)\nfor i in range(3): train(b)", [2, 2, 2, 1, 1]),
                ("one is skipped now and then, or the other", "train(a, a, b, b)\nfor i in range(40): train(a, b)", None)):
            with self.subTest(name):
                found = self.turns(text)
                self.assertEqual(found, expected or 5 * [1] + 39 * [2])

    def test_models_that_are_trained_alone_and_then_in_turns(self):
        found = self.turns("train(*50 * [a], *50 * [b])\nfor i in range(60): train(a, b)\n")
        self.assertEqual((found[:99], found[-30:]), (99 * [1], 30 * [2]))

    def test_each_step_of_models_trained_one_after_another_is_one(self):
        local = "for one in optimizers: train(one, one, one)\n"
        for name, text, expected in (
                ("in turns", f"for i in range(3):\n    {local}", 35 * [1]),
                ("two steps each", "for i in range(9): train(a, a, b, b, c, c)", 53 * [1]),
                ("a sweep", "for one in optimizers: train(*[one] * 9)", 35 * [1]),
                ("a new one each time", "for i in range(9):\n    a = torch.optim.SGD([])\n    for k in range(4): a.step()\n", 35 * [1]),
                ("a critic, then its actor", "for i in range(3): train(a, a, a, a, b)", [1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1])):
            with self.subTest(name):
                self.assertEqual(self.turns(text), expected)

    def test_other_threads_end_no_steps(self):
        text = "import threading\nstop = threading.Thread(target=lambda: train(b, b, b))\n"
        self.assertEqual(self.turns("train(a, a)\n" + text + "stop.start(); stop.join(); train(a)"), [1, 4])
        self.assertEqual(self.turns(text + "stop.start(); stop.join(); train(a, a)"), [1, 1, 1, 1])

    def test_the_forward_of_each_model_is_marked(self):
        self.turns("import gc\nlooks, get = [0], gc.get_objects\ndef counted():\n    looks[0] += 1\n    return get()\n"
                   "gc.get_objects = counted\nfor i in range(3): train(a, a, b, b, c, c, d, d)\n"
                   "for i in range(99): torch.optim.SGD([]).step()\nassert looks[0] < 9, looks")
        self.assertEqual(self.noted().count("push forward"), 24 - 4, "not in the first step of each")

    def test_a_step_that_the_scaler_skips_ends_too(self):
        """Forward and backward ran, whether a gradient was finite or not; of two optimizers the first counts here, too."""
        loop = ("from torch.amp import GradScaler\nscaler, other = GradScaler(), torch.optim.SGD([])\nfor i in range(9):\n"
                "    optimizer.found_inf, other.found_inf = i % 3 == {0}, i % 2 == 0\n    scaler.step({1})\n    scaler.step(other)\n")
        for first, given in (0, "optimizer"), (1, "optimizer=optimizer"):
            with self.subTest(first):
                self.python(NETWORK + loop.format(first, given))
                noted = self.noted()
                self.assertEqual(sum(line.endswith("gapline: step") for line in noted), 9)
                self.assertEqual(noted.count("run optimizer"), 6 + 4)
                (self.folder / "nvtx").unlink()

    def test_a_step_that_raised_is_closed(self):
        self.python(NETWORK + "def fails(): raise ValueError\ntry: optimizer.step(fails)\nexcept ValueError: pass\n"
                    "optimizer.step()\noptimizer.step()\n")
        depth = 0
        for line in self.noted():
            depth += line.startswith("push") - (line == "pop")
        self.assertEqual(depth, 0)

    def test_code_that_is_compiled_sees_nothing(self):
        self.python(NETWORK + "torch.compiler.is_compiling = lambda: True\n" + LOOP, self.env | {"LATE": "1"})
        self.assertNotIn("gapline: step", self.noted())

    def test_a_module_that_may_be_compiled_gets_no_hook(self):
        self.python(NETWORK + "import torch._dynamo\ntorch._dynamo.utils.counters['frames']['total'] = 1\n" + LOOP)
        self.assertNotIn("push forward", self.noted())
        (self.folder / "nvtx").unlink()
        self.python(NETWORK.replace("Outer", "OptimizedModule") + "import torch._dynamo\ntorch._dynamo.utils.counters['frames']['total'] = 1\n" + LOOP)
        self.assertIn("push forward", self.noted())

    def of_modules(self, text):
        """What the program's own "here" is followed by."""
        (self.folder / "nvtx").unlink(missing_ok=True)
        self.python(NETWORK + text, self.env | {"GAPLINE_RANGES": f"modules:{self.report}"})
        noted = self.noted()
        return noted[noted.index("push here") + 2:]

    def test_every_module_has_its_path(self):
        here = "torch.cuda.nvtx.range_push('here'); torch.cuda.nvtx.range_pop()\n"
        paths = ["push gapline: module Outer", "push gapline: module Outer.inner", "pop", "pop"]
        self.assertEqual(self.of_modules("model.eval()\n" + here + "model(1); model(1)\n"), 2 * paths)
        self.assertEqual(self.report.read_text().split()[0], "2")  # there are no steps: its own calls
        self.report.unlink()
        self.assertEqual(self.of_modules("model._modules['inner'].eval(); model.eval(); model.eval()\n" + here + "model(1)\n"), paths)
        self.assertEqual(self.of_modules("model._modules['7'] = model._modules.pop('inner')\nOuter.forward = lambda self, x: self._modules['7'](x)\n"
                                         "model.eval()\n" + here + "model(1)\n"), ["push gapline: module Outer", "push gapline: module Outer.*", "pop", "pop"])
        trained = self.of_modules("optimizer.step()\n" + here + "model(1).backward(); optimizer.step()\n")
        self.assertEqual(trained, ["push forward", *paths, "pop", *BACKWARD, *OPTIMIZER, "end 2", "start 3 gapline: step"])
        self.assertEqual(self.report.read_text().split()[-2:][0], "1")

    def test_compiled_modules_have_no_ranges(self):
        here = "torch.cuda.nvtx.range_push('here'); torch.cuda.nvtx.range_pop()\n"
        inner = "model._modules['inner']"
        for compiled, left in ((f"torch.compile({inner})", ["push gapline: module Outer", "pop"]), (f"{inner}.compile()", ["push gapline: module Outer", "pop"]),
                               ("torch.compile(model)", []), ("torch.compile(model=model)", []), ("torch.compile(model.forward)", []), ("model.compile()", []), ("torch.compile(lambda x: model(x))", []),
                               ("torch.compile(mode='max-autotune')", [])):
            with self.subTest(compiled=compiled):
                self.assertEqual(self.of_modules(f"model.eval(); {compiled}\n{here}model(1)\n"), left)
        self.assertEqual(self.of_modules(f"{inner}.compile(); model.eval()\n{here}model(1)\n"), ["push gapline: module Outer", "pop"])
        self.assertEqual(self.of_modules("import torch._dynamo\ntorch._dynamo.utils.counters['frames']['total'] = 1\nmodel.eval()\n"
                                         f"{here}model(1)\n"), [])

    def test_what_becomes_a_graph_has_no_hooks(self):
        """PyTorch refuses it; what is in it may have them, and has its ranges while it is captured."""
        here = "torch.cuda.nvtx.range_push('here'); torch.cuda.nvtx.range_pop()\n"
        graphed = self.of_modules("model.eval(); torch.cuda.make_graphed_callables((model,), ())\n" + here + "model(1)\n")
        self.assertEqual(graphed, ["push gapline: module Outer.inner", "pop"])
        self.python(NETWORK + LOOP + "torch.cuda.make_graphed_callables(model, ())\n")

    def test_kernels_that_are_compiled_say_their_modules(self):
        """As torch.compile notes operators: forward, backward, and the sum of two gradients, which is in no module."""
        text = """
import torch, types
import torch._inductor.config, torch._functorch.config
from torch._inductor.codegen.triton import TritonScheduling
class Block: pass
class MLP: pass
def operator(*modules, backward=False):
    key = "fwd_nn_module_stack" if backward else "nn_module_stack"
    return types.SimpleNamespace(meta={key: {i: (f"L['self'].{i}", kind) for i, kind in enumerate(modules)}} if modules else {})
def kernel(name, *operators):
    print(TritonScheduling().define_kernel(name, operators, None))
kernel("one", operator(Block, MLP), operator(Block, MLP, "torch.nn.modules.linear.Linear"))
kernel("back", operator(Block, MLP, backward=True))
kernel("fused", operator(Block, MLP), operator(Block, "Norm"))
kernel("apart", operator(Block), operator("Head"))
kernel("sum", operator(Block), operator())
kernel("lost", operator(Block)); kernel("lost")
kernel("twice", operator(Block, MLP)); kernel("twice", operator(Block))
kernel("never", operator(Block)); kernel("never", operator("Head"))
print(torch._inductor.config.fx_graph_cache, torch._functorch.config.enable_autograd_cache)
"""
        names = ["one", "back", "fused", "apart", "sum", "lost", "lost", "twice", "twice", "never", "never"]
        self.assertEqual(self.python(text).stdout.split(), names + ["True", "True"])
        self.assertEqual(self.noted(), [])
        (self.folder / "nvtx").unlink()
        said = self.python(text, self.env | {"GAPLINE_RANGES": f"modules:{self.report}"}).stdout.split()
        self.assertEqual(said, names + ["False", "False"])
        self.assertEqual(self.noted(), [f"mark gapline: kernel {of}" for of in ("one Block/MLP", "back Block/MLP", "fused Block", "twice Block")])

    def test_an_error_in_a_kernels_modules_stays_away_from_the_program(self):
        text = "import torch\nfrom torch._inductor.codegen.triton import TritonScheduling\nprint(TritonScheduling().define_kernel('one', [None], None))\n"
        done = self.python(text, self.env | {"GAPLINE_RANGES": f"modules:{self.report}"})
        self.assertEqual(done.stdout, "one\n")
        self.assertEqual(done.stderr.count("gapline:"), 1)

    def test_modules_are_not_kept(self):
        self.of_modules("model.eval()\nimport gc, weakref\ngone = weakref.ref(model)\nhere = torch.cuda.nvtx\nhere.range_push('here'); "
                        "here.range_pop()\ndel model\ngc.collect()\nassert gone() is None\n")

    def test_modules_can_be_pickled_and_copied(self):
        """As programs do that save a whole model, or give it to another process: who reads that has no gapline, and no hooks
        that do anything."""
        (self.folder / "net.py").write_text(NETWORK)
        text = "from net import *\nimport copy, pickle\n"
        for asked in str(self.report), f"modules:{self.report}":
            self.python(text + LOOP + "pickle.dump(model, open('model', 'wb'))\n"
                        "copied = copy.deepcopy(model)\ncopied(1)\nassert model._before and copied._before == model._before\n",
                        self.env | {"GAPLINE_RANGES": asked})
            self.python("import pickle\nmodel = pickle.load(open('model', 'rb'))\nassert model._before\nmodel(1)\n"
                        "import sys\nassert not [m for m in sys.modules if m.startswith('gapline')]\n", self.plain)

    def test_dynamo_leaves_every_function_alone(self):
        skipped = self.python(NETWORK + "print(*sorted(set(torch._dynamo.eval_frame.skipped)))").stdout.split()
        text = "".join((MODULE / f"gapline_{name}.py").read_text() for name in ("ranges", "turns"))
        defined = set(re.findall(r"^ *def (\w+)", text, re.MULTILINE))
        methods = {"__init__", "find_spec", "exec_module"}  # of State, Stepping, Seen and Watcher: they run at imports
        self.assertEqual(defined - set(skipped) - methods, set())

    def test_an_error_is_said_once_and_stays_away_from_the_program(self):
        done = self.python(NETWORK + LOOP + "print('went on')", self.env | {"STANDIN_NVTX_FAILS": "1"})
        self.assertEqual(done.stdout, "went on\n")
        self.assertEqual(done.stderr.count("gapline:"), 1)
        self.assertIn("NVTX functions not installed", done.stderr)
        self.assertIn("NVTX functions not installed", self.report.read_text())

    def test_a_program_without_torch(self):
        done = self.python("import sys, os\nprint([m for m in sys.modules if m.startswith('torch')], 'GAPLINE_RANGES' in os.environ)")
        self.assertEqual(done.stdout, "[] False\n")
        self.assertFalse(self.report.exists())

    def test_the_path_is_as_it_would_have_been(self):
        text = "import sys, os\nprint(sys.path, sorted(os.environ.items()))"
        for path in (None, "", str(self.folder), f"{self.folder}:"):
            with self.subTest(path=path):
                plain = {k: v for k, v in self.plain.items() if k != "PYTHONPATH"}
                env = plain | {"GAPLINE_RANGES": str(self.report), "PYTHONPATH": f"{MODULE}{':' + path if path is not None else ''}"}
                plain = plain if path is None else plain | {"PYTHONPATH": path}
                self.assertEqual(self.python(text, env).stdout, self.python(text, plain).stdout)

    def test_the_users_sitecustomize_is_loaded(self):
        (self.folder / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = __file__\n")
        env = self.env | {"PYTHONPATH": f"{MODULE}:{self.folder}"}
        self.assertEqual(self.python("import sitecustomize\nprint(mine, sitecustomize.__file__ == mine)", env).stdout,
                         f"{self.folder}/sitecustomize.py True\n")

    def test_children_that_are_no_python_get_the_environment_they_would_have_had(self):
        text = "import subprocess\nprint(subprocess.run(['/usr/bin/env'], capture_output=True, text=True).stdout)"
        self.assertEqual(self.python(text).stdout, self.python(text, self.plain).stdout)

    def test_children_that_are_python_get_ranges(self):
        (self.folder / "child.py").write_text(NETWORK + LOOP)
        for start in ("import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)",
                      "import subprocess, sys, os\nsubprocess.run([sys.executable, 'child.py'], check=True, env=dict(os.environ))"):
            self.python(start)
            self.assertIn("push optimizer", self.noted())
            (self.folder / "nvtx").unlink()

    def test_spawned_processes_get_ranges(self):
        (self.folder / "child.py").write_text("def run():\n" + "".join(f"    {line}\n" for line in (NETWORK + LOOP).splitlines()))
        self.python("import multiprocessing, child\nif __name__ == '__main__':\n"
                    "    p = multiprocessing.get_context('spawn').Process(target=child.run)\n    p.start()\n    p.join()\n"
                    "    import os\n    print(os.environ['PYTHONPATH'])\n    assert p.exitcode == 0\n")
        self.assertIn("push optimizer", self.noted())

    def test_a_forked_worker_does_not_end_its_parents_step(self):
        self.python(NETWORK + "optimizer.step()\nimport os\nif os.fork() == 0:\n    optimizer.step()\n    os._exit(0)\nos.wait()\n")
        self.assertEqual([line for line in self.noted() if line.startswith("end")], [])


class Capture(unittest.TestCase):
    """`--annotate` of the command, under a stand-in for nsys."""

    def run_capture(self, *options, command="python3"):
        with tempfile.TemporaryDirectory(prefix="gapline-ranges-") as made:
            folder = pathlib.Path(made)
            tiny_profile.write(folder / "tiny.sqlite")
            (folder / "program.py").write_text(NETWORK + LOOP)
            (folder / "wrapper").write_text("#!/bin/sh\nexec python3 \"$@\"\n")
            (folder / "wrapper").chmod(0o755)
            env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "GAPLINE_NSYS": str(SUPPORT / "standin_nsys.py"),
                   "STANDIN_NVTX": str(folder / "nvtx"), "PYTHONPATH": str(SUPPORT / "standin_torch"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run([GAPLINE, "capture", "--collector", "nsys", *options, "-o", "out.sqlite", "--", command,
                                   "program.py", "tiny.sqlite"], cwd=folder, env=env, text=True, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            db = sqlite3.connect(folder / "out.sqlite")
            rows = dict(db.execute("SELECT name, value FROM GAPLINE_CAPTURE"))
            db.close()
            return rows.get("ranges_ns"), (folder / "nvtx").read_text(), done.stderr

    def test_python_gets_them_unless_told_otherwise(self):
        ns, nvtx, said = self.run_capture()
        self.assertGreater(int(ns), 0)
        self.assertIn("gapline: step", nvtx)
        self.assertIn("NVTX ranges were added to PyTorch: 2 steps", said)
        ns, nvtx, said = self.run_capture("--annotate", "none")
        self.assertIsNone(ns)
        self.assertNotIn("push", nvtx)

    def test_a_wrapper_gets_them_when_told_so(self):
        self.assertIsNone(self.run_capture(command="./wrapper")[0])
        self.assertIsNotNone(self.run_capture("--annotate", "pytorch", command="./wrapper")[0])
        ns, nvtx, said = self.run_capture("--annotate", "modules", command="./wrapper")
        self.assertIsNotNone(ns)
        self.assertIn("push gapline: module Outer.inner", nvtx)


if __name__ == "__main__":
    GAPLINE = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
