"""A report's JSON with its facts as the sentences that they are: json.load(file, object_hook=facts.text)."""

FACT = {"id", "severity", "side", "params", "text"}


def text(value):
    return value["text"] if value.keys() == FACT else value
