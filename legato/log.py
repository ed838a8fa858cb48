"""Configures the log: one JSON object a line on standard error."""

from __future__ import annotations

import sys

import structlog


def configure_log() -> None:
    """Set structlog up for a process of ours."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
