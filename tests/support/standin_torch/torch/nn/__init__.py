class Handle:
    def __init__(self, hooks, hook):
        hooks.append(hook)
        self.remove = lambda: hooks.remove(hook)


class Module:
    def __init__(self):
        self._modules, self._parameters, self._before, self._after = {}, [], [], []
        self._compiled_call_impl = None

    def parameters(self):
        yield from self._parameters
        for child in self._modules.values():
            yield from child.parameters()

    def register_forward_pre_hook(self, hook):
        return Handle(self._before, hook)

    def register_forward_hook(self, hook, *, always_call=False):
        assert always_call
        return Handle(self._after, hook)

    def eval(self):
        return self

    def compile(self):
        self._compiled_call_impl = self.forward

    def __call__(self, *arguments):
        for hook in self._before:
            changed = hook(self, arguments)
            assert changed is None
        result = self.forward(*arguments)
        for hook in self._after:
            assert hook(self, arguments, result) is None
        return result
