"""Fills the middle of code by denoising it. The door is `midfill_engine.api`."""

__version__ = "0.1.0"
