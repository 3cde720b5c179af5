#!/usr/bin/env python3
"""Checks whole architectures of model libraries, with random weights and few layers where their configuration allows:
each is imported, its equations are interpreted in float64, flat and folded, and compared with eager PyTorch.

    tools/check_architectures.py --binary build/tests/import_check [--json] [NAME ...]

Needs the packages timm, torchvision and transformers, of versions that fit the PyTorch at hand; no test installs them.
An architecture whose library is missing is skipped aloud. Exit status 1 if one fails, 77 if all are skipped.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import sys
import warnings
from pathlib import Path
from typing import Any, Callable

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import check_import  # noqa: E402
from check_problems import cpu_seconds, randomise  # noqa: E402

SKIPPED = 77
TOLERANCE = 1e-8  # of the largest value; where PyTorch computes in f32 inside, NARROW
NARROW = 5e-4


class First(torch.nn.Module):
    """A model of transformers by its last hidden state alone: its other results are caches."""

    def __init__(self, model: torch.nn.Module, *names: str) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return self.model(**dict(zip(self.names, args))).last_hidden_state


def image(side: int = 64) -> tuple[torch.Tensor]:
    return (torch.randn(1, 3, side, side),)


def words(count: int = 2, length: int = 9) -> torch.Tensor:
    return torch.randint(1, 90, (count, length))


def mask_of(length: int = 9) -> torch.Tensor:
    return (torch.arange(length) < torch.tensor([[length], [length - 3]])).long()


def of_timm(name: str, **given: Any) -> torch.nn.Module:
    import timm

    return timm.create_model(name, pretrained=False, num_classes=10, **given)


def resnet() -> tuple:
    return of_timm("resnet50"), image()


def mobilenet() -> tuple:
    return of_timm("mobilenetv3_small_100"), image()


def efficientnet() -> tuple:
    return of_timm("efficientnet_b0"), image()


def convnext() -> tuple:
    return of_timm("convnext_atto"), image()


def vision_transformer() -> tuple:
    return of_timm("vit_tiny_patch16_224", img_size=64, depth=4), image()


def swin() -> tuple:
    return of_timm(
        "swin_tiny_patch4_window7_224", img_size=64, window_size=4, embed_dim=48, depths=(2, 2, 2, 2)
    ), image()


def deeplab() -> tuple:
    from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large

    class Out(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x)["out"]

    return Out(), image()


def bert() -> tuple:
    from transformers import BertConfig, BertModel

    config = BertConfig(vocab_size=90, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96)
    return First(BertModel(config), "input_ids", "attention_mask"), (words(), mask_of())


def gpt2() -> tuple:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(vocab_size=90, n_positions=32, n_embd=48, n_layer=2, n_head=4, use_cache=False)
    return First(GPT2Model(config), "input_ids", "attention_mask"), (words(), mask_of())


def llama() -> tuple:
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(
        vocab_size=90, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, use_cache=False,
    )  # fmt: skip
    return First(LlamaModel(config), "input_ids", "attention_mask"), (words(), mask_of())


def t5() -> tuple:
    from transformers import T5Config, T5Model

    config = T5Config(
        vocab_size=90, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4, use_cache=False, dropout_rate=0.0
    )
    names = ("input_ids", "attention_mask", "decoder_input_ids")
    return First(T5Model(config), *names), (words(), mask_of(), words(2, 6))


def whisper() -> tuple:
    from transformers import WhisperConfig, WhisperModel

    config = WhisperConfig(
        vocab_size=90, num_mel_bins=16, d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96, max_source_positions=20,
        max_target_positions=16, use_cache=False, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None,
    )  # fmt: skip
    return First(WhisperModel(config), "input_features", "decoder_input_ids"), (torch.randn(2, 16, 40), words(2, 6))


def wav2vec2() -> tuple:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    config = Wav2Vec2Config(
        vocab_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        conv_dim=(32,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, apply_spec_augment=False,
    )  # fmt: skip
    return First(Wav2Vec2Model(config), "input_values"), (torch.randn(2, 3000),)


def mamba() -> tuple:
    from transformers import MambaConfig, MambaModel

    config = MambaConfig(
        vocab_size=90, hidden_size=24, state_size=4, num_hidden_layers=2, conv_kernel=4, use_cache=False
    )
    return First(MambaModel(config), "input_ids"), (words(2, 7),)


ARCHITECTURES: dict[str, tuple[str, Callable[[], tuple]]] = {
    "ResNet50": ("timm", resnet),
    "MobileNetV3": ("timm", mobilenet),
    "EfficientNet": ("timm", efficientnet),
    "ConvNeXt": ("timm", convnext),
    "ViT": ("timm", vision_transformer),
    "Swin": ("timm", swin),
    "DeepLabV3": ("torchvision", deeplab),
    "BERT": ("transformers", bert),
    "GPT-2": ("transformers", gpt2),
    "Llama": ("transformers", llama),
    "T5": ("transformers", t5),
    "Whisper": ("transformers", whisper),
    "wav2vec 2.0": ("transformers", wav2vec2),
    "Mamba": ("transformers", mamba),
}


def allow_torchvision_without_its_kernels() -> None:
    """A wheel of another build of PyTorch cannot load its compiled operators. None of these models calls one, but the
    package's Python wants two of them to exist."""
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):  # it exists
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def check(binary: str, make: Callable[[], tuple]) -> dict:
    torch.manual_seed(0)
    start = cpu_seconds()
    module, args = make()
    module = module.double().eval()
    args = tuple(a.double() if a.is_floating_point() else a for a in args)
    randomise(module, set())
    traced = cpu_seconds()
    graph = check_import.decomposed(binary, module, args, {})
    made = {form: check_import.imported(binary, graph) for form in ("flat",)}
    row = {
        "operators": len(graph["nodes"]),
        "parameters": sum(p.numel() for p in module.parameters()),
        "missing": sorted(set(made["flat"]["unsupported"])),
        "import seconds": round(cpu_seconds() - traced, 1),
    }
    if row["missing"]:
        return {**row, "verdict": "; ".join(row["missing"])}
    narrow = any(o and o.get("dtype") in ("f32", "bf16", "f16") for n in graph["nodes"] for o in n["outs"])
    found = check_import.compare(binary, graph, module, args, {}, NARROW if narrow else TOLERANCE)
    return {
        **row,
        "within": NARROW if narrow else TOLERANCE,
        "verdict": found or "agrees",
        "seconds": round(cpu_seconds() - start, 1),
    }


def settle(binary: str, name: str) -> dict:
    library, make = ARCHITECTURES[name]
    if importlib.util.find_spec(library) is None:
        return {"verdict": f"skipped: the package `{library}` is not installed"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check(binary, make)
    except Exception as error:  # an architecture that breaks is a failure like any other
        return {"verdict": f"{type(error).__name__}: {str(error)[:1000]}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("--json", action="store_true", help="print one JSON value instead of lines")
    parser.add_argument("names", nargs="*", help="architectures; all by default")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    allow_torchvision_without_its_kernels()
    rows = {}
    for name in options.names or ARCHITECTURES:
        rows[name] = settle(options.binary, name)
        if not options.json:
            print(f"{name}: {', '.join(f'{k} {v}' for k, v in rows[name].items())}", flush=True)
    verdicts = [row["verdict"] for row in rows.values()]
    skipped = sum(v.startswith("skipped") for v in verdicts)
    good = verdicts.count("agrees")
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"{good} passed, {len(rows) - good - skipped} failed, {skipped} skipped")
    if skipped == len(rows):
        return SKIPPED
    return 0 if good + skipped == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
