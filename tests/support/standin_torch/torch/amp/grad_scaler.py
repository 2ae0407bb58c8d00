class GradScaler:
    """Asks the optimizer for a step unless a gradient is not finite: by what `found_inf` of it is."""

    def step(self, optimizer, *arguments, **keywords):
        if not getattr(optimizer, "found_inf", False):
            return optimizer.step(*arguments, **keywords)
        return None
