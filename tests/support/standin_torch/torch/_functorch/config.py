enable_autograd_cache = True
