"""
What a session of all engines' tests needs to run them over a Ray of several nodes.
"""

from __future__ import annotations

from driving_ray import engine, several_nodes


running = several_nodes
make = engine
