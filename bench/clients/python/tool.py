"""The one tool of all Python clients: it notes that it ran."""

import os

PROMPT = "What should I wear in Oslo today? Look at the weather first."


def get_weather(city: str) -> str:
    """How the weather is in a city."""
    with open(os.environ["TOOL_LOG"], "a") as log:
        log.write(f"ran {city}\n")
    return "14 °C and clear"
