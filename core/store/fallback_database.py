"""A database in memory, for as long as the one that is wanted cannot be opened.

Another program may have locked it, its server may be down, its disk may be full: that passes. It is
tried again and again beside the program. Once it opens, all that was saved meanwhile moves there.
"""

import threading
import time
from typing import Final

from core.store.database import open_database
from core.store.errors import StoreError

IN_MEMORY: Final = "sqlite://"
AGAIN: Final = 2.0  # seconds between two tries


class FallbackDatabase:
    """The database that is wanted, or one in memory until it can be opened.

    `url` is as of `open_database`. `database` is the same object before and after the move; `why`
    is a sentence why it is one in memory, None once it is the one that is wanted.
    """

    def __init__(self, url: str | None = None) -> None:
        self._url = url
        self.why: str | None = None
        try:
            self.database = open_database(url)
        except StoreError as error:
            self.why = str(error)
            self.database = open_database(IN_MEMORY)
            threading.Thread(target=self._try_again, daemon=True).start()

    def _try_again(self) -> None:
        while self.why is not None:
            time.sleep(AGAIN)
            try:
                database = open_database(self._url)
                try:
                    self.database.move_to(database)
                except StoreError:
                    database.close()
                    raise
                self.why = None
            except StoreError as error:
                self.why = str(error)
