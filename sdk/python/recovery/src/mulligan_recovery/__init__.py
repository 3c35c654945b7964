"""Ask Mulligan what to do about a model call that failed, from any Python program.

    advisor = Advisor()
    call = advisor.call("anthropic/claude-sonnet-4-5", alternatives=["openai/gpt-5.2"])
    while True:
        try:
            answer = ask(model=call.model)
        except Exception as error:
            if not call.failed(error):  # waits as it was told to; call.model may be another one now
                raise
        else:
            call.answered()
            break

A host whose Mulligan is gone behaves as without it: failed() is False within a quarter of a second.
"""

from ._advisor import Advice, Advisor, Call
from ._evidence import Evidence, evidence_of

__all__ = ["Advice", "Advisor", "Call", "Evidence", "evidence_of"]
