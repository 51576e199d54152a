"""A model's server on 127.0.0.1 that speaks the three wire formats, misbehaves in named ways, and counts what it is paid for."""

from loopback.server import Account, Loopback
from loopback.ways import MORE_WAYS, WAYS, marks

__all__ = ["MORE_WAYS", "WAYS", "Account", "Loopback", "marks"]
