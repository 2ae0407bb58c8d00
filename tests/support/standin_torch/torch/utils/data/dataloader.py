class _BaseDataLoaderIter:
    def __init__(self, items):
        self._items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._items)


class DataLoader:
    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return _BaseDataLoaderIter(self._items)
