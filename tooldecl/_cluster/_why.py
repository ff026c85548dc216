"""
Why a cluster cannot be joined, and what to do about it.
"""

from __future__ import annotations


NOBODY = (
    "nobody listens there ({}). Start a cluster with 'ray start --head', and give the "
    "address that it prints; 'local' starts one in this process."
)
SLOW = (
    "it has not answered in time. Whatever listens there is no head of a Ray cluster of "
    "this version, is starting, or takes no client without the cluster's token."
)
REFUSED = (
    "a head listens there, and it lets this client not in ({}). Where Ray has written "
    "InvalidAuthToken to stderr, give this process the cluster's token in the way that "
    "Ray reads it (RAY_AUTH_MODE=token with RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH), or "
    "start both with RAY_AUTH_MODE=disabled. Otherwise their versions differ."
)
FAILED = "Ray says: {}"
CLOSED = "the connection was closed by somebody else in this process."
FORKED = (
    "this process was forked from one that had joined a cluster, and Ray cannot be used "
    "in it. Fork before the first call, or start processes by spawn."
)
OTHER = "this process has joined {!r}, and Ray has one connection for each process."
TRYING = (
    "this process is still trying to join {!r}, and Ray has one connection for each "
    "process. Close the engine that asks for it, which ends that."
)
HOSTS = "this process has already joined {!r} by ray.init(); give that address."
