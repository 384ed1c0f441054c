"""Small reference cycles that the standard library leaves to the collector on each open."""

from __future__ import annotations

from xml.dom.minidom import getDOMImplementation

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Has its settings in a document, whose elements refer to their parents and those to them."""

    def __init__(self) -> None:
        implementation = getDOMImplementation()
        assert implementation is not None
        settings = implementation.createDocument(None, "settings", None).documentElement
        assert settings is not None
        settings.setAttribute("strength", "1")
        self.strength = settings.getAttribute("strength")

    def __call__(self, frame: Frame) -> Frame:
        return frame


GREEN = Green(
    about="small reference cycles of other people's objects",
    workload="32x32@25*12",
    backend=Backend,
)
