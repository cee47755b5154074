"""Servers with OpenAI's interface that many people have: a new one is one entry here."""

from core.language_models.back_end import Preset

OPENAI = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"  # of every server that has none of its own

PRESETS = (
    Preset(
        "vLLM",
        "http://localhost:8000/v1",
        "Scores given text",
        "Start it with --generation-config vllm: otherwise the model’s own top-k and penalties "
        "change its samples.",
    ),
    Preset(
        "SGLang",
        "http://localhost:30000/v1",
        "Scores given text",
        "Its log-probabilities of sampled answers depend on the temperature unless it runs with "
        "SGLANG_RETURN_ORIGINAL_LOGPROB=1.",
    ),
    Preset(
        "Together",
        "https://api.together.xyz/v1",
        "Log-probabilities of its own answers",
        "Which models give log-probabilities differs.",
    ),
    Preset(
        "Fireworks",
        "https://api.fireworks.ai/inference/v1",
        "Scores given text",
        "Models are named accounts/fireworks/models/NAME.",
    ),
    Preset(
        "OpenAI",
        OPENAI,
        "Log-probabilities of its own answers",
        "Models that reason first give no log-probabilities, and their thoughts are paid for.",
        key=KEY_VARIABLE,
    ),
    Preset(
        "Ollama",
        "http://localhost:11434/v1",
        "Log-probabilities of its own answers",
        "Versions before 0.12.11 give no log-probabilities.",
        short="ollama",
    ),
    Preset(
        "llama.cpp",
        "http://localhost:8080/v1",
        "Scores given text",
        "The server of llama.cpp serves one model, whatever the name. Leave the name empty, so "
        "that another file is another model.",
        short="llamacpp",
        one_model=True,
    ),
    Preset(
        "LM Studio",
        "http://localhost:1234/v1",
        "Chats and continues texts",
        "Not tried; as its makers document it.",
        short="lmstudio",
    ),
    Preset(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "Chats",
        "Not tried; as its makers document it. It passes requests on to services that differ.",
        key="OPENROUTER_API_KEY",
        short="openrouter",
    ),
    Preset(
        "Groq",
        "https://api.groq.com/openai/v1",
        "Chats, without log-probabilities",
        "Not tried; as its makers document it. One answer a request.",
        key="GROQ_API_KEY",
        short="groq",
    ),
    Preset(
        "Mistral",
        "https://api.mistral.ai/v1",
        "Chats",
        "Not tried; as its makers document it.",
        key="MISTRAL_API_KEY",
        short="mistral",
    ),
    Preset(
        "Anthropic",
        "https://api.anthropic.com/v1",
        "Chats, without log-probabilities",
        "Not tried; as its makers document it. One answer a request, at temperatures of at most 1.",
        key="ANTHROPIC_API_KEY",
        short="anthropic",
    ),
)
