skipped = []


def skip_code(code):
    skipped.append(code.co_name)
