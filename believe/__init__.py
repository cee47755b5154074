"""Can I believe what this language model just told me? What a program imports of Believe.

What stands behind these names lies in ``core``, and is loaded when the first of them is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from believe.names import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name == "names" or (
            name.startswith("_") and name != "__all__"
        ):  # import machinery asks for such
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from believe import names

        return getattr(names, name)

    def __dir__() -> list[str]:
        from believe import names

        return [*globals(), *names.__all__]
