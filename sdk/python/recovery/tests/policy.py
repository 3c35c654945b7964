"""The one plugin that all hosts are advised by: once more what may pass, another model where that helps, else the end."""

from mulligan import Event, Fail, Retry, Switch, serve


def run_error(e: Event) -> Retry | Switch | Fail:
    if e.kind in ("content_filter", "invalid_request", "context_overflow"):
        return Fail(reason="another model would say the same")
    if e.retryable and e.retries < 2:
        return Retry(after=0.05, reason="it may pass")
    if e.alternatives:
        return Switch(e.alternatives[0], reason="the other one is well")
    return Fail(reason="nothing is left")


if __name__ == "__main__":
    serve(run_error, name="policy", version="1")
