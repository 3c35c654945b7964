"""Start runs of a Mulligan gateway, follow them, and answer their suggestions.

Client is for programs that wait, AsyncClient for those that await; both have the same methods.
"""

from ._async import AsyncClient
from ._client import Client
from ._fold import Fold, View
from ._http import Document, Item, Problem
from ._tools import Tool

__all__ = ["AsyncClient", "Client", "Document", "Fold", "Item", "Problem", "Tool", "View"]
