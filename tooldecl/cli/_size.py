"""
How large a definition is, for whoever pays for it in every request.
"""

from __future__ import annotations

import json


CHARACTERS_OF_A_TOKEN = 4


def characters(definition: object) -> int:
    """
    Return how many characters of JSON a definition is when it is sent.
    """
    return len(json.dumps(definition, ensure_ascii=False, separators=(",", ":")))


def tokens(count: int) -> int:
    """
    Estimate how many tokens so many characters are.
    """
    return -(-count // CHARACTERS_OF_A_TOKEN)
