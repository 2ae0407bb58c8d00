"""Kernels that torch.compile makes with Triton, and the modules that they are of: a part of gapline_ranges for `--annotate modules`.

torch.compile notes of each of its operators, also of the backward pass, which modules it was called in. When a kernel is made
of operators, the innermost module that holds all of them is the kernel's: none, where one of them is in none, as the sum of two
gradients is, or a loss. When the process ends, a mark says so of every name, by classes, the outermost first: gapline: kernel
triton_poi_fused_relu_0 Block/MLP. Kernels of other graphs may have the same name: then it is the module that holds both, or none. Nothing is
added to compiled code. What was compiled before says nothing of this, so it is compiled again."""

import functools
import itertools
import sys

KERNEL = "gapline: kernel"
kernels = {}  # by name: classes of modules


def modules_of(node):
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    return [str(getattr(kind, "__name__", kind)).rpartition(".")[2] for _, kind in stack.values()]


def in_common(paths):
    return [names[0] for names in itertools.takewhile(lambda names: len(set(names)) == 1, zip(*paths))]


def note(name, operators):
    paths = list(map(modules_of, operators)) or [[]]
    kernels[name] = in_common(paths + ([kernels[name]] if name in kernels else []))


def patch_triton(module, give_up):
    define = module.TritonScheduling.define_kernel
    origins = getattr(sys.modules["torch._inductor.utils"], "aggregate_origins", None)
    if not origins:  # PyTorch before 2.1
        return

    @functools.wraps(define)
    def defined(self, source, schedule, *more, **keywords):
        name = define(self, source, schedule, *more, **keywords)
        try:
            note(name, origins(schedule))
        except Exception as error:  # noqa: BLE001 # the program comes first
            give_up(error)
        return name

    module.TritonScheduling.define_kernel = defined


def without(cache, config):
    if hasattr(config, cache):
        setattr(config, cache, False)


def patches(give_up):
    return {
        "torch._inductor.codegen.triton": functools.partial(patch_triton, give_up=give_up),
        "torch._inductor.config": functools.partial(without, "fx_graph_cache"),
        "torch._functorch.config": functools.partial(without, "enable_autograd_cache"),
    }


def mark(nvtx):
    for name, modules in kernels.items():
        if modules:
            nvtx.mark(f"{KERNEL} {name} {'/'.join(modules)}")
