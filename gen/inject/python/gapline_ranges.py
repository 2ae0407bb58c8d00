"""Adds NVTX ranges to a PyTorch program while it runs: `gapline capture --annotate pytorch`.

    data_load   the training process in DataLoader's __next__
    forward     a root module's forward: one that holds parameters of an optimizer and is nobody's child
    backward    torch.autograd.backward, which Tensor.backward calls
    optimizer   Optimizer.step, without the closure that it may call
    gapline: step   from the end of one optimizer step to the end of the next, one that GradScaler skips included.
                    Optimizers that take turns, as those of a generator and a discriminator, have one step together; of
                    models that are trained one after another, each step is one. It is a start/end range, for it does not
                    nest in the program's own.

With `--annotate modules` besides, around the forward of every module, its path, GPT.layers.*.attn: layers are one. "gapline: module"
stands before it, so that each range says that it is a module's, however little of the program is recorded. Modules are found at
the end of the first step, or when eval() is called on what holds them. Code that torch.compile makes has no such ranges: what is compiled loses its hooks first, and what may be compiled gets none. Of its kernels gapline_kernels says the modules.

Waits for torch to be imported and does nothing in a program without it. What it changes are Python attributes and
torch's own hooks; no module gets a global hook and no class another __call__, because torch.compile would see them. In
code that is being compiled it does nothing at all. An error of its own ends it, is said once, and never reaches the
program. What it took is written to $GAPLINE_RANGES when the process ends, a line a process: steps, nanoseconds, and the
error if there was one. A mark for each GPU says then what PyTorch's allocator had handed out at most."""

import atexit
import functools
import gc
import importlib.util
import os
import sys
import threading
import time
import weakref

STEP = "gapline: step"
PEAK = "gapline: max_memory_allocated"
MODULE = "gapline: module "  # trace/owners.h takes it off
MODULES = "modules:"  # before the file in $GAPLINE_RANGES
FOLDER = os.path.dirname(os.path.abspath(__file__))
now = time.perf_counter_ns


def part(name):
    """A file beside this one, as a module that no program can import."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(FOLDER, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class State:
    """Of this process. `own` is the time that the ranges took, in ns."""

    def __init__(self):
        self.broken = None
        self.report = None
        self.pid = os.getpid()
        self.nvtx, self.is_compiling = None, bool  # bool() is False
        self.turns = part("gapline_turns")
        self.step = None  # the open range
        self.stepped = None  # id of the optimizer that stepped last, until GradScaler says that it did
        self.steps = self.own = self.calls = 0  # calls: of modules that are in none
        self.roots, self.watched = weakref.WeakSet(), weakref.WeakSet()  # root modules without and with a range
        self.began, self.looked = now(), 0  # looked: for root modules, in ns
        self.asked = None
        self.hooks = weakref.WeakKeyDictionary()  # by module: the names of its ranges, and what takes its hooks away
        self.every_module = False
        self.compiled = None  # gapline_kernels


state = State()


def give_up(error):
    """The first error is the last: from here on every hook returns at once."""
    if not state.broken:
        state.broken = f"{type(error).__name__}: {error}"
        sys.stderr.write(f"gapline: no more ranges are added: {state.broken}\n")


def quietly(function):
    """For what is gapline's own work: its time is counted, its errors stay here, compiled code does not see it."""

    @functools.wraps(function)
    def guarded(*arguments):
        if state.is_compiling() or state.broken:
            return None
        begin = now()
        try:
            return function(*arguments)
        except Exception as error:  # noqa: BLE001 # the program comes first
            give_up(error)
            return None
        finally:
            state.own += now() - begin

    return guarded


@quietly
def push(name):
    state.nvtx.range_push(name)
    return True


@quietly
def pop():
    state.nvtx.range_pop()


def ranged(name, function):
    """The function, with a range around it."""

    @functools.wraps(function)
    def within(*arguments, **keywords):
        if state.is_compiling():
            return function(*arguments, **keywords)
        pushed = push(name)
        try:
            return function(*arguments, **keywords)
        finally:
            if pushed:
                pop()

    return within


# ---- steps ----


@quietly
def step_ended(optimizer):
    state.stepped = id(optimizer)
    if state.turns.is_of_another_thread():
        return
    new = state.turns.is_new(optimizer)
    ends = state.turns.ends_step(optimizer)
    if ends and state.step is not None:
        state.nvtx.range_end(state.step)
        state.steps += 1
    if new:
        begin = now()
        watch_roots(optimizer)
        state.own -= now() - begin  # once, not in a step
    if ends:
        state.step = state.nvtx.range_start(STEP)


def without_closure(closure):
    """The closure runs forward and backward: they are not the optimizer's."""

    @functools.wraps(closure)
    def outside(*arguments, **keywords):
        pop()
        try:
            return closure(*arguments, **keywords)
        finally:
            push("optimizer")

    return outside


class Stepping(threading.local):
    """The optimizers of this thread whose range is open: one may call another's step."""

    def __init__(self):
        self.optimizers = []


stepping = Stepping()


def before_step(optimizer, arguments, keywords):
    if state.is_compiling() or state.broken:
        return None
    if any(one is optimizer for one in stepping.optimizers):  # its last step raised
        after_step(optimizer, arguments, keywords)
    if not push("optimizer"):
        return None
    stepping.optimizers.append(optimizer)
    if keywords.get("closure"):
        return arguments, {**keywords, "closure": without_closure(keywords["closure"])}
    if len(arguments) > 1 and callable(arguments[1]):  # step(self, closure)
        return (arguments[0], without_closure(arguments[1]), *arguments[2:]), keywords
    return None


def after_step(optimizer, arguments, keywords):
    if state.is_compiling():
        return
    while any(one is optimizer for one in stepping.optimizers):
        pop()
        if stepping.optimizers.pop() is optimizer:
            step_ended(optimizer)


@quietly
def scaled(_, optimizer, *__):
    """Of a step in which a gradient is not finite: forward and backward ran, and the optimizer was not asked."""
    if state.stepped != id(optimizer):
        step_ended(optimizer)
    state.stepped = None


# ---- root modules ----


def may_be_compiled(module):
    """Whether torch.compile has looked into it: then a hook would be a reason to compile again. Optimizers import dynamo
    whether anything is compiled or not."""
    if getattr(module, "_compiled_call_impl", None) is not None:
        return True
    dynamo = sys.modules.get("torch._dynamo")
    return bool(dynamo and dynamo.utils.counters["frames"]) and type(module).__name__ != "OptimizedModule"


def find_roots():
    """Looking through all objects takes some 100 ms: once, and later for at most a hundredth of the time."""
    import torch

    begin = now()
    if 100 * state.looked > begin - state.began:
        return
    modules = [o for o in gc.get_objects() if issubclass(type(o), torch.nn.Module)]
    children = {id(child) for module in modules for child in module._modules.values() if child is not None}
    for module in modules:
        if id(module) not in children:  # a copy has its original's hooks
            hooks = getattr(module, "_forward_pre_hooks", {}).values()
            copied = any("forward" in getattr(h, "names", ()) for h in hooks)
            (state.watched if copied else state.roots).add(module)
    state.looked += now() - begin


def watch_roots(optimizer):
    """Hooks the modules whose parameters it has, at the end of its first step; most optimizers are of a model that is known."""
    parameters = {id(p) for group in optimizer.param_groups for p in group["params"]}

    def of_it(modules):
        return [module for module in modules if any(id(p) in parameters for p in module.parameters())]

    if of_it(state.watched):
        return
    if not of_it(state.roots):
        find_roots()
    for module in of_it(state.roots):
        state.roots.discard(module)
        state.watched.add(module)
        if may_be_compiled(module):
            continue
        hook(module, "forward")
        if state.every_module:
            watch_tree(module, type(module).__name__)


# ---- every module ----


@quietly
def enter(name):
    state.calls += "." not in name and name != "forward"
    state.nvtx.range_push(name if name == "forward" else MODULE + name)


class Hook(functools.partial):
    """Programs pickle modules with their hooks. What is loaded, with gapline or without it, is a call that does nothing."""

    __deepcopy__ = lambda self, _: self
    __reduce__ = lambda self: (functools.partial, (sys.audit, "gapline.hook"))


def hook(module, name):
    """A range of this name around the module's forward; the name may change later."""
    names = [name]
    before = Hook(lambda *_: enter(names[0]))
    before.names = names
    handles = (module.register_forward_pre_hook(before),
               module.register_forward_hook(Hook(lambda *_: pop()), always_call=True))
    state.hooks.setdefault(module, []).append((names, handles))


def watch_tree(module, path):
    """This module and those in it. A module that is in several has one path."""
    if getattr(module, "_compiled_call_impl", None) is not None or type(module).__name__ in SCRIPTS:
        return
    known = [names for names, _ in state.hooks.get(module, ()) if names[0] != "forward"]
    if known:
        known[0][0] = path
    else:
        hook(module, path)
    if type(module).__name__ == "OptimizedModule":  # what it holds is compiled
        return
    for name, child in module._modules.items():
        if child is not None:
            watch_tree(child, f"{path}.{'*' if name.isdigit() else name}")


SCRIPTS = ("RecursiveScriptModule", "TopLevelTracedModule", "TracedModule")


@quietly
def watch(module):
    begin = now()
    if state.every_module and module not in state.hooks and not may_be_compiled(module):
        watch_tree(module, type(module).__name__)
    state.own -= now() - begin  # once, not in a step


@quietly
def unhook(module):
    for _, handles in state.hooks.pop(module, ()):
        for handle in handles:
            handle.remove()


@quietly
def before_compiling(what, file):
    """A module is compiled with all that is in it; a function may call any. Libraries compile functions of their own."""
    if hasattr(what, "_modules"):
        unhook(what)
        for child in what._modules.values():
            before_compiling(child, file)
    elif "site-packages" not in file:
        state.every_module = False
        for module in list(state.hooks):
            unhook(module)


def before_graphing(what, _):
    """What is made a graph must have no hooks of its own."""
    for one in what if isinstance(what, tuple) else (what,):
        unhook(one)


def with_first(first, function):
    @functools.wraps(function)
    def both(*arguments, **keywords):
        what = arguments[0] if arguments else keywords.get("model", keywords.get("callables"))
        first(getattr(what, "__self__", what), sys._getframe(1).f_code.co_filename)
        return function(*arguments, **keywords)

    return both


def with_then(function, then):
    @functools.wraps(function)
    def both(*arguments, **keywords):
        result = function(*arguments, **keywords)
        then(*arguments, *keywords.values())
        return result

    return both


def patch_modules(torch):
    torch.nn.Module.eval = with_then(torch.nn.Module.eval, watch)
    torch.nn.Module.compile = with_first(before_compiling, torch.nn.Module.compile)
    state.compiled = part("gapline_kernels")
    for name, patch in state.compiled.patches(give_up).items():
        PATCHES[name] = patch
        if name in sys.modules:
            patch(sys.modules[name])


# ---- modules as they are imported ----


def patch_torch(torch):
    state.nvtx = torch.cuda.nvtx
    state.is_compiling = torch.compiler.is_compiling
    state.nvtx.range_end(state.nvtx.range_start("gapline: ranges"))  # raises where torch was built without NVTX
    torch.autograd.backward = ranged("backward", torch.autograd.backward)
    torch.compile = with_first(before_compiling, torch.compile)
    torch.cuda.make_graphed_callables = with_first(before_graphing, torch.cuda.make_graphed_callables)
    if state.every_module:
        patch_modules(torch)


def patch_optimizer(module):
    module.register_optimizer_step_pre_hook(before_step)
    module.register_optimizer_step_post_hook(after_step)


def patch_scaler(module):
    if "step" in vars(module.GradScaler):  # else it has another module's
        module.GradScaler.step = with_then(module.GradScaler.step, scaled)


def patch_loader(module):
    base = module._BaseDataLoaderIter
    base.__next__ = ranged("data_load", base.__next__)


def patch_dynamo(module):
    """Around a graph break it looks at every frame that is run. Those of these files are nothing to compile; what they call
    is as before."""
    skip_code = getattr(module, "skip_code", None)  # not everywhere: then it counts some frames more
    functions = [*globals().values(), *vars(state.turns).values()]
    codes = [one.__code__ for f in functions for one in (f, getattr(f, "__wrapped__", None))
             if hasattr(one, "__code__") and one.__code__.co_filename.startswith(FOLDER)]
    while skip_code and codes:
        code = codes.pop()
        skip_code(code)
        codes += [inner for inner in code.co_consts if hasattr(inner, "co_code")]


OF_TORCH = {
    "torch": patch_torch,
    "torch.optim.optimizer": patch_optimizer,
    "torch.amp.grad_scaler": patch_scaler,
    "torch.cuda.amp.grad_scaler": patch_scaler,
    "torch.utils.data.dataloader": patch_loader,
}
PATCHES = {
    **OF_TORCH,
    "torch._dynamo.eval_frame": patch_dynamo,
}


class Watcher:
    """First on sys.meta_path: lets the others find a module, and patches it once it has run. torch's parts are imported
    while torch itself is; they are patched when that has ended."""

    def find_spec(self, name, path=None, target=None):
        if name not in PATCHES or state.broken:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if spec:
                break
        else:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            loaded(name)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError as error:  # a loader that does not let itself be changed
            give_up(error)
        return spec


waiting = []


def loaded(name):
    waiting.append(name)
    if name in OF_TORCH and "torch" not in waiting and not state.nvtx:
        return
    try:
        for ready in sorted(waiting):  # torch itself comes before its parts
            PATCHES[ready](sys.modules[ready])
            waiting.remove(ready)
    except Exception as error:  # noqa: BLE001 # the program comes first
        give_up(error)


# ---- begin and end ----


def write_report():
    steps = state.steps or (state.every_module and state.calls)
    if os.getpid() != state.pid or not (steps or state.broken):
        return
    with open(state.report, "a", encoding="utf-8") as file:
        file.write(f"{int(steps)} {state.own} {state.broken or ''}".replace("\n", " ") + "\n")


def mark_memory():
    """By the program's own count, which it may have reset. Of several GPUs each has a mark, used or not."""
    cuda = sys.modules["torch"].cuda if state.nvtx and not state.broken else None
    if cuda and cuda.is_initialized():
        for device in range(cuda.device_count()):
            state.nvtx.mark(f"{PEAK} {device} {cuda.max_memory_allocated(device)}")


def after_fork():
    """A forked process is another one: the open range is its parent's."""
    state.pid, state.steps, state.own, state.step = os.getpid(), 0, 0, None


def begin():
    state.asked = os.environ.pop("GAPLINE_RANGES")
    state.every_module = state.asked.startswith(MODULES)
    state.report = state.asked[len(MODULES) :] if state.every_module else state.asked
    PATCHES.update(part("gapline_children").patches(state.asked, give_up))
    sys.meta_path.insert(0, Watcher())
    os.register_at_fork(after_in_child=after_fork)
    atexit.register(quietly_write)


def quietly_write():
    try:
        write_report()
        if state.compiled and not state.broken:
            state.compiled.mark(state.nvtx)
        mark_memory()
    except Exception:  # noqa: BLE001 # gapline says that it learned nothing
        pass
