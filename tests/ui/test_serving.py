"""What a server does once, before its first visitor."""

import threading

import streamlit as st

from core.language_models.backends.llama import passes
from core.ui import serving
from tests.loops import in_own_loop


def test_a_server_computes_one_pass_at_a_time(monkeypatch):
    monkeypatch.setattr(passes, "ONE_AT_A_TIME", threading.Event())
    monkeypatch.setattr(st, "get_option", {"server.headless": True}.__getitem__)

    async def served():
        async with serving.lifespan(None):
            return passes.ONE_AT_A_TIME.is_set()

    assert not passes.ONE_AT_A_TIME.is_set()
    assert in_own_loop(served())
