"""Values that are computed at their first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class LazyProperty(Generic[T]):
    """A decorator for a property that is computed at its first use and kept in the instance.

    `functools.cached_property` holds a lock while it computes, before Python 3.12 even one for all instances. A child
    that is forked meanwhile would wait for that lock for ever. Here is no lock: threads that ask at the same time may
    each compute the value, and all get the one that was ready first.

    >>> class Word:
    ...     def __init__(self, text):
    ...         self.text = text
    ...     @LazyProperty
    ...     def letters(self):
    ...         return sorted(set(self.text))
    >>> word = Word("low")
    >>> word.letters, word.letters is word.letters
    (['l', 'o', 'w'], True)
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        # Python looks into the instance first, so this is called until the value is kept there.
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
